"""A rewrite that fails costs a query its speed, not its rows; but a test fails, so that somebody sees it."""

from collections.abc import Iterator

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import run
from tests.spark.sessions import FAULT

INTERPRETED = True

# Its tuned plan has a merged aggregate; untuned, it has two. An Exchange is left for the ORDER BY.
QUERY = "SELECT a.k, count(*) AS n, sum(b.v) AS v FROM a JOIN b ON a.k = b.k GROUP BY a.k ORDER BY v, a.k"
RULE = "MergeAdjacentAggregates"
TOLD = {f"fails:{RULE}": f"{RULE} fails", f"invalid:{RULE}": "The tuned plan lacks what its operators ask for"}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "failing_rewrites", _make)


def _make(spark: SparkSession) -> None:
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, "delta")
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("fault", TOLD)
def test_a_query_runs_as_spark_planned_it(session: SparkSession, fault: str, adaptive: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    with switched_off(session):
        rows = run(session, QUERY).rows
    tuned = run(session, QUERY)
    session.conf.set("spark.colocate.testing", "quiet")
    session.conf.set(FAULT, fault)
    left = run(session, QUERY)
    assert tuned.rows == left.rows == rows
    assert [tuned.kinds.count("HashAggregateExec"), left.kinds.count("HashAggregateExec")] == [1, 2]
    assert left.colocated


@pytest.mark.parametrize("fault", TOLD)
def test_under_test_the_query_fails(session: SparkSession, fault: str) -> None:
    session.conf.set(FAULT, fault)
    assert session.conf.get("spark.colocate.testing") == "true"
    with pytest.raises(Py4JJavaError, match=TOLD[fault]):
        session.sql(QUERY).collect()


def test_what_is_meant_for_the_user_is_thrown(session: SparkSession) -> None:
    session.conf.set("spark.colocate.testing", "quiet")
    session.conf.set(FAULT, f"tells:{RULE}")
    with pytest.raises(AnalysisException, match=f"{RULE} tells the user"):
        session.sql(QUERY).collect()


def test_only_a_test_makes_rules_fail(session: SparkSession) -> None:
    session.conf.set("spark.colocate.testing", "false")
    session.conf.set(FAULT, f"tells:{RULE}")
    assert run(session, QUERY).kinds.count("HashAggregateExec") == 1
