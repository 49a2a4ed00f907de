"""MERGE still finds target rows that match twice, wherever its row ids may not be grouped within tasks."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.dml import Member, assert_local, change
from tests.tiers.params import rest_slow

TWICE = Member("s", rows="id DIV 2, concat('new', id)", count=200)
UPDATE = "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v"
DELETE = "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE"
AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"


@pytest.mark.parametrize(("vectors", "broadcast"), [(False, "-1"), (True, "-1"), (True, "10485760")])
def test_two_matches_of_one_row_are_an_error(spark: SparkSession, db: str, broadcast: str, vectors: bool) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", broadcast)
    on, _ = change(spark, UPDATE, Member("t", vectors=vectors), TWICE, codegen=vectors)
    assert on.error == AMBIGUOUS
    assert on.seen.count("WithinTask") == 1
    assert on.seen.exchanges == 0


def test_matches_in_a_bucket_that_might_be_split_are_an_error(spark: SparkSession, db: str) -> None:
    """Trap S1.7: parts of a bucket would each see one match. The search for touched files joins all that it reads."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.files.openCostInBytes", "1")
    spark.conf.set("spark.colocate.skew.targetTaskBytes", "1")
    more = ("INSERT INTO s SELECT 17, 'again'", "INSERT INTO t SELECT id + 900, 'w' FROM range(50)")
    on, _ = change(spark, UPDATE, Member("t"), TWICE, before=more)
    assert on.error == AMBIGUOUS


def test_matches_in_two_files_of_one_bucket_are_an_error(spark: SparkSession, db: str) -> None:
    """One key's two source rows lie in two files, and the target's buckets are of several files too."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")
    more = ("INSERT INTO s SELECT 17, 'again'", "INSERT INTO t SELECT id + 900, 'w' FROM range(50)")
    on, _ = change(spark, UPDATE, Member("t"), Member("s"), before=more)
    assert on.error == AMBIGUOUS
    assert on.seen.count("WithinTask") == 1


def test_matches_from_a_source_that_is_no_member_are_an_error(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "1")
    spark.conf.set("spark.sql.adaptive.skewJoin.skewedPartitionFactor", "1")
    source = Member("s", rows="id DIV 2, concat('new', id)", count=200, clustered=False)
    on, _ = change(spark, UPDATE, Member("t"), source)
    assert on.error == AMBIGUOUS
    assert on.seen.count("WithinTask") == 1


def test_a_target_that_is_broadcast_keeps_the_exchange_and_the_error(spark: SparkSession, db: str) -> None:
    """Each task of the source sees every target row: one row's matches are spread over tasks."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "20000")
    source = Member("s", rows="id % 1000, concat('new', sha2(concat(id), 512))", count=2000)
    on, _ = change(spark, UPDATE, Member("t", count=8), source)
    search = on.seen.data[0]
    assert search.count("BroadcastExchange") == 1, str(on.seen)
    assert search.count("WithinTask") == 0
    assert search.exchanges >= 1
    assert on.error == AMBIGUOUS


def test_a_join_on_other_columns_keeps_the_exchange_and_the_error(spark: SparkSession, db: str) -> None:
    """The target is shuffled below the aggregate."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    source = Member("s", rows="id, concat('v', id DIV 2)", count=200)
    on, _ = change(spark, UPDATE.replace("t.k = s.k", "t.v = s.v"), Member("t"), source)
    assert on.error == AMBIGUOUS
    assert on.seen.count("WithinTask") == 0


def test_two_matches_are_an_error_when_rows_without_a_match_are_touched_too(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    on, _ = change(spark, UPDATE + " WHEN NOT MATCHED BY SOURCE THEN DELETE", Member("t"), TWICE)
    assert on.error == AMBIGUOUS
    assert on.seen.count("WithinTask") == 1


@pytest.mark.parametrize("vectors", rest_slow([False, True], True))
def test_a_sole_delete_may_match_twice(spark: SparkSession, db: str, vectors: bool) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    on, off = change(spark, DELETE, Member("t", vectors=vectors), TWICE)
    assert_local(on, off)
    assert sum(on.rows.values()) == 300


@pytest.mark.parametrize("vectors", rest_slow([False, True], True))
def test_the_change_feed_names_a_row_that_matched_twice_once(spark: SparkSession, db: str, vectors: bool) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    source = Member("s", rows="id DIV 2 + 350, concat('new', id)", count=200)
    on, _ = change(spark, DELETE, Member("t", vectors=vectors, feed=True), source)
    assert on.error is None
    assert sum(n for row, n in on.changes.items() if row[2] == "delete") == 50


@pytest.mark.parametrize("vectors", rest_slow([False, True], False))
def test_no_row_is_lost_to_a_row_of_the_same_number(spark: SparkSession, db: str, vectors: bool) -> None:
    """Delta drops duplicate deletes by a number that an inserted row may share with a copied one."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    target = Member("t", vectors=vectors, feed=True)
    for member in (target, Member("s", rows="id DIV 2 + 350, concat('new', id)", count=200)):
        member.create(spark)
    spark.sql(DELETE + " WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)")
    assert spark.table("t").count() == 350 + 100
    changes = spark.sql("SELECT _change_type, count(*) FROM table_changes('t', 1) GROUP BY 1").collect()
    assert {tuple(row) for row in changes} == {("delete", 50), ("insert", 100)}
