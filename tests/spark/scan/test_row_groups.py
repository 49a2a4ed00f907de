"""Size of row groups in a bucketed Delta table: where several tasks share out a hot bucket's file."""

from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

KEY = "parquet.block.size"
SETTING = "spark.colocate.write.rowGroupBytes"
BUCKETS = "CLUSTERED BY (id) INTO 2 BUCKETS"
ROWS = "SELECT id, xxhash64(id) v, xxhash64(-id) w FROM range(60000)"


def size(spark: SparkSession, table: str) -> str | None:
    return dict(spark.sql(f"SHOW TBLPROPERTIES {table}").collect()).get(KEY)


def row_groups(spark: SparkSession, table: str) -> list[int]:
    """Of each file."""
    files = spark.table(table).inputFiles()
    return [pq.ParquetFile(unquote(urlparse(file).path)).num_row_groups for file in files]


@pytest.mark.each_value
@pytest.mark.parametrize("group", ["", "TBLPROPERTIES ('colocate_with' = 'g')"], ids=["no group", "group"])
@pytest.mark.parametrize("verb", ["CREATE TABLE", "CREATE OR REPLACE TABLE"])
def test_a_table_with_buckets_has_row_groups_of_a_quarter(spark: SparkSession, db: str, verb: str, group: str) -> None:
    spark.sql(f"{verb} made (id BIGINT, v BIGINT, w BIGINT) USING delta {BUCKETS} {group}")
    spark.sql(f"{verb} filled USING delta {BUCKETS} {group} AS {ROWS}")
    assert size(spark, "made") == size(spark, "filled") == str(32 << 20)


def test_every_writer_keeps_to_it(spark: SparkSession, db: str) -> None:
    spark.conf.set(SETTING, "65536")
    spark.sql(f"CREATE TABLE t USING delta {BUCKETS} AS {ROWS}")
    assert min(row_groups(spark, "t")) > 2
    spark.conf.unset(SETTING)
    spark.sql(f"INSERT OVERWRITE t {ROWS}")
    assert min(row_groups(spark, "t")) > 2
    spark.sql(f"MERGE INTO t USING ({ROWS}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = t.v + 1")
    assert min(row_groups(spark, "t")) > 2


def test_what_the_statement_or_the_session_says_counts(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE own USING delta {BUCKETS} TBLPROPERTIES ('{KEY}' = '65536') AS {ROWS}")
    assert size(spark, "own") == "65536"
    spark.conf.set(SETTING, "0")
    spark.sql(f"CREATE TABLE none USING delta {BUCKETS} AS {ROWS}")
    spark.conf.unset(SETTING)
    spark.conf.set(KEY, "65536")
    spark.sql(f"CREATE TABLE of_session USING delta {BUCKETS} AS {ROWS}")
    assert size(spark, "none") is size(spark, "of_session") is None
    assert max(row_groups(spark, "none")) == 1
    assert min(row_groups(spark, "of_session")) > 2


def test_a_plain_table_is_left_alone(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE plain (id BIGINT, d INT) USING delta PARTITIONED BY (d)")
    assert size(spark, "plain") is None


@pytest.mark.parametrize("changed", ["32768", "0"])
def test_files_of_a_table_are_taken_as_they_are_whatever_the_setting_is_by_now(
    spark: SparkSession, db: str, tmp_path: Path, changed: str
) -> None:
    place, group = f"LOCATION '{tmp_path}'", "TBLPROPERTIES ('colocate_with' = 'g')"
    create = f"(id BIGINT, v BIGINT) USING delta {BUCKETS} {place}"
    spark.conf.set(SETTING, "65536")
    spark.sql(f"CREATE TABLE t {create} {group}")
    spark.sql("DROP TABLE t")
    spark.conf.set(SETTING, changed)
    for properties in (group, ""):
        spark.sql(f"CREATE TABLE t {create} {properties}")
        assert size(spark, "t") == "65536"
        spark.sql("DROP TABLE t")


def test_files_of_an_older_table_are_taken_too(spark: SparkSession, db: str, tmp_path: Path) -> None:
    create = f"CREATE TABLE t (id BIGINT) USING delta {BUCKETS} LOCATION '{tmp_path}'"
    spark.conf.set(SETTING, "0")
    spark.sql(create + " TBLPROPERTIES ('colocate_with' = 'g')")
    spark.sql("DROP TABLE t")
    spark.conf.unset(SETTING)
    for properties in ("", " TBLPROPERTIES ('colocate_with' = 'g')"):
        spark.sql(create + properties)
        assert size(spark, "t") is None
        spark.sql("DROP TABLE t")


def test_an_overwrite_keeps_it(spark: SparkSession, db: str) -> None:
    spark.conf.set(SETTING, "65536")
    spark.sql(f"CREATE TABLE t USING delta {BUCKETS} AS {ROWS}")
    spark.sql(ROWS).write.format("delta").mode("overwrite").saveAsTable("t")
    assert size(spark, "t") == "65536"
    assert min(row_groups(spark, "t")) > 2
