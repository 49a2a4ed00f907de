"""The proof, rule by rule (design 6a): queries that the layout serves, near misses, and the plans of both."""

import json
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.plans import cases
from tests.spark.adaptive import ADAPTIVE
from tests.spark.golden_plans import assert_golden_plans
from tests.spark.members import create_member, fill, switched_off
from tests.spark.oracle import (
    assert_exchange,
    assert_no_exchange,
    assert_no_exchange_with_and_without_aqe,
    compare,
    run,
)
from tests.spark.versions import UNIONS_KEEP_PARTITIONING
from tests.tiers.params import some

SERVED, NEAR_MISS = cases("served"), cases("near_miss")
UNIONS = dict.fromkeys(("union all", "join over union all"), UNIONS_KEEP_PARTITIONING)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    """What the header of the .sql files says."""
    spark.sql("CREATE DATABASE proof")
    spark.sql("USE proof")
    made = [("a", "k", 4, "delta"), ("b", "k", 4, "delta"), ("c", "k", 4, "parquet"), ("a8", "k", 8, "delta")]
    made += [("a3", "k", 3, "delta"), ("e", "k, s", 4, "delta"), ("f", "k, s", 4, "orc"), ("x", "s, k", 4, "delta")]
    for number, (name, keys, buckets, provider) in enumerate(made):
        group = f"g_{keys.replace(', ', '_')}_{buckets}"
        create_member(spark, name, "k INT, s STRING, j INT, v BIGINT", keys.split(", "), buckets, provider, group)
        _fill(spark, name, 5 * number)
    create_member(spark, "w", "k BIGINT, s STRING, j INT, v BIGINT", ["k"], 4, group="g_w")
    spark.sql("CREATE TABLE p (k INT, s STRING, j INT, v BIGINT) USING parquet")
    create_member(spark, "u", "k INT, v BIGINT", ["k"], 4, group="g_k_4")
    fill(spark, "u", "SELECT cast(id AS INT), id * 3 FROM range(9)", ["k", "v"])
    for name, numbers in (("m", (8, 4, 6)), ("m5", (8, 5, 10))):
        bounds = zip(("15", "30", "MAXVALUE"), numbers, strict=True)
        ranges = json.dumps([{"name": f"p{b}", "upper": [b], "buckets": n} for b, n in bounds])
        spark.sql(
            f"CREATE TABLE {name} (k INT, s STRING, j INT, v BIGINT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS "
            f"TBLPROPERTIES ('range_partition_by' = 'v', 'range_partitions' = '{ranges}')"
        )
    for name in ("w", "p", "m", "m5"):
        _fill(spark, name, 3)
    spark.sql("USE default")
    yield "proof"
    spark.sql("DROP DATABASE proof CASCADE")


def _fill(spark: SparkSession, name: str, start: int) -> None:
    key, j = "if(id % 8 = 0, NULL, cast(id % 13 AS INT))", "if(id % 5 = 0, NULL, cast(id % 7 AS INT))"
    rows = f"SELECT {key}, concat('s', id % 3), {j}, id FROM range({start}, {start + 45})"
    fill(spark, name, rows, ["k", "s", "j", "v"])


@pytest.fixture
def shuffling(spark: SparkSession, tables: str) -> None:
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")


@pytest.fixture(params=ADAPTIVE)
def adaptive(spark: SparkSession, shuffling: None, request: pytest.FixtureRequest) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", request.param)


@pytest.mark.usefixtures("shuffling")
# Their plans are all among the golden ones.
@pytest.mark.parametrize("case", some(SERVED, 3, UNIONS))
def test_no_exchange_for(spark: SparkSession, case: str) -> None:
    assert_no_exchange_with_and_without_aqe(spark, SERVED[case])


@pytest.mark.usefixtures("shuffling")
@pytest.mark.parametrize("case", some(NEAR_MISS, 3))
def test_an_exchange_stays_for(spark: SparkSession, case: str) -> None:
    """With AQE, which plans most often."""
    assert_exchange(spark, NEAR_MISS[case])


@pytest.mark.usefixtures("shuffling")
@pytest.mark.parametrize("name", ["served", "near_miss"])
def test_plans_and_verdicts_are_the_golden_ones(spark: SparkSession, name: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    assert_golden_plans({title: explained(spark, sql) for title, sql in cases(name).items()}, name)


def explained(spark: SparkSession, sql: str) -> str:
    return str(spark.sql(f"EXPLAIN {sql}").collect()[0][0]).strip()


@pytest.mark.usefixtures("adaptive")
def test_a_left_joins_right_key_may_meet_a_third_table_by_equality(spark: SparkSession) -> None:
    compare(spark, "SELECT a.v, b.v, c.v FROM a LEFT JOIN b ON a.k = b.k AND b.v < 30 LEFT JOIN c ON b.k = c.k")


@pytest.mark.usefixtures("adaptive")
def test_a_scalar_subquery_with_two_rows_fails_alike(spark: SparkSession) -> None:
    pair = compare(spark, "SELECT a.k, (SELECT b.v FROM b WHERE b.k = a.k) FROM a")
    assert pair.on.error == "SCALAR_SUBQUERY_TOO_MANY_ROWS"


NULL_AWARE = "joins of NOT IN that heed the threshold"


@pytest.mark.not_slow
@pytest.mark.usefixtures("adaptive")
@pytest.mark.parametrize(
    ("threshold", "join"),
    [
        pytest.param("-1", "BroadcastNestedLoopJoinExec", marks=pytest.mark.since("4.2", NULL_AWARE)),
        pytest.param("-1", "BroadcastHashJoinExec", marks=pytest.mark.before("4.2", NULL_AWARE)),
        ("10485760", "BroadcastHashJoinExec"),
    ],
)
def test_not_in_is_a_broadcast_and_says_so(spark: SparkSession, threshold: str, join: str) -> None:
    sql = "SELECT v FROM a WHERE k NOT IN (SELECT k FROM b WHERE k IS NOT NULL AND v > 45)"
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
    assert compare(spark, sql).on.rows
    assert join in run(spark, sql).kinds
    assert "NULL_AWARE_ANTI_JOIN" in spark.sql(f"EXPLAIN {sql}").collect()[0][0]


@pytest.mark.usefixtures("adaptive")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, s, count(*) FROM a GROUP BY GROUPING SETS ((k, s), (k))",
        "SELECT k, s, count(DISTINCT v), sum(v) FROM a JOIN b USING (k, s, v) GROUP BY GROUPING SETS ((k, s), (k))",
    ],
)
def test_expand_over_a_member_is_right(spark: SparkSession, sql: str) -> None:
    assert compare(spark, sql).on.rows


# Not among the golden plans: Spark numbers the DISTINCTs in an order that changes from run to run.
@pytest.mark.usefixtures("adaptive")
def test_several_distincts_need_no_exchange_if_they_are_grouped_by_the_key(spark: SparkSession) -> None:
    assert_no_exchange(spark, "SELECT k, count(DISTINCT v), count(DISTINCT s), sum(v) FROM a GROUP BY k")
    joined = "SELECT a.k, count(DISTINCT a.v), count(DISTINCT b.s) FROM a JOIN b ON a.k = b.k GROUP BY a.k"
    assert_no_exchange(spark, joined)
    assert_exchange(spark, "SELECT s, count(DISTINCT v), count(DISTINCT k) FROM a GROUP BY s")


@pytest.mark.usefixtures("adaptive")
def test_a_cached_member_under_another_layout_is_right(spark: SparkSession) -> None:
    cached = spark.sql("SELECT * FROM a").repartition(3, "v").cache()
    try:
        cached.createOrReplaceTempView("cached_a")
        for sql in (
            "SELECT k, count(*) FROM {a} GROUP BY k",
            "SELECT x.v, b.v FROM {a} x JOIN b ON x.k = b.k",
            "SELECT x.v, y.v FROM {a} x FULL JOIN cached_a y ON x.k = y.k",
        ):
            on = run(spark, sql.format(a="cached_a"))
            with switched_off(spark):
                off = run(spark, sql.format(a="a").replace("cached_a", "a"))
            assert on.rows == off.rows
    finally:
        cached.unpersist()
