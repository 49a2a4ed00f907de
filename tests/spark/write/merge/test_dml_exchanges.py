"""UPDATE, DELETE, INSERT ... SELECT and CTAS of Delta members shuffle nothing and leave no more files than before."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.dml import BUCKETS, Member, assert_local, change
from tools.recorder import Recorder

UPDATE = "UPDATE t SET v = concat('u', k) WHERE k % 7 = 0"
DELETE = "DELETE FROM t WHERE k % 5 = 0"


@pytest.mark.each_value
@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("statement", [UPDATE, DELETE])
def test_a_change_of_some_rows(spark: SparkSession, db: str, statement: str, vectors: bool) -> None:
    """With broadcast joins off too: the join of touched rows with Delta's list of files is one all the same."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    assert_local(*change(spark, statement, Member("t", vectors=vectors)))


@pytest.mark.parametrize("statement", [UPDATE, DELETE])
def test_a_change_after_a_change_adds_to_its_deletion_vectors(spark: SparkSession, db: str, statement: str) -> None:
    assert_local(*change(spark, statement, Member("t", vectors=True), before=("DELETE FROM t WHERE k % 3 = 0",)))


@pytest.mark.parametrize("statement", [UPDATE, DELETE])
def test_the_change_feed_is_the_same(spark: SparkSession, db: str, statement: str) -> None:
    on, off = change(spark, statement, Member("t", feed=True))
    assert_local(on, off)
    assert on.changes


def test_many_small_files_become_one_for_each_bucket(spark: SparkSession, db: str) -> None:
    more = tuple(f"INSERT INTO t SELECT id + {n}000, 'm' FROM range(50)" for n in range(1, 4))
    on, off = change(spark, "UPDATE t SET v = 'x' WHERE k >= 0", Member("t"), before=more)
    assert_local(on, off)
    assert on.files == BUCKETS


def test_an_update_of_the_key_moves_rows_to_their_new_buckets(spark: SparkSession, db: str) -> None:
    on, _ = change(spark, "UPDATE t SET k = k + 1 WHERE v > 'v2'", Member("t"))
    assert on.error is None
    assert on.seen.count("BucketPerTask") == 0


def test_one_row_touches_one_bucket_and_runs_no_empty_tasks(spark: SparkSession, db: str) -> None:
    on, _ = change(spark, "UPDATE t SET v = 'one' WHERE k = 77", Member("t"))
    assert on.seen.exchanges == 0
    assert [plan.tasks for plan in on.seen.data] == [1, 1]


def test_a_large_bucket_is_not_read_by_one_core_to_save_an_exchange(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")
    on, _ = change(spark, "DELETE FROM t WHERE k = 77", Member("t", count=4000))
    assert on.error is None
    assert on.seen.count("WithinTask", "BucketPerTask") == 0, str(on.seen)


@pytest.mark.parametrize("vectors", [False, True])
def test_insert_select_from_members(spark: SparkSession, db: str, vectors: bool) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for member in (Member("t", vectors=vectors), Member("s", count=300), Member("u", rows="id * 2, 'u'")):
        member.create(spark)
    with Recorder(spark) as seen:
        spark.sql("INSERT INTO t SELECT * FROM s")
        spark.sql("INSERT INTO t SELECT s.k, u.v FROM s JOIN u ON s.k = u.k")
        spark.sql("INSERT INTO t SELECT k, max(v) FROM s GROUP BY k")
        spark.sql("INSERT INTO t TABLE t")
    assert seen.exchanges == 0, str(seen)
    assert seen.shuffle_bytes == 0
    assert spark.table("t").count() == (400 + 300 + 150 + 300) * 2
    assert spark.sql("DESCRIBE DETAIL t").collect()[0]["numFiles"] == 5 * BUCKETS


def test_ctas_from_members_into_their_group(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for member in (Member("s", count=300), Member("u", rows="id * 2, 'u'")):
        member.create(spark)
    with Recorder(spark) as seen:
        spark.sql(
            f"CREATE TABLE c USING delta CLUSTERED BY (k) INTO {BUCKETS} BUCKETS TBLPROPERTIES "
            f"('colocate_with' = 'g{BUCKETS}') AS SELECT s.k, u.v FROM s JOIN u ON s.k = u.k"
        )
    assert seen.exchanges == 0, str(seen)
    assert spark.table("c").count() == 150
    assert spark.sql("DESCRIBE DETAIL c").collect()[0]["numFiles"] <= BUCKETS
