"""Each bad declaration of a table: the golden text through every face, and nothing is created, changed or lost.

COLOCATE_REGENERATE=1 ./run test tests/spark/catalog/test_bad_input_tables.py writes the golden files anew.
"""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.bad_input import DATABASE, FACES, FORMATS, PARENTS, Declared, World, message
from tests.spark.golden import GOLDENS, assert_golden

GOLDEN = GOLDENS
SQL_ONLY = ("CREATE TABLE",)
REFUSED_TYPES = {
    "float": "FLOAT",
    "double": "DOUBLE",
    "array": "ARRAY<INT>",
    "map": "MAP<INT, INT>",
    "struct": "STRUCT<a: INT>",
    "variant": "VARIANT",
    "year_month_interval": "INTERVAL YEAR TO MONTH",
    "day_time_interval": "INTERVAL DAY TO SECOND",
    "collated": "STRING COLLATE UNICODE_CI",
}

CASES: dict[str, Declared] = {
    "bucket_count_differs": Declared(buckets=8),
    "key_type_differs": Declared("k BIGINT, v STRING"),
    "key_order_differs": Declared(keys=("v", "k"), group="two"),
    "number_of_keys_differs": Declared(group="two"),
    "replication_differs": Declared(properties={"replication_num": "2"}),
    "replication_is_no_number": Declared(properties={"replication_num": "two"}),
    "replication_is_zero": Declared(properties={"replication_num": "0"}),
    "key_is_absent": Declared(keys=("nowhere",)),
    "zero_buckets": Declared(buckets=0),
    "negative_buckets": Declared(buckets=-1),
    "not_clustered": Declared(keys=()),
    "user_column_takes_our_name": Declared("k INT, _colocate_bucket INT"),
    "user_column_takes_our_name_in_capitals": Declared("k INT, _COLOCATE_BUCKET INT"),
    "group_name_is_no_name": Declared(group="a.b"),
    "format_csv": Declared(formats=("csv",)),
    "format_json": Declared(formats=("json",)),
    "format_text": Declared("k STRING", formats=("text",)),
    "key_is_identity": Declared("k BIGINT GENERATED ALWAYS AS IDENTITY, v STRING", faces=SQL_ONLY, formats=("delta",)),
    "key_is_generated": Declared("v STRING, k INT GENERATED ALWAYS AS (length(v))", faces=SQL_ONLY, formats=("delta",)),
    "key_type_char": Declared("k CHAR(3), v STRING", faces=SQL_ONLY),
    "liquid_clustering": Declared(clause="CLUSTER BY (k)", faces=("CREATE TABLE", "CREATE TABLE AS SELECT")),
    **{f"key_type_{name}": Declared(f"k {kind}, v STRING") for name, kind in REFUSED_TYPES.items()},
}


@pytest.fixture(scope="module")
def bad(spark: SparkSession) -> Iterator[SparkSession]:
    """A database with two groups: g, an INT into 4 buckets, and two, (INT, STRING) into 4 buckets."""
    spark.sql(f"CREATE DATABASE {DATABASE}")
    for parent in PARENTS:
        spark.sql(parent)
    yield spark
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


@pytest.fixture(autouse=True)
def _no_table_stays(bad: SparkSession) -> Iterator[None]:
    """A table that should not have been made must not make the next test fail."""
    yield
    bad.sql(f"DROP TABLE IF EXISTS {DATABASE}.t")


@pytest.mark.parametrize(("name", "format"), [(n, f) for n, d in CASES.items() for f in d.formats])
def test_bad_input_gets_its_golden_message_and_leaves_everything_as_it_was(
    bad: SparkSession, name: str, format: str
) -> None:
    declared = CASES[name]
    before = World.of(bad)
    told: dict[str, list[str]] = {}
    for face in filter(declared.told_by, FACES):
        told.setdefault(message(lambda face=face: declared.tell(bad, face, format)), []).append(face)
        assert World.of(bad) == before, face
    assert "no error" not in told
    text = "\n".join(f"{', '.join(faces)}:\n    {error}" for error, faces in told.items())
    assert_golden(text, GOLDEN / f"bad_input_{name}_{format}.txt")


@pytest.mark.parametrize("format", FORMATS)
def test_a_query_that_fails_after_the_group_was_reserved_leaves_no_group(bad: SparkSession, format: str) -> None:
    before = World.of(bad)
    rows = bad.range(10).selectExpr("CAST(id AS INT) AS k", "raise_error('the query fails') AS v")
    rows.createOrReplaceTempView("failing")
    new_group = Declared("k INT, v STRING", group="never")
    query = new_group.sql(format, "SELECT k, CAST(v AS STRING) AS v FROM failing")
    for face, statement in {
        "sql": lambda: bad.sql(query),
        "saveAsTable": lambda: (
            rows.selectExpr("k", "CAST(v AS STRING) AS v")
            .write.format(format)
            .bucketBy(4, "k")
            .option("colocate_with", "never")
            .saveAsTable(f"{DATABASE}.t")
        ),
    }.items():
        assert "the query fails" in message(statement), face
        assert World.of(bad) == before, face


@pytest.mark.parametrize("format", FORMATS)
def test_a_table_that_does_not_fit_joins_no_group_and_is_told_how_to(bad: SparkSession, format: str) -> None:
    bad.sql(f"CREATE TABLE {DATABASE}.other (k INT) USING {format} CLUSTERED BY (k) INTO 8 BUCKETS")
    before = World.of(bad)
    join = f"ALTER TABLE {DATABASE}.other SET TBLPROPERTIES ('colocate_with'='g')"
    assert_golden(message(lambda: bad.sql(join)), GOLDEN / f"bad_input_join_{format}.txt")
    assert World.of(bad) == before
    bad.sql(f"DROP TABLE {DATABASE}.other")


def test_an_overwrite_that_does_not_fit_keeps_the_old_table(bad: SparkSession) -> None:
    bad.sql(f"INSERT INTO {DATABASE}.parent VALUES (1, 'a')")
    before = World.of(bad)
    rows = bad.createDataFrame([(2, "b")], "k INT, v STRING")
    writer = rows.write.format("parquet").mode("overwrite").bucketBy(8, "k").option("colocate_with", "two")
    assert "Cannot colocate" in message(lambda: writer.saveAsTable(f"{DATABASE}.parent"))
    assert World.of(bad) == before
    assert bad.table(f"{DATABASE}.parent").collect() == [(1, "a")]


def test_a_hive_table_is_refused_as_a_member(bad: SparkSession) -> None:
    before = World.of(bad)
    hive = f"CREATE TABLE {DATABASE}.t (k INT) STORED AS PARQUET TBLPROPERTIES ('colocate_with'='g')"
    assert_golden(message(lambda: bad.sql(hive)), GOLDEN / "bad_input_format_hive.txt")
    assert World.of(bad) == before
