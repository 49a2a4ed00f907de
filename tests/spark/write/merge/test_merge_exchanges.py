"""MERGE between Delta members: no Exchange for its joins, its search for touched files, its vectors, its write."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.dml import BUCKETS, Member, assert_local, change
from tests.spark.members import unstable
from tests.spark.oracle import multiset
from tests.tiers.params import rest_slow
from tools.recorder import Recorder

SOURCE = Member("s", rows="id * 3, concat('new', id)", count=200)
UPSERT = """
    MERGE INTO t USING s ON t.k = s.k
    WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)
"""
EVERY_CLAUSE = """
    MERGE INTO t USING s ON t.k = s.k
    WHEN MATCHED AND s.k % 2 = 0 THEN UPDATE SET v = s.v
    WHEN MATCHED AND s.k % 5 = 0 THEN DELETE
    WHEN NOT MATCHED AND s.k % 7 <> 0 THEN INSERT (k, v) VALUES (s.k, s.v)
    WHEN NOT MATCHED BY SOURCE AND t.k % 10 = 1 THEN UPDATE SET v = 'left'
    WHEN NOT MATCHED BY SOURCE AND t.k % 10 = 2 THEN DELETE
"""


OTHER_FORMS = {
    "self": (
        "MERGE INTO t USING (SELECT k, v FROM t WHERE k % 2 = 0) s ON t.k = s.k "
        "WHEN MATCHED THEN UPDATE SET v = concat(s.v, '!')",
        (),
    ),
    "schema evolution from an older source": (
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT *, v AS w FROM s VERSION AS OF 1) s ON t.k = s.k "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        ("DELETE FROM s",),
    ),
    "row tracking and column mapping": (
        UPSERT,
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name')",),
    ),
}


@pytest.mark.parametrize(("vectors", "broadcast"), [(False, "-1"), (True, "10485760")])
def test_an_upsert_shuffles_nothing(spark: SparkSession, db: str, vectors: bool, broadcast: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", broadcast)
    assert_local(*change(spark, UPSERT, Member("t", vectors=vectors), SOURCE, codegen=not vectors))


@pytest.mark.parametrize("vectors", rest_slow([False, True], True))
def test_every_clause_at_once_shuffles_nothing(spark: SparkSession, db: str, vectors: bool) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    on, off = change(spark, EVERY_CLAUSE, Member("t", vectors=vectors, feed=True), SOURCE)
    assert_local(on, off)
    assert on.changes


def test_without_adaptive_execution_nothing_is_shuffled_either(spark: SparkSession, db: str) -> None:
    """The source is not cached although its bucket column is hidden: the cache would have no layout."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    on, off = change(spark, UPSERT, Member("t"), SOURCE)
    assert_local(on, off)
    assert not any("mergeMaterializedSource" in node.text for plan in on.seen.data for node in plan.nodes)


@pytest.mark.parametrize("form", list(OTHER_FORMS))
def test_other_forms_shuffle_nothing_either(spark: SparkSession, db: str, form: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    statement, before = OTHER_FORMS[form]
    assert_local(*change(spark, statement, Member("t", vectors=True), SOURCE, before=before))


def test_an_unstable_group_is_merged_as_stock_delta_does(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for member in (Member("t"), SOURCE):
        member.create(spark)
    spark.sql("CREATE TABLE plain USING delta AS SELECT * FROM t")
    spark.sql(UPSERT.replace("INTO t", "INTO plain t"))
    with unstable(spark, f"{db}.g{BUCKETS}"), Recorder(spark) as seen:
        spark.sql(UPSERT)
    assert seen.exchanges > 0
    assert seen.count("WithinTask", "BucketPerTask", "GatherOnDriver") == 0, str(seen)
    assert multiset(spark.table("t").collect()) == multiset(spark.table("plain").collect())
    assert spark.table("t").count() == 400 + 66


def test_inserts_only(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    insert = "MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
    assert_local(*change(spark, insert, Member("t"), SOURCE))


def test_a_second_merge_adds_to_the_vectors_of_the_first(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    delete = "MERGE INTO t USING s ON t.k = s.k AND s.k % 2 = 0 WHEN MATCHED THEN DELETE"
    assert_local(*change(spark, UPSERT, Member("t", vectors=True), SOURCE, before=(delete,)))


def test_partition_columns_beside_the_bucket(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    target = Member("t", rows="id, concat('v', id), id % 3", partitioned=True)
    source = Member("s", rows="id * 3, concat('new', id), id % 3", count=200, partitioned=True)
    upsert = UPSERT.replace("(k, v) VALUES (s.k, s.v)", "(k, v, day) VALUES (s.k, s.v, s.day)")
    assert_local(*change(spark, upsert, target, source))


def test_null_keys_are_inserted_and_match_nothing(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    source = Member("s", rows="CASE WHEN id % 4 > 0 THEN id * 3 END, concat('new', id)", count=200)
    target = Member("t", rows="CASE WHEN id % 9 > 0 THEN id END, concat('v', id)")
    assert_local(*change(spark, UPSERT, target, source))


@pytest.mark.parametrize("vectors", rest_slow([False, True], True))
def test_an_update_of_the_key_keeps_the_exchange_before_the_write(spark: SparkSession, db: str, vectors: bool) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    moved = "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET k = t.k + 10000"
    on, off = change(spark, moved, Member("t", vectors=vectors), SOURCE)
    assert on.seen.exchanges == 1, str(on.seen)
    assert on.seen.count("BucketPerTask") == 0
    assert on.files <= off.files


@pytest.mark.parametrize("buckets", rest_slow([BUCKETS // 2, BUCKETS * 2], BUCKETS // 2))
def test_other_bucket_counts_meet_at_the_common_divisor(spark: SparkSession, db: str, buckets: int) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    source = Member("s", rows="id * 3, concat('new', id)", count=200, buckets=buckets)
    assert_local(*change(spark, UPSERT, Member("t"), source))


def test_a_source_that_is_no_member_is_the_only_one_shuffled(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    source = Member("s", rows="id * 3, concat('new', id)", count=200, clustered=False)
    on, _ = change(spark, UPSERT, Member("t"), source)
    assert on.seen.exchanges == 2, f"one for each of the two joins\n{on.seen}"
    assert on.seen.count("BucketPerTask") == 1


def test_a_target_that_is_no_member_keeps_what_stock_delta_does(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    repartition = "spark.databricks.delta.merge.repartitionBeforeWrite.enabled"
    before = spark.conf.get(repartition)
    on, off = change(spark, UPSERT, Member("t", clustered=False), SOURCE)
    assert on.seen.count("WithinTask", "BucketPerTask", "GatherOnDriver") == 0
    assert spark.conf.get(repartition) == before
    assert off.seen.exchanges > 0
