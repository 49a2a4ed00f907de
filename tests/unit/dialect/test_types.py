"""Every type of conf/doris_types.json, and the values that a default of a type may have."""

import pytest
from spark_colocate.dialect import translate, types
from spark_colocate.errors import Code, DialectError

NESTED = {"ARRAY": ("ARRAY<INT(11)>", "ARRAY<INT>"), "MAP": ("MAP<STRING, DATETIME>", "MAP<STRING, TIMESTAMP_NTZ>")}
WRITTEN = {
    **NESTED,
    "STRUCT": ("STRUCT<a: LARGEINT, `b c`: TEXT>", "STRUCT<`a`: DECIMAL(38,0), `b c`: STRING>"),
    "CHAR": ("CHAR(3)", "VARCHAR(3)"),
}


def _column(kind: str) -> str:
    done = translate(f"CREATE TABLE t (k INT, v {kind}) DISTRIBUTED BY HASH(k) BUCKETS 4")
    assert done is not None
    found = done.statement.split("`v` ", 1)[1].rsplit(") USING", 1)[0]
    return found


@pytest.mark.parametrize("name", types.table())
def test_a_type_is_what_the_table_of_types_says(name: str) -> None:
    entry = types.table()[name]
    if not entry.spark:
        with pytest.raises(DialectError, match=f"the type {name} is refused") as refused:
            _column(name)
        assert refused.value.code == Code.DORIS_UNSUPPORTED
    elif entry.arguments == "precision":
        assert _column(f"{name}(10, 2)") == "DECIMAL(10,2)"
        assert _column(f"{name}(10)") == "DECIMAL(10,0)"
    elif name in WRITTEN:
        written, spark = WRITTEN[name]
        assert _column(written) == spark
    else:
        assert _column(name.lower()) == (entry.without or entry.spark)
        if entry.arguments == "width":
            assert _column(f"{name}(11)") == entry.spark


@pytest.mark.parametrize(
    ("kind", "value", "spark"),
    [
        ("TINYINT", "-128", "-128"),
        ("BIGINT", "9223372036854775807", "9223372036854775807"),
        ("LARGEINT", "9" * 38, f"CAST('{'9' * 38}' AS DECIMAL(38,0))"),
        ("DECIMAL(2,2)", "0", "CAST('0' AS DECIMAL(2,2))"),
        ("DECIMAL(3,2)", "-9.99", "CAST('-9.99' AS DECIMAL(3,2))"),
        ("DOUBLE", "1e3", "CAST('1e3' AS DOUBLE)"),
        ("BOOLEAN", "1", "true"),
        ("DATE", "2017-1-1", "DATE'2017-01-01'"),
        ("DATETIME", "2017-01-01", "TIMESTAMP_NTZ'2017-01-01 00:00:00'"),
        ("DATETIME(3)", "2017-01-01 10:00:00.5", "TIMESTAMP_NTZ'2017-01-01 10:00:00.500000'"),
        ("STRING", " a\\nb ", "' a\\\\nb '"),
    ],
)
def test_a_default_is_a_literal_of_its_type(kind: str, value: str, spark: str) -> None:
    assert types.literal(value, _type(kind)) == spark


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("INT", "1_000"), ("INT", "1.5"), ("INT", "2147483648"), ("INT", ""), ("TINYINT", "-129"),
        ("LARGEINT", "1" + "0" * 38), ("DECIMAL(3,2)", "10"), ("DECIMAL(3,2)", "0.001"), ("DECIMAL(3,2)", "NaN"),
        ("DOUBLE", "1_0"), ("BOOLEAN", "yes"), ("DATE", "2017-02-29"), ("DATE", "today"), ("DATETIME", "10:00"),
        ("DATETIME", "2017-01-01 00:00:00+01:00"), ("CHAR(2)", "abc"), ("ARRAY<INT>", "[]"),
    ],
)  # fmt: skip
def test_what_is_no_value_of_the_type_is_no_default(kind: str, value: str) -> None:
    assert types.literal(value, _type(kind)) is None


def _type(kind: str) -> types.ColumnType:
    return types.column_type(types.Cursor(kind))
