"""What only explains has a bound of its own, and never harms the query: Spark asks for each query's explanation."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from spark_colocate import verdicts

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import multiset

INTERPRETED = True

CODE = "NOT_WORKED_OUT"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "not_worked_out", _make)


def _make(spark: SparkSession) -> None:
    create_member(spark, "t", "k BIGINT, v DOUBLE", ["k"], 4)
    fill(spark, "t", "SELECT id % 5, id FROM range(20)", ["k", "v"])


def _doubled(steps: int) -> str:
    """A column that the next one uses twice, and so on; with rand(), Spark does not put the projections together."""
    sql = "SELECT k, v + rand(1) AS c0 FROM t"
    for step in range(steps):
        sql = f"SELECT k, c{step} + c{step} * rand(1) AS c{step + 1} FROM ({sql})"
    return f"SELECT c{steps} > 0 AS g, count(*) FROM ({sql}) GROUP BY c{steps} > 0"


def test_a_key_that_doubles_with_each_projection(session: SparkSession) -> None:
    df = session.sql(_doubled(60))
    assert sum(row[1] for row in df.collect()) == 20
    (verdict,) = verdicts(df)
    assert (verdict.code, verdict.colocated) == (CODE, False)
    assert "because its keys are computed by too many expressions" in verdict.text
    assert "cure: EXPLAIN FORMATTED" in verdict.text


def test_a_key_of_a_few_steps_is_worked_out(session: SparkSession) -> None:
    (verdict,) = verdicts(session.sql(_doubled(3)))
    assert verdict.code == "KEYS_NOT_COVERED"


def test_the_nodes_of_a_large_plan_are_not_counted_to_the_end(session: SparkSession) -> None:
    df = session.sql(" UNION ALL ".join(["SELECT k FROM t"] * 20))
    plan, walk = df._jdf.queryExecution().executedPlan(), session._jvm.org.apache.spark.sql.colocate.rules.PlanWalk
    assert walk.size(plan, 10**9) == walk.nodes(plan).size() > 20
    assert walk.size(plan, 15) == 15


def test_an_explanation_that_fails_leaves_the_query_alone(session: SparkSession) -> None:
    sql = "SELECT a.k, count(*) FROM t a JOIN t b ON a.k = b.k GROUP BY a.k"
    rows = multiset(session.sql(sql).collect())
    session.conf.set("spark.colocate.testing", "quiet")
    session.conf.set("spark.colocate.testing.fault", "fails:explain")
    df = session.sql(sql)
    assert multiset(df.collect()) == rows
    found = verdicts(df)
    assert {verdict.code for verdict in found} == {CODE}
    assert all("its explanation failed, as the driver's log says" in verdict.text for verdict in found)
    assert CODE in session._jvm.PythonSQLUtils.explainString(df._jdf.queryExecution(), "simple")
