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


@pytest.fixture
def session(spark: SparkSession, db: str) -> SparkSession:
    other = spark.newSession()
    other.sql(f"USE {db}")
    return other


def size(spark: SparkSession, table: str) -> str | None:
    return dict(spark.sql(f"SHOW TBLPROPERTIES {table}").collect()).get(KEY)


def row_groups(spark: SparkSession, table: str) -> list[int]:
    """Of each file."""
    files = spark.table(table).inputFiles()
    return [pq.ParquetFile(unquote(urlparse(file).path)).num_row_groups for file in files]


@pytest.mark.parametrize("group", ["", "TBLPROPERTIES ('colocate_with' = 'g')"], ids=["no group", "group"])
@pytest.mark.parametrize("verb", ["CREATE TABLE", "CREATE OR REPLACE TABLE"])
def test_a_table_with_buckets_has_row_groups_of_a_quarter(session: SparkSession, verb: str, group: str) -> None:
    session.sql(f"{verb} made (id BIGINT, v BIGINT, w BIGINT) USING delta {BUCKETS} {group}")
    session.sql(f"{verb} filled USING delta {BUCKETS} {group} AS {ROWS}")
    assert size(session, "made") == size(session, "filled") == str(32 << 20)


def test_every_writer_keeps_to_it(session: SparkSession) -> None:
    session.conf.set(SETTING, "65536")
    session.sql(f"CREATE TABLE t USING delta {BUCKETS} AS {ROWS}")
    assert min(row_groups(session, "t")) > 2
    session.conf.unset(SETTING)
    session.sql(f"INSERT OVERWRITE t {ROWS}")
    assert min(row_groups(session, "t")) > 2
    session.sql(f"MERGE INTO t USING ({ROWS}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = t.v + 1")
    assert min(row_groups(session, "t")) > 2


def test_what_the_statement_or_the_session_says_counts(session: SparkSession) -> None:
    session.sql(f"CREATE TABLE own USING delta {BUCKETS} TBLPROPERTIES ('{KEY}' = '65536') AS {ROWS}")
    assert size(session, "own") == "65536"
    session.conf.set(SETTING, "0")
    session.sql(f"CREATE TABLE none USING delta {BUCKETS} AS {ROWS}")
    session.conf.unset(SETTING)
    session.conf.set(KEY, "65536")
    session.sql(f"CREATE TABLE of_session USING delta {BUCKETS} AS {ROWS}")
    assert size(session, "none") is size(session, "of_session") is None
    assert max(row_groups(session, "none")) == 1
    assert min(row_groups(session, "of_session")) > 2


def test_a_plain_table_is_left_alone(session: SparkSession) -> None:
    session.sql("CREATE TABLE plain (id BIGINT, d INT) USING delta PARTITIONED BY (d)")
    assert size(session, "plain") is None


@pytest.mark.parametrize("changed", ["32768", "0"])
def test_files_of_a_table_are_taken_as_they_are_whatever_the_setting_is_by_now(
    session: SparkSession, tmp_path: Path, changed: str
) -> None:
    place, group = f"LOCATION '{tmp_path}'", "TBLPROPERTIES ('colocate_with' = 'g')"
    create = f"(id BIGINT, v BIGINT) USING delta {BUCKETS} {place}"
    session.conf.set(SETTING, "65536")
    session.sql(f"CREATE TABLE t {create} {group}")
    session.sql("DROP TABLE t")
    session.conf.set(SETTING, changed)
    for properties in (group, ""):
        session.sql(f"CREATE TABLE t {create} {properties}")
        assert size(session, "t") == "65536"
        session.sql("DROP TABLE t")


def test_files_of_an_older_table_are_taken_too(session: SparkSession, tmp_path: Path) -> None:
    create = f"CREATE TABLE t (id BIGINT) USING delta {BUCKETS} LOCATION '{tmp_path}'"
    session.conf.set(SETTING, "0")
    session.sql(create + " TBLPROPERTIES ('colocate_with' = 'g')")
    session.sql("DROP TABLE t")
    session.conf.unset(SETTING)
    for properties in ("", " TBLPROPERTIES ('colocate_with' = 'g')"):
        session.sql(create + properties)
        assert size(session, "t") is None
        session.sql("DROP TABLE t")


def test_an_overwrite_keeps_it(session: SparkSession) -> None:
    session.conf.set(SETTING, "65536")
    session.sql(f"CREATE TABLE t USING delta {BUCKETS} AS {ROWS}")
    session.sql(ROWS).write.format("delta").mode("overwrite").saveAsTable("t")
    assert size(session, "t") == "65536"
    assert min(row_groups(session, "t")) > 2
