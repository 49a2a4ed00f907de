"""Where buckets save no Exchange the plan is the one of stock Spark, with its operators and its tasks (design D10)."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.plans import nodes
from tools.plans import kind

INTERPRETED = True

PROVIDERS = ("delta", "parquet", "orc")

# Without joins by the key with a broadcast side: those read fewer buckets (tests of pruning).
QUERIES = {
    "scan": "SELECT k, v FROM {t}",
    "few rows, not by the key": "SELECT k, v FROM {t} WHERE v % 100 = 7",
    "most rows, by the key": "SELECT k, v FROM {t} WHERE k > 1",
    "limit": "SELECT k, v FROM {t} LIMIT 3",
    "top": "SELECT k, v FROM {t} ORDER BY v DESC LIMIT 3",
    "count": "SELECT count(*), max(v) FROM {t}",
    "grouped by another column": "SELECT j, count(*) FROM {t} GROUP BY j",
    "joined with a small table": "SELECT t.k, t.v, d.name FROM {t} t JOIN small d ON t.j = d.j",
    "joined by another column": "SELECT /*+ MERGE(u) */ t.k, t.v, u.v FROM {t} t JOIN u ON t.v = u.v",
    "union": "SELECT k, v FROM {t} UNION ALL SELECT k, v FROM u",
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "stock_plans", _make)


def _make(spark: SparkSession) -> None:
    for name, provider in (("u", "delta"), *(zip(PROVIDERS, PROVIDERS, strict=True))):
        create_member(spark, name, "k INT, j INT, v BIGINT", ["k"], 4, provider)
        rows = "SELECT if(id % 9 = 0, NULL, cast(id % 31 AS INT)), cast(id % 3 AS INT), id FROM range(300)"
        fill(spark, name, rows, ["k", "j", "v"])
    spark.sql("CREATE TABLE small USING parquet AS SELECT cast(id AS INT) AS j, concat('n', id) AS name FROM range(3)")


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_plan_and_tasks_are_those_of_stock_spark(session: SparkSession, provider: str, adaptive: str) -> None:
    session.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    for case, query in QUERIES.items():
        ours = _operators_and_tasks(session, query.format(t=provider))
        with switched_off(session):
            stock = _operators_and_tasks(session, query.format(t=provider))
        assert ours == stock, case


def _operators_and_tasks(session: SparkSession, sql: str) -> tuple[list[str], list[int]]:
    """The operators of the plan that ran, and how many tasks each of its scans has."""
    found = nodes(session.sql(sql))
    scans = [node for node in found if kind(node).endswith("ScanExec")]
    return [kind(node) for node in found], [scan.inputRDDs().head().getNumPartitions() for scan in scans]
