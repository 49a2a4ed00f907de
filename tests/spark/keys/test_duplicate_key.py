"""DUPLICATE KEY keeps all rows, and each file has them in the order of the key columns."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from tests.spark.members import folder
from tests.spark.plans import rows_read

INTERPRETED = True

BUCKETS = "DISTRIBUTED BY HASH(k) BUCKETS 4"
COLUMNS = "k BIGINT, s STRING, v INT"
KEYED = f"({COLUMNS}) DUPLICATE KEY(k, s) {BUCKETS}"
ROWS = (
    "SELECT CAST(hash(id) % 7000 AS BIGINT) AS k, concat('s', hash(-id) % 10) AS s, CAST(id AS INT) AS v "
    "FROM range({n})"
)
FEW, MANY = ROWS.format(n=1000), ROWS.format(n=40000)
SMALL_GROUPS = "PROPERTIES ('parquet.block.size' = '65536', 'parquet.page.size' = '16384')"


def files(spark: SparkSession, table: str = "t") -> list[Path]:
    return sorted(folder(spark, table).rglob("*.parquet"))


def is_sorted(file: Path, *columns: str) -> bool:
    table = pyarrow.parquet.ParquetFile(file).read(columns=list(columns))
    rows = list(zip(*[table.column(name).to_pylist() for name in columns], strict=True))
    # NULL comes first, as in Spark.
    keys = [[(value is not None, value) for value in row] for row in rows]
    return all(a <= b for a, b in pairwise(keys))


WRITERS: dict[str, Callable[[SparkSession, str], object]] = {
    "insert": lambda spark, rows: spark.sql(f"INSERT INTO t {rows}"),
    "by name": lambda spark, rows: spark.sql(f"INSERT INTO t (v, s, k) SELECT v, s, k FROM ({rows})"),
    "ordered": lambda spark, rows: spark.sql(f"INSERT OVERWRITE t {rows} ORDER BY v DESC"),
    "writer": lambda spark, rows: spark.sql(rows).write.format("delta").mode("append").saveAsTable("t"),
    "path": lambda spark, rows: spark.sql(rows).write.format("delta").mode("append").save(str(folder(spark, "t"))),
}


@pytest.mark.parametrize("rows", [FEW, MANY], ids=["few", "many"])
def test_the_rows_of_each_file_are_in_the_order_of_the_key(spark: SparkSession, db: str, rows: str) -> None:
    spark.sql(f"CREATE TABLE t {KEYED}")
    for number, (name, write) in enumerate(WRITERS.items(), start=1):
        write(spark, rows)
        written = files(spark)
        assert len(written) == 4 * number, name
        assert all(is_sorted(file, "k", "s") for file in written), name
    spark.sql("CREATE TABLE raw USING parquet AS SELECT * FROM t")
    assert not all(is_sorted(file, "k", "s") for file in files(spark, "raw"))  # a table without the key


def test_a_table_made_of_a_query_is_sorted(spark: SparkSession, db: str) -> None:
    properties = "TBLPROPERTIES ('key_model' = 'duplicate', 'key_columns' = 's, k')"
    spark.sql(f"CREATE TABLE t USING delta CLUSTERED BY (k) INTO 4 BUCKETS {properties} AS {MANY}")
    assert len(files(spark)) == 4
    assert all(is_sorted(file, "s", "k") for file in files(spark))


@pytest.mark.parametrize("rows", [FEW, MANY], ids=["few", "many"])
def test_a_partitioned_table_has_one_sorted_file_for_each_bucket_and_partition(
    spark: SparkSession, db: str, rows: str
) -> None:
    bounds = "PARTITION p VALUES LESS THAN ('-1000'), PARTITION q VALUES LESS THAN ('9000')"
    spark.sql(f"CREATE TABLE t ({COLUMNS}) DUPLICATE KEY(k, s) PARTITION BY RANGE(k) ({bounds}) {BUCKETS}")
    spark.sql(f"INSERT INTO t {rows}")
    properties = "TBLPROPERTIES ('key_model' = 'duplicate', 'key_columns' = 'k, v')"
    spark.sql(f"CREATE TABLE u ({COLUMNS}) USING delta PARTITIONED BY (s) CLUSTERED BY (k) INTO 4 BUCKETS {properties}")
    spark.sql(f"INSERT INTO u {rows}")
    assert len(files(spark, "t")) == 2 * 4
    assert all(is_sorted(file, "k", "s") for file in files(spark, "t"))
    partitions = spark.sql("SELECT DISTINCT s FROM u").count()
    assert len(files(spark, "u")) == partitions * 4
    assert all(is_sorted(file, "k", "v") for file in files(spark, "u"))


def test_a_large_bucket_is_written_by_several_tasks_that_sort(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.colocate.write.targetFileBytes", "10000")
    spark.sql(f"CREATE TABLE t {KEYED}")
    spark.sql(f"INSERT INTO t {MANY.replace('range(40000)', 'range(0, 40000, 1, 6)')}")
    assert len(files(spark)) > 4
    assert all(is_sorted(file, "k", "s") for file in files(spark))


def test_a_query_on_the_key_reads_fewer_row_groups(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {KEYED} {SMALL_GROUPS}")
    spark.sql(f"CREATE TABLE raw ({COLUMNS}) {BUCKETS} {SMALL_GROUPS}")
    for table in ("t", "raw"):
        spark.sql(f"INSERT INTO {table} {MANY}")
    query = "SELECT * FROM {} WHERE k BETWEEN 100 AND 200"
    assert spark.sql(query.format("t")).count() == spark.sql(query.format("raw")).count() > 0
    assert rows_read(spark, query.format("t")) * 4 < rows_read(spark, query.format("raw"))


def test_a_key_that_is_gone_is_left_out_of_the_order(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {KEYED} PROPERTIES ('delta.columnMapping.mode' = 'name')")
    spark.sql("ALTER TABLE t DROP COLUMN s")
    spark.sql("INSERT INTO t VALUES (2, 1), (1, 2), (NULL, 3)")
    assert sorted(spark.sql("SELECT k, v FROM t").collect(), key=str) == [(1, 2), (2, 1), (None, 3)]


def test_later_loads_have_the_order_that_the_property_names(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {KEYED}")
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('key_columns' = 'v')")
    spark.sql(f"INSERT INTO t {MANY} ORDER BY rand(1)")
    assert all(is_sorted(file, "v") for file in files(spark))
    assert not any(is_sorted(file, "k") for file in files(spark))
