"""Aggregates of tables with AGGREGATE KEY that read the rows as they were loaded, and those that must not."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.keys.test_key_models import EXPECTED, rows, tables  # noqa: F401
from tests.tiers.params import some

COLLAPSED = (
    "SELECT sum(s), min(lo), max(hi) FROM {t}",
    "SELECT k, sum(s) + 1 AS more, min(lo) FROM {t} GROUP BY k",
    "SELECT k % 2 AS odd, sum(s) FROM {t} WHERE k > 1 OR name = 'a' GROUP BY k % 2",
    "SELECT count(DISTINCT k), max(concat(name, '!')), sum(s), sum(DISTINCT k) FROM {t}",
    "SELECT sum(s) FILTER (WHERE k = 1), sum(s) FROM {t}",
    "SELECT name, sum(x) FROM (SELECT name, s AS x FROM {t}) GROUP BY name HAVING sum(x) > 1",
    "SELECT upper(n) AS u, max(hi) FROM (SELECT concat(name, 'x') AS n, hi FROM {t}) GROUP BY upper(n)",
    "SELECT k FROM {t} GROUP BY k HAVING sum(s) = 13",
    "SELECT try_sum(s), sum(s) FROM {t} WHERE k < 0",
    "SELECT t.n, x.s FROM (SELECT k, sum(s) AS n FROM {t} GROUP BY k) t JOIN (VALUES (1, 'a')) x(k, s) USING (k)",
)
KEPT = (
    "SELECT count(*) FROM {t}",
    "SELECT count(k), sum(s) FROM {t}",
    "SELECT max(s) FROM {t}",
    "SELECT sum(lo) FROM {t}",
    "SELECT min(hi) FROM {t}",
    "SELECT sum(s + 1) FROM {t}",
    "SELECT sum(-s) FROM {t}",
    "SELECT avg(s) FROM {t}",
    "SELECT sum(k) FROM {t}",
    "SELECT sum(DISTINCT s) FROM {t}",
    "SELECT sum(s) FROM {t} WHERE s > 4",
    "SELECT sum(s) FILTER (WHERE lo > 1) FROM {t}",
    "SELECT s, max(hi) FROM {t} GROUP BY s",
    "SELECT max(r) FROM {t}",
    "SELECT max(rn), sum(s) FROM {t}",
    "SELECT k, sum(s), first(name) FROM {t} WHERE name = 'a' GROUP BY k HAVING count(*) = 1",
    "SELECT sum(x) FROM (SELECT s * k AS x FROM {t})",
    "SELECT k, name, sum(s) FROM {t} GROUP BY CUBE (k, name)",
    "SELECT sum(s) FROM (SELECT * FROM {t} ORDER BY s DESC LIMIT 2)",
)


def by_all_keys(spark: SparkSession, sql: str) -> bool:
    """Does the plan make one row of each key of t?"""
    text = spark.sql(sql)._jdf.queryExecution().optimizedPlan().toString()
    return any("Aggregate [k#" in line and "name#" in line.split("], [")[0] for line in text.splitlines())


@pytest.mark.parametrize("query", some(COLLAPSED, 2))
@pytest.mark.every(3)
def test_loaded_rows_give_the_same(session: SparkSession, query: str) -> None:
    assert rows(session, query.format(t="t")) == rows(session, query.format(t=f"({EXPECTED})"))
    assert not by_all_keys(session, query.format(t="t"))
    session.conf.set("spark.colocate.rules.excluded", "CollapseKeyAggregation")
    assert by_all_keys(session, query.format(t="t"))


@pytest.mark.parametrize("query", some(KEPT, 2))
@pytest.mark.every(3)
def test_one_row_for_each_key_is_made_first(session: SparkSession, query: str) -> None:
    assert rows(session, query.format(t="t")) == rows(session, query.format(t=f"({EXPECTED})"))
    assert by_all_keys(session, query.format(t="t"))


def test_the_last_row_of_a_unique_key_is_made_first(session: SparkSession) -> None:
    assert session.sql("SELECT sum(w), max(v) FROM u").head() == (136, "v9")


def test_sums_of_float_are_rounded_for_each_key(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE f (k INT, s FLOAT SUM) AGGREGATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 2")
    for _ in range(3):
        spark.sql("INSERT INTO f SELECT id, 0.1 FROM range(2)")
    first = "SELECT sum(s) FROM (SELECT k, CAST(sum(s) AS FLOAT) AS s FROM f GROUP BY k)"
    assert spark.sql("SELECT sum(s) FROM f").head() == spark.sql(first).head()
