"""A rewrite that fails costs a query its speed, not its rows; but a test fails, so that somebody sees it."""

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.spark.members import create_member, fill, switched_off
from tests.spark.oracle import run

INTERPRETED = True

BUG = "spark.colocate.testing.plantedBug"
# Its tuned plan has a merged aggregate; untuned, it has two. An Exchange is left for the ORDER BY.
QUERY = "SELECT a.k, count(*) AS n, sum(b.v) AS v FROM a JOIN b ON a.k = b.k GROUP BY a.k ORDER BY v, a.k"
TOLD = {"tuning_fails": "planted", "tuning_is_invalid": "The tuned plan lacks what its operators ask for"}


@pytest.fixture(autouse=True)
def _tables(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, "delta")
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("fault", TOLD)
def test_a_query_runs_as_spark_planned_it(spark: SparkSession, fault: str, adaptive: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    with switched_off(spark):
        rows = run(spark, QUERY).rows
    tuned = run(spark, QUERY)
    spark.conf.set("spark.colocate.testing", "quiet")
    spark.conf.set(BUG, fault)
    left = run(spark, QUERY)
    assert tuned.rows == left.rows == rows
    assert [tuned.kinds.count("HashAggregateExec"), left.kinds.count("HashAggregateExec")] == [1, 2]
    assert left.colocated


@pytest.mark.parametrize("fault", TOLD)
def test_under_test_the_query_fails(spark: SparkSession, fault: str) -> None:
    spark.conf.set(BUG, fault)
    assert spark.conf.get("spark.colocate.testing") == "true"
    with pytest.raises(Py4JJavaError, match=TOLD[fault]):
        spark.sql(QUERY).collect()


def test_what_is_meant_for_the_user_is_thrown(spark: SparkSession) -> None:
    spark.conf.set("spark.colocate.testing", "quiet")
    spark.conf.set(BUG, "tuning_tells")
    with pytest.raises(AnalysisException, match="for the user"):
        spark.sql(QUERY).collect()


def test_only_a_test_has_bugs_planted(spark: SparkSession) -> None:
    spark.conf.set("spark.colocate.testing", "false")
    spark.conf.set(BUG, "tuning_tells")
    assert run(spark, QUERY).kinds.count("HashAggregateExec") == 1
