"""A dynamic partition overwrite of a member leaves what it leaves of a plain Delta table, whatever the values."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tests.spark.members import folder
from tests.spark.oracle import assert_no_exchange, multiset
from tests.tiers.params import rest_slow

INTERPRETED = True

CLUSTERED = "CLUSTERED BY (id) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
MODE = "partitionOverwriteMode"

# By the type of the partition column: three values; the second and the third are written again.
VALUES = {
    "STRING": ("'a'", "''", "NULL"),
    "CHAR(4)": ("'a'", "'ab'", "'cd  '"),
    "VARCHAR(20)": ("'a'", r"'it\'s a \\ \n%'", "''"),
    "BINARY": ("X'61'", "X'6227'", "NULL"),
    "BOOLEAN": ("true", "false", "NULL"),
    "TINYINT": ("1", "-128", "NULL"),
    "BIGINT": ("1", "-9223372036854775808", "NULL"),
    "DECIMAL(20, 4)": ("1", "-0.5000", "1234567890123456.7891"),
    "DOUBLE": ("1", "1.5e300", "double('-Infinity')"),
    "DATE": ("DATE'2024-01-01'", "DATE'1582-10-10'", "DATE'0001-01-01'"),
    "TIMESTAMP": ("TIMESTAMP'2024-01-01'", "TIMESTAMP'2023-10-29 02:30:00.123456'", "TIMESTAMP'1883-11-18 12:03:57'"),
    "TIMESTAMP_NTZ": ("TIMESTAMP_NTZ'2024-01-01'", "TIMESTAMP_NTZ'1969-12-31 23:59:59.5'", "NULL"),
}


def insert_by_sql(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.createOrReplaceTempView("new_rows")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    spark.sql(f"INSERT OVERWRITE {table} BY NAME SELECT * FROM new_rows")


def overwrite_partitions(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.writeTo(table).overwritePartitions()


def save_as_table(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.write.format("delta").mode("overwrite").option(MODE, "dynamic").saveAsTable(table)


def save_path(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.write.format("delta").mode("overwrite").option(MODE, "dynamic").save(str(folder(spark, table)))


def save_relative_path(spark: SparkSession, rows: DataFrame, table: str) -> None:
    path = os.path.relpath(folder(spark, table), Path.cwd())
    rows.write.format("delta").mode("overwrite").option(MODE, "dynamic").save(path)


def append_path(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.write.format("delta").mode("append").save(str(folder(spark, table)))


def overwrite_table(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.write.format("delta").mode("overwrite").saveAsTable(table)


def replace_where(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.write.format("delta").mode("overwrite").option("replaceWhere", "p = 1").saveAsTable(table)


Writer = Callable[[SparkSession, DataFrame, str], None]
WRITERS = [insert_by_sql, overwrite_partitions, save_as_table, save_path, save_relative_path]
every_writer = pytest.mark.parametrize("write", WRITERS, ids=lambda w: w.__name__)


def _create(spark: SparkSession, columns: str, partitions: str = "p") -> None:
    spark.sql(f"CREATE TABLE plain (id BIGINT, {columns}) USING delta PARTITIONED BY ({partitions})")
    spark.sql(f"CREATE TABLE member (id BIGINT, {columns}) USING delta PARTITIONED BY ({partitions}) {CLUSTERED}")


def _assert_same(spark: SparkSession, write: Writer, rows: DataFrame) -> None:
    """Both tables are written in the same way: with equal errors, or none, and equal rows."""
    assert _outcome(spark, write, rows, "plain") == _outcome(spark, write, rows, "member")
    plain, member = (multiset(spark.table(name).collect()) for name in ("plain", "member"))
    assert member == plain
    assert plain


def _outcome(spark: SparkSession, write: Writer, rows: DataFrame, table: str) -> str | None:
    try:
        write(spark, rows, table)
    except PySparkException as error:
        return error.getCondition()
    return None


@pytest.mark.parametrize("kind", rest_slow(VALUES, "STRING", "BINARY", "DECIMAL(20, 4)", "DATE", "TIMESTAMP"))
@pytest.mark.every(3)
def test_values_of_each_type(spark: SparkSession, db: str, kind: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    first, second, third = VALUES[kind]
    _create(spark, f"p {kind}")
    for table in ("plain", "member"):
        spark.sql(f"INSERT INTO {table} SELECT id, {first} FROM range(20)")
        spark.sql(f"INSERT INTO {table} SELECT id, {second} FROM range(20, 40)")
        spark.sql(f"INSERT INTO {table} SELECT id, {third} FROM range(40, 60)")
    rows = spark.sql(f"SELECT 100L AS id, CAST({second} AS {kind}) AS p UNION ALL SELECT 101L, CAST({third} AS {kind})")
    _assert_same(spark, save_path if kind == "CHAR(4)" else insert_by_sql, rows)
    assert spark.table("member").count() == 22


@every_writer
@pytest.mark.every(2)
def test_several_columns_with_nulls(spark: SparkSession, db: str, write: Writer) -> None:
    _create(spark, "p STRING, `q.r` INT", "p, `q.r`")
    for table in ("plain", "member"):
        spark.sql(
            f"INSERT INTO {table} SELECT id, nullif(concat('p', id % 3), 'p2'), nullif(cast(id % 2 AS INT), 1) "
            "FROM range(60)"
        )
    _assert_same(spark, write, spark.sql("SELECT * FROM VALUES (100L, NULL, 0), (101L, 'p0', NULL) AS v(id, p, `q.r`)"))
    assert spark.table("member").count() == 42


@pytest.mark.parametrize("write", [overwrite_partitions, save_as_table, save_path], ids=lambda w: w.__name__)
def test_a_generated_partition_column_may_be_left_out(spark: SparkSession, db: str, write: Writer) -> None:
    _create(spark, "d TIMESTAMP, y INT GENERATED ALWAYS AS (year(d))", "y")
    for table in ("plain", "member"):
        spark.sql(f"INSERT INTO {table} (id, d) SELECT id, make_timestamp(2020 + id % 3, 1, 1, 0, 0, 0) FROM range(60)")
    _assert_same(spark, write, spark.sql("SELECT 100L AS id, TIMESTAMP'2021-06-01' AS d"))
    assert spark.table("member").count() == 41


@pytest.mark.parametrize("write", [save_as_table, save_path], ids=lambda w: w.__name__)
def test_another_partition_column_is_missed(spark: SparkSession, db: str, write: Writer) -> None:
    _create(spark, "p STRING, v INT")
    for table in ("plain", "member"):
        spark.sql(f"INSERT INTO {table} VALUES (1, 'a', 1), (2, NULL, 2)")
    _assert_same(spark, write, spark.sql("SELECT 100L AS id, 5 AS v"))


@every_writer
@pytest.mark.every(2)
def test_where_delta_has_the_mode_switched_off(spark: SparkSession, db: str, write: Writer) -> None:
    spark.conf.set("spark.databricks.delta.dynamicPartitionOverwrite.enabled", "false")
    _create(spark, "p STRING")
    for table in ("plain", "member"):
        spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    _assert_same(spark, write, spark.sql("SELECT 100L AS id, 'a' AS p"))


def _in_another_bucket(spark: SparkSession) -> int:
    return spark.sql("SELECT * FROM member WHERE _colocate_bucket <> pmod(hash(id), 4)").count()


@pytest.mark.parametrize("write", [append_path, overwrite_table], ids=lambda w: w.__name__)
def test_without_the_key_or_with_another_type_of_it(spark: SparkSession, db: str, write: Writer) -> None:
    spark.sql("CREATE TABLE plain (id INT, v INT) USING delta")
    spark.sql(f"CREATE TABLE member (id INT, v INT) USING delta {CLUSTERED}")
    rows = ["SELECT 5 AS v", "SELECT 1Y AS id, 6 AS v", "SELECT 2S AS ID, 7 AS v", "SELECT NULL AS id, 9 AS v"]
    for row in rows:
        _assert_same(spark, write, spark.sql(row))
        assert _in_another_bucket(spark) == 0


@pytest.mark.parametrize("write", [append_path, save_path, save_as_table, replace_where], ids=lambda w: w.__name__)
def test_a_key_that_is_left_to_its_default(spark: SparkSession, db: str, write: Writer) -> None:
    columns = "(id INT DEFAULT 5, p INT, v INT) USING delta PARTITIONED BY (p)"
    defaults = "'delta.feature.allowColumnDefaults' = 'supported'"
    spark.sql(f"CREATE TABLE plain {columns} TBLPROPERTIES ({defaults})")
    spark.sql(f"CREATE TABLE member {columns} {CLUSTERED[:-1]}, {defaults})")
    for row in ("SELECT 1 AS p, 8 AS v", "SELECT 6S AS id, 1 AS p, 9 AS v", "SELECT NULL AS id, 2 AS p, 9 AS v"):
        _assert_same(spark, write, spark.sql(f"{row} FROM range(2)"))
    spark.sql("INSERT INTO member (p, v) VALUES (3, 3)")
    assert _in_another_bucket(spark) == 0
    assert_no_exchange(spark, "SELECT a.id, a.v, b.v FROM member a FULL JOIN member b ON a.id = b.id")


@pytest.mark.each_value
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "fresh"])
@pytest.mark.parametrize("write", [overwrite_partitions, save_as_table, save_path], ids=lambda w: w.__name__)
def test_what_the_user_has_cached_stays_cached_and_nothing_else(
    spark: SparkSession, db: str, write: Writer, cached: bool
) -> None:
    spark.sql(f"CREATE TABLE member (id BIGINT, v STRING, p STRING) USING delta PARTITIONED BY (p) {CLUSTERED}")
    rows = spark.sql("SELECT id, uuid() AS v, concat('p', id % 2) AS p FROM range(6)")
    before = multiset(rows.cache().collect()) if cached else None
    cache = spark._jsparkSession.sharedState().cacheManager()
    stored = spark.sparkContext._jsc.sc().getPersistentRDDs
    held = cache.numCachedEntries(), stored().size()
    write(spark, rows, "member")
    assert (cache.numCachedEntries(), stored().size()) == held
    if cached:
        assert multiset(rows.collect()) == before
        rows.unpersist()
