"""The session: what configure() sets, and that it comes up."""

from pyspark.sql import SparkSession
from spark_colocate.session import EXTENSION

from tests.spark.conftest import settings_put_back
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


def test_what_a_test_set_is_put_back_after_it(spark: SparkSession) -> None:
    before = dict(spark.conf.getAll)
    putting_back = settings_put_back()
    next(putting_back)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.sql("SET of.no.test = 1")
    assert next(putting_back, None) is None
    assert dict(spark.conf.getAll) == before
