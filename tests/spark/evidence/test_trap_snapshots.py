"""Traps S1.2, S1.3, S1.5: the evidence must be that of the very snapshot which is read, and of one snapshot only."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.foreign import widen_key
from tests.spark.members import create_member, fill, switched_off
from tests.spark.oracle import Rows, assert_exchanges, assert_no_exchange, compare, multiset
from tests.spark.plans import kinds

INTERPRETED = True

ROWS = "SELECT if(id % 9 = 0, NULL, cast(id % 17 AS INT)) AS k, id AS v FROM range({start}, {end})"


@pytest.fixture(autouse=True)
def _shuffling(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")  # of tiny queries, the most of their time


def _member(spark: SparkSession, name: str, buckets: int = 4, group: str = "g", end: int = 50, **more: str) -> None:
    create_member(spark, name, "k INT, v BIGINT", ["k"], buckets, group=group, properties=more)
    fill(spark, name, ROWS.format(start=0, end=end), ["k", "v"])


def _relaid(spark: SparkSession, name: str, buckets: int, group: str, end: int, **more: str) -> None:
    """The same table, rewritten to another bucket count, with more rows."""
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in {"colocate_with": group, **more}.items())
    spark.sql(
        f"CREATE OR REPLACE TABLE {name} USING delta CLUSTERED BY (k) INTO {buckets} BUCKETS "
        f"TBLPROPERTIES ({properties}) AS {ROWS.format(start=0, end=end)}"
    )


def _rows(df: DataFrame) -> Rows:
    return multiset(df.collect())


def _stock(spark: SparkSession, sql: str) -> Rows:
    with switched_off(spark):
        return _rows(spark.sql(sql))


@pytest.mark.parametrize(
    ("before", "after", "adaptive", "other_session"),
    [(4, 8, "true", False), (8, 3, "false", True)],
)
def test_a_dataframe_kept_across_a_rewrite_to_another_bucket_count_loses_no_row(
    spark: SparkSession, db: str, before: int, after: int, adaptive: str, other_session: bool
) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    _member(spark, "t", before, "g_t")
    _member(spark, "u", before, "g_u", end=70)
    kept = spark.table("t").select("k", "v")
    joined = kept.join(spark.table("u").select("k", "v"), "k")
    writer = spark.newSession() if other_session else spark
    writer.sql(f"USE {db}")
    _relaid(writer, "t", after, "g_t", end=60)
    sql = "SELECT k, t.v, u.v FROM t JOIN u USING (k)"
    expected = _stock(spark, sql)
    assert expected.total() > 0
    assert _rows(kept.join(spark.table("u").select("k", "v"), "k")) == expected
    assert _rows(joined) in (expected, _before_the_rewrite(spark))
    assert _rows(kept.groupBy("k").count()) == _stock(spark, "SELECT k, count(*) FROM t GROUP BY k")


def _before_the_rewrite(spark: SparkSession) -> Rows:
    return _stock(spark, "SELECT k, t.v, u.v FROM t VERSION AS OF 1 t JOIN u USING (k)")


def test_a_join_of_two_versions_of_a_relaid_table_is_right(spark: SparkSession, db: str) -> None:
    _member(spark, "t", 4)
    _relaid(spark, "t", 8, "g", end=60)
    assert_no_exchange(spark, "SELECT n.k, n.v, o.v FROM t n JOIN t VERSION AS OF 1 o ON n.k = o.k")


def test_an_old_version_of_an_unchanged_layout_is_bucketed(spark: SparkSession, db: str) -> None:
    _member(spark, "t")
    _member(spark, "u")
    fill(spark, "t", ROWS.format(start=50, end=60), ["k", "v"])
    for newer in ("t", "u"):
        assert_no_exchange(spark, f"SELECT n.k, n.v, o.v FROM {newer} n JOIN t VERSION AS OF 1 o ON n.k = o.k")


def test_a_restored_table_is_read_in_the_layout_it_was_restored_to(spark: SparkSession, db: str) -> None:
    _member(spark, "t", 4, "g_t")
    _member(spark, "u", 4, "g_u")
    _relaid(spark, "t", 8, "g_t", end=60)
    spark.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert_no_exchange(spark, "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k")


def test_a_shallow_clone_joins_its_source_rightly(spark: SparkSession, db: str) -> None:
    _member(spark, "t", 4)
    spark.sql("CREATE TABLE c SHALLOW CLONE t")
    fill(spark, "t", ROWS.format(start=50, end=60), ["k", "v"])
    assert_no_exchange(spark, "SELECT t.k, t.v, c.v FROM t JOIN c ON t.k = c.k")


@pytest.mark.parametrize(
    "properties",
    [
        {
            "delta.enableDeletionVectors": "true",
            "delta.enableRowTracking": "true",
            "delta.enableChangeDataFeed": "true",
        },
        {"delta.enableDeletionVectors": "false", "delta.columnMapping.mode": "name"},
    ],
    ids=str,
)
def test_the_layout_outlives_changes_and_optimize(spark: SparkSession, db: str, properties: dict[str, str]) -> None:
    _member(spark, "t", **properties)
    _member(spark, "u", end=70, **properties)
    sql = "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k"
    spark.sql("DELETE FROM t WHERE v % 5 = 1")
    spark.sql("UPDATE u SET k = k + 1 WHERE v % 7 = 2")
    spark.sql("MERGE INTO t USING u ON t.v = u.v WHEN MATCHED AND u.v > 40 THEN UPDATE SET k = u.k "
              "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (u.k, u.v)")  # fmt: skip
    assert_no_exchange(spark, sql)
    spark.sql("OPTIMIZE t")
    assert_no_exchange(spark, sql)


def test_a_renamed_column_beside_the_key_keeps_the_layout(spark: SparkSession, db: str) -> None:
    _member(spark, "t", **{"delta.columnMapping.mode": "name"})
    _member(spark, "u")
    spark.sql("ALTER TABLE t RENAME COLUMN v TO w")
    spark.sql("ALTER TABLE t ADD COLUMNS (x STRING)")
    assert_no_exchange(spark, "SELECT t.k, t.w, t.x, u.v FROM t JOIN u ON t.k = u.k")


def test_without_data_skipping_the_scan_is_not_pinned_and_not_colocated(spark: SparkSession, db: str) -> None:
    _member(spark, "t")
    _member(spark, "u")
    spark.conf.set("spark.databricks.delta.stats.skipping", "false")
    pair = compare(spark, "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k")
    assert not pair.on.colocated
    assert "NOT_ONE_SNAPSHOT" in spark.sql("EXPLAIN SELECT t.v FROM t JOIN u ON t.k = u.k").collect()[0][0]


def test_a_change_feed_across_a_relayout_is_not_colocated(spark: SparkSession, db: str) -> None:
    """Its rows come from files of both layouts, by scans of several snapshots."""
    feed = {"delta.enableChangeDataFeed": "true"}
    _member(spark, "t", 4, "g_t", **feed)
    _member(spark, "u", 8, "g_u")
    spark.sql("DELETE FROM t WHERE v % 4 = 1")
    _relaid(spark, "t", 8, "g_t", end=60, **feed)
    relaid_in = spark.sql("DESCRIBE HISTORY t LIMIT 1").first()["version"]
    spark.sql("DELETE FROM t WHERE v % 4 = 2")
    changes = spark.sql("SELECT DISTINCT _commit_version FROM table_changes('t', 1)").collect()
    assert {relaid_in - 1, relaid_in, relaid_in + 1} <= {row[0] for row in changes}
    assert_exchanges(
        spark,
        "SELECT c.k, c.v, c._change_type, c._commit_version, u.v FROM table_changes('t', 1) c "
        "JOIN u ON c.k = u.k AND u.v < 20",
        left=1,
    )


def test_a_stream_joined_with_two_members_keeps_the_join_of_those(spark: SparkSession, db: str, tmp_path: Path) -> None:
    """The static side is bucketed in each micro-batch; the stream's own rows, of any files, alone are shuffled."""
    for name in ("t", "u", "x"):
        _member(spark, name)
    fill(spark, "t", ROWS.format(start=50, end=60), ["k", "v"])
    static = spark.sql("SELECT u.k, u.v AS w, x.v AS y FROM u JOIN x ON u.k = x.k AND x.v < 20")
    stream = spark.readStream.table("t").join(static, "k").select("k", "v", "w", "y")
    query = (
        stream.writeStream.format("memory")
        .queryName("streamed")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    plan = query._jsq.explainInternal(False).split("== Initial Plan ==")[0]
    assert plan.count("ColocatedScan") == 2
    assert plan.count("Exchange hashpartitioning") == 1
    expected = _stock(spark, "SELECT t.k, t.v, u.v, x.v FROM t JOIN u USING (k) JOIN x ON t.k = x.k AND x.v < 20")
    assert _rows(spark.sql("SELECT k, v, w, y FROM streamed")) == expected


def test_a_key_whose_type_changed_proves_nothing(spark: SparkSession, db: str) -> None:
    create_member(spark, "t", "k SMALLINT, v BIGINT", ["k"], 4, properties={"delta.enableTypeWidening": "true"})
    create_member(spark, "u", "k INT, v BIGINT", ["k"], 4, group="g_u")
    values = "SELECT cast(id % 17 AS {type}), id FROM range(50)"
    fill(spark, "t", values.format(type="SMALLINT"), ["k", "v"])
    fill(spark, "u", values.format(type="INT"), ["k", "v"])
    with pytest.raises(Exception, match=r"Cannot change column k of .*: it is a bucket key"):
        spark.sql("ALTER TABLE t ALTER COLUMN k TYPE INT")
    widen_key(spark, "t")
    pair = compare(spark, "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k")
    assert pair.on.rows
    assert pair.on.exchanges > 0
    assert "KEY_TYPE_CHANGED" in spark.sql("EXPLAIN SELECT k, count(*) FROM t GROUP BY k").collect()[0][0]


@pytest.mark.parametrize("name", ["hash", "pmod"])
def test_a_temporary_function_of_that_name_is_not_taken_for_sparks(spark: SparkSession, db: str, name: str) -> None:
    _member(spark, "t")
    _member(spark, "u")
    sql = "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k"
    assert_no_exchange(spark, sql)
    arguments = "a INT" if name == "hash" else "a INT, b INT"
    spark.sql(f"CREATE TEMPORARY FUNCTION {name} ({arguments}) RETURNS INT RETURN 1")
    try:
        assert compare(spark, sql).on.rows
    finally:
        spark.sql(f"DROP TEMPORARY FUNCTION {name}")


@pytest.mark.parametrize("side", ["left", "right"])
def test_validate_requirements_accepts_a_member_on_either_side_of_an_exchange(
    spark: SparkSession, db: str, side: str
) -> None:
    """S3.1: the comparison of shuffle specs must hold both ways, else every rewrite would be given back."""
    _member(spark, "t")
    spark.sql("CREATE TABLE p AS SELECT k, v + 1 AS v, v % 3 AS x FROM t")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    left, right = ("t", "p") if side == "left" else ("p", "t")
    df = spark.sql(f"SELECT l.k, l.v, r.v FROM {left} l JOIN {right} r ON l.k = r.k AND l.v = r.v")
    plan = df._jdf.queryExecution().executedPlan()
    assert spark._jvm.org.apache.spark.sql.execution.exchange.ValidateRequirements.validate(plan)
    assert kinds(df).count("ShuffleExchangeExec") == 1
    assert "ColocatedScanExec" in kinds(df)
