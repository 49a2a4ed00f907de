"""The session: what configure() sets, and that it comes up."""

import pytest
from pyspark.sql import SparkSession
from spark_colocate.session import EXTENSION

from tests.spark.plans import Executions, exchanges, join_kinds


def test_the_session_runs_delta_and_has_our_extension_first(spark: SparkSession, db: str) -> None:
    assert spark.conf.get("spark.sql.extensions").split(",")[0] == EXTENSION
    spark.sql("CREATE TABLE t (k INT) USING delta")
    spark.sql("INSERT INTO t VALUES (1), (2)")
    assert spark.table("t").count() == 2


def test_a_join_of_ordinary_tables_is_counted_with_its_two_exchanges(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    left, right = spark.range(1000), spark.range(500)
    assert exchanges(left.join(right, "id")) == 2
    assert join_kinds(left.join(right, "id")) == ["SortMergeJoinExec"]


def test_executions_tell_the_exchanges_and_bytes_of_a_write(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    with Executions(spark) as seen:
        spark.range(1000).join(spark.range(500), "id").write.saveAsTable("joined", format="parquet")
    assert seen.exchanges == 2
    assert seen.shuffle_bytes > 0


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_setting_of_another_test_is_gone(spark: SparkSession, adaptive: str) -> None:
    assert spark.conf.get("spark.sql.autoBroadcastJoinThreshold") != "-1"
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
