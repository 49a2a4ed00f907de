"""Operators that only DataFrames have, and what SQL plans into them: Python groups, cogroups, the cache, subqueries."""

from collections.abc import Callable, Iterator

import pandas
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.adaptive import ADAPTIVE
from tests.spark.members import create_member, fill, switched_off
from tests.spark.oracle import COLOCATED_SCAN, assert_no_exchange, compare, multiset
from tests.spark.plans import kinds

Query = Callable[[SparkSession], DataFrame]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    """a (Delta), b (Delta) and c (Parquet): one group by (k), 4 buckets, null keys among them."""
    spark.sql("CREATE DATABASE operators")
    spark.sql("USE operators")
    for start, (name, provider) in enumerate((("a", "delta"), ("b", "delta"), ("c", "parquet"))):
        create_member(spark, name, "k INT, s STRING, v BIGINT", ["k"], 4, provider)
        rows = "SELECT if(id % 9 = 0, NULL, cast(id % 13 AS INT)), concat('s', id % 3), id FROM range({}, {})"
        fill(spark, name, rows.format(5 * start, 5 * start + 60), ["k", "s", "v"])
    spark.sql("USE default")
    yield "operators"
    spark.sql("DROP DATABASE operators CASCADE")


@pytest.fixture(autouse=True, params=ADAPTIVE)
def _shuffling(spark: SparkSession, tables: str, request: pytest.FixtureRequest) -> None:
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.adaptive.enabled", request.param)
    spark.conf.set("spark.sql.codegen.wholeStage", request.param)  # one of the two runs is enough for either


def _span(group: pandas.DataFrame) -> pandas.DataFrame:
    return pandas.DataFrame({"k": [group["k"].iloc[0]], "rows": [len(group)], "total": [group["v"].sum()]})


def _sizes(left: pandas.DataFrame, right: pandas.DataFrame) -> pandas.DataFrame:
    key = (left if len(left) else right)["k"].iloc[0]
    return pandas.DataFrame({"k": [key], "left": [len(left)], "right": [len(right)]})


def _grouped(spark: SparkSession) -> DataFrame:
    return spark.table("a").groupBy("k").applyInPandas(_span, "k DOUBLE, rows BIGINT, total BIGINT")


def _grouped_after_a_join(spark: SparkSession) -> DataFrame:
    joined = spark.table("a").join(spark.table("c").select("k"), "k")
    return joined.groupBy("k", "s").applyInPandas(_span, "k DOUBLE, rows BIGINT, total BIGINT")


def _cogrouped(spark: SparkSession) -> DataFrame:
    left, right = spark.table("a").groupBy("k"), spark.table("c").groupBy("k")
    return left.cogroup(right).applyInPandas(_sizes, "k DOUBLE, left BIGINT, right BIGINT")


def _summed(spark: SparkSession) -> DataFrame:
    """A join of two aggregates, each by the key."""
    left, right = spark.table("a").groupBy("k").sum("v"), spark.table("b").groupBy("k").count()
    return left.join(right, "k")


def _self_joined(spark: SparkSession) -> DataFrame:
    a = spark.table("a")
    return a.alias("x").join(a.alias("y"), "k").groupBy("k").count()


def _deduplicated(spark: SparkSession) -> DataFrame:
    return spark.table("a").select("k", "s").dropDuplicates(["k", "s"]).join(spark.table("c"), ["k"], "left_semi")


@pytest.mark.parametrize(
    "query",
    [_grouped, _grouped_after_a_join, _cogrouped, _summed, _self_joined, _deduplicated],
    ids=lambda query: query.__name__[1:],
)
@pytest.mark.every(3)
def test_no_exchange_for(spark: SparkSession, query: Query) -> None:
    on = query(spark)
    found = kinds(on)
    assert found.count("ShuffleExchangeExec") == 0, found
    assert COLOCATED_SCAN in found
    with switched_off(spark):
        off = query(spark)
        assert "ShuffleExchangeExec" in kinds(off)
        expected = _rows(off)
    assert expected
    assert _rows(on) == expected


def _rows(df: DataFrame) -> object:
    """Python sees a null key of a group as NaN, which is not equal to itself."""
    return multiset(df.na.fill(-1.0).collect())


SUBQUERIES = {
    "exists": "SELECT v FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.v)",
    "not exists": "SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.k = a.k AND c.v > a.v)",
    "in": "SELECT v FROM a WHERE k IN (SELECT k FROM c WHERE v % 2 = 0)",
    "in a disjunction": "SELECT v FROM a WHERE v < 9 OR k IN (SELECT k FROM c WHERE v % 2 = 0)",
    "scalar": "SELECT k, v, (SELECT max(b.v) FROM b WHERE b.k = a.k) AS top FROM a",
    "scalar in a filter": "SELECT v FROM a WHERE v > (SELECT avg(c.v) FROM c WHERE c.k = a.k)",
    "lateral": "SELECT a.v, l.n FROM a, LATERAL (SELECT count(*) AS n FROM c WHERE c.k = a.k) l",
    "count distinct": "SELECT k, count(DISTINCT s) AS n FROM a GROUP BY k",
    "two distincts": "SELECT k, count(DISTINCT s) AS n, sum(DISTINCT v) AS m FROM a GROUP BY k",
    "intersect": "SELECT k, s FROM a INTERSECT SELECT k, s FROM c",
    "intersect all": "SELECT k, s FROM a INTERSECT ALL SELECT k, s FROM c",
    "except all": "SELECT k, s FROM a EXCEPT ALL SELECT k, s FROM c",
    "view": "WITH w AS (SELECT k AS key, s FROM a WHERE v > 3) SELECT w.s, c.v FROM w JOIN c ON c.k = w.key",
    "pivot": "SELECT * FROM (SELECT k, s, v FROM a) PIVOT (sum(v) FOR s IN ('s0', 's1', 's2'))",
    "qualified window": "SELECT * FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM a) "
    "WHERE n <= 2",
}


@pytest.mark.each_value
@pytest.mark.not_slow
@pytest.mark.parametrize("case", SUBQUERIES)
@pytest.mark.every(5)
def test_no_exchange_for_a_query_with(spark: SparkSession, case: str) -> None:
    assert_no_exchange(spark, SUBQUERIES[case])


@pytest.mark.parametrize("name", ["a", "c"])
def test_a_cached_member_keeps_its_layout_for_joins(spark: SparkSession, name: str) -> None:
    cached = spark.table(name).where("v > 2").cache()
    try:
        joined = cached.join(spark.table("b").select("k", "v").withColumnRenamed("v", "w"), "k")
        assert kinds(joined).count("ShuffleExchangeExec") == 0
        expected = f"SELECT k, t.s, t.v, b.v FROM {name} t JOIN b USING (k) WHERE t.v > 2"
        with switched_off(spark):
            assert multiset(joined.select("k", "s", "v", "w").collect()) == multiset(spark.sql(expected).collect())
            assert "ShuffleExchangeExec" in kinds(cached.groupBy("k", "s").count())
    finally:
        cached.unpersist(blocking=True)


def test_a_cache_that_was_filled_colocated_is_right_when_switched_off(spark: SparkSession) -> None:
    cached = spark.table("a").cache()
    try:
        assert cached.count() == 60
        cached.createOrReplaceTempView("kept")
        assert compare_rows(spark, "SELECT k, kept.v, c.v FROM kept JOIN c USING (k)")
        assert compare_rows(spark, "SELECT k, count(*) FROM kept GROUP BY k")
    finally:
        cached.unpersist(blocking=True)
        spark.catalog.dropTempView("kept")


def compare_rows(spark: SparkSession, sql: str) -> int:
    on = multiset(spark.sql(sql).collect())
    with switched_off(spark):
        assert multiset(spark.sql(sql).collect()) == on
    assert multiset(spark.sql(sql.replace("kept", "a")).collect()) == on
    return on.total()


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("sensitive", ["true", "false"])
def test_names_and_arithmetic_follow_the_sessions_rules(spark: SparkSession, ansi: str, sensitive: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    spark.conf.set("spark.sql.caseSensitive", sensitive)
    assert_no_exchange(spark, "SELECT a.k, a.v + c.v AS t FROM a JOIN c ON a.k = c.k")
    upper = compare(spark, "SELECT A.K, A.v + c.V AS t FROM a A JOIN c ON A.K = c.k")
    assert (upper.on.error is None) == (sensitive == "false")
    failing = compare(spark, "SELECT a.k, cast(a.s AS INT) AS n FROM a JOIN c ON a.k = c.k")
    assert failing.on.error == ("CAST_INVALID_INPUT" if ansi == "true" else None)
