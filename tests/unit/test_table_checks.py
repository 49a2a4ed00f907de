"""The checks of a declaration, and what counts as the same key type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spark_colocate.checks import matching, table_checks
from spark_colocate.errors import ColocateError
from spark_colocate.model import Column, GroupName, GroupSchema, Intent, Kind, TableName

TABLE = TableName("db", "a")
PLAIN = ["boolean", "tinyint", "smallint", "int", "bigint", "binary", "date", "timestamp", "timestamp_ntz"]
REFUSED = [
    "float", "double", "char(1)", "interval", "interval year to month", "interval day to second", "variant", "time(6)",
    "array<int>", "map<int,int>", "struct<a:int>", "string collate UNICODE", "string collate UTF8_BINARY_RTRIM",
    "varchar(3) collate UTF8_LCASE", "void", "geometry(4326)", "geography(any)",
]  # fmt: skip

key_types = st.one_of(
    st.sampled_from([*PLAIN, "string"]),
    st.integers(1, 65535).map(lambda n: f"varchar({n})"),
    st.tuples(st.integers(1, 38), st.integers(0, 38)).map(lambda d: f"decimal({d[0]},{min(d)})"),
)
schemas = st.builds(
    GroupSchema,
    key_types=st.lists(key_types.map(table_checks.normalise), min_size=1, max_size=4).map(tuple),
    buckets=st.integers(1, 64),
    replication=st.integers(1, 3),
)


@pytest.mark.parametrize(
    "kind", [*PLAIN, "string", "varchar(7)", "decimal(10,2)", "STRING", "string collate UTF8_BINARY"]
)
def test_types_with_one_binary_form_can_be_keys(kind: str) -> None:
    assert table_checks.refused_type(TABLE, Column("k", kind)) is None


@pytest.mark.parametrize("kind", REFUSED)
def test_every_other_type_is_refused_with_its_name(kind: str) -> None:
    error = table_checks.refused_type(TABLE, Column("k", kind))
    assert error is not None
    assert error.code == "KEY_TYPE_REFUSED"
    assert kind.upper() in str(error)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("string", "varchar(10)", True),
        ("varchar(10)", "varchar(20)", True),
        ("decimal(10,2)", "decimal(10, 2)", True),
        ("decimal(10,2)", "decimal(12,2)", False),
        ("decimal(10,2)", "decimal(10,3)", False),
        ("timestamp", "timestamp_ntz", False),
        ("int", "bigint", False),
        ("string", "binary", False),
        ("string", "string collate UTF8_LCASE", False),
    ],
)
def test_varchar_of_any_length_is_string_and_every_other_difference_counts(left: str, right: str, same: bool) -> None:
    assert (table_checks.normalise(left) == table_checks.normalise(right)) is same


@given(key_types)
def test_normalising_twice_changes_nothing(kind: str) -> None:
    assert table_checks.normalise(table_checks.normalise(kind)) == table_checks.normalise(kind)


@given(schemas, schemas)
def test_two_schemas_fit_exactly_when_they_are_equal(wanted: GroupSchema, held: GroupSchema) -> None:
    intent = Intent(Kind.CREATE, TABLE)
    error = matching.differs(intent, wanted, GroupName("db", "g"), held)
    assert (error is None) == (wanted == held)
    assert matching.differs(intent, held, GroupName("db", "g"), held) is None


@given(schemas, schemas)
def test_an_error_names_both_sides(wanted: GroupSchema, held: GroupSchema) -> None:
    error = matching.differs(Intent(Kind.CREATE, TABLE), wanted, GroupName("db", "g"), held)
    if error:
        assert error.headline.startswith("Cannot colocate db.a with group db.g: ")
        assert "(table: " in error.headline
        assert "group: " in error.headline
        assert error.cure.endswith("or choose another group.")


@given(st.integers())
def test_bucket_counts_between_1_and_sparks_limit_are_taken(buckets: int) -> None:
    assert (table_checks.bucket_count(TABLE, buckets) is None) == (1 <= buckets <= 100_000)


@pytest.mark.parametrize("text", ["g", "_g", "Group-1", "a" * 128, "__global__g", "__global___g"])
def test_group_names(text: str) -> None:
    name = table_checks.group_name(text, "db")
    assert isinstance(name, GroupName)
    assert name.is_global == text.startswith("__global__")
    assert str(name) == (text if name.is_global else f"db.{text}")


@given(st.text(max_size=12).filter(lambda t: not t.replace("_", "").replace("-", "").isalnum() or not t.isascii()))
def test_names_with_other_characters_are_refused(text: str) -> None:
    refused = table_checks.group_name(text, "db")
    assert isinstance(refused, ColocateError) or set(text) <= set("_-")


@pytest.mark.parametrize("text", ["", "__global__", "1g", "-g", "a b", "a.b", "a" * 129, "g;drop", "ü"])
def test_names_that_would_confuse_are_refused(text: str) -> None:
    assert isinstance(table_checks.group_name(text, "db"), ColocateError)


@pytest.mark.parametrize("name", ["delta", "DELTA", "Parquet", "orc"])
def test_provable_formats_are_taken_in_any_case(name: str) -> None:
    assert table_checks.table_format(TABLE, name) is None


@pytest.mark.parametrize("name", ["csv", "json", "text", "avro", "iceberg", "hive", ""])
def test_other_formats_are_refused(name: str) -> None:
    assert table_checks.table_format(TABLE, name) is not None


def test_keys_are_found_as_spark_finds_them() -> None:
    assert table_checks.layout(TABLE, "delta", ["ID"], 4, [Column("id", "int")]) is None
