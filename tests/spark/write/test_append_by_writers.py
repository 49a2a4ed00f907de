"""A writer that names the user's partition columns appends to a bucketed Delta table as to any Delta table."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession

from tests.spark.oracle import assert_no_exchange

TABLE = "(k BIGINT, v STRING, p INT) USING delta PARTITIONED BY (p)"
BUCKETS = "CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"


def rows(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT id AS k, string(id) AS v, int(id % 3) AS p FROM range(30)")


def save_as_table(spark: SparkSession, name: str, path: str) -> None:
    rows(spark).write.format("delta").partitionBy("p").mode("append").saveAsTable(name)


def without_format(spark: SparkSession, name: str, path: str) -> None:
    spark.conf.set("spark.sql.sources.default", "delta")
    name = f"spark_catalog.{spark.catalog.currentDatabase()}.{name}"
    rows(spark).write.partitionBy("p").mode("append").saveAsTable(name)


def with_a_new_column(spark: SparkSession, name: str, path: str) -> None:
    writer = rows(spark).selectExpr("*", "1 AS w").write.format("delta").option("mergeSchema", "true")
    writer.partitionBy("p").mode("append").saveAsTable(name)


def save(spark: SparkSession, name: str, path: str) -> None:
    rows(spark).write.format("delta").partitionBy("p").mode("append").save(path)


def save_in_other_case(spark: SparkSession, name: str, path: str) -> None:
    rows(spark).write.format("delta").partitionBy("P").mode("append").save(path)


def overwrite(spark: SparkSession, name: str, path: str) -> None:
    rows(spark).write.format("delta").partitionBy("p").mode("overwrite").saveAsTable(name)


def save_overwrite(spark: SparkSession, name: str, path: str) -> None:
    rows(spark).write.format("delta").partitionBy("p").mode("overwrite").save(path)


def stream(spark: SparkSession, name: str, path: str) -> None:
    rows(spark).write.format("delta").save(f"{path}-source")
    source = spark.readStream.format("delta").load(f"{path}-source")
    writer = source.writeStream.format("delta").partitionBy("p").option("checkpointLocation", f"{path}-checkpoint")
    writer.trigger(availableNow=True).toTable(name).awaitTermination()


WAYS = [save_as_table, without_format, with_a_new_column, save, save_in_other_case, overwrite, save_overwrite, stream]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.every(3)
def test_partition_columns_may_be_named(
    spark: SparkSession, db: str, tmp_path: Path, way: Callable[[SparkSession, str, str], None]
) -> None:
    results = []
    for name, layout in ("plain", ""), ("t", BUCKETS):
        path = str(tmp_path / name)
        spark.sql(f"CREATE TABLE {name} {TABLE} {layout} LOCATION '{path}'")
        way(spark, name, path)
        results.append(sorted(map(tuple, spark.table(name).collect())))
    assert results[0] == results[1] and results[1]
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", -1)
    assert_no_exchange(spark, "SELECT a.k, b.v FROM t a JOIN t b ON a.k = b.k")


@pytest.mark.parametrize("columns", [["v"], ["p", "v"]])
def test_other_partition_columns_are_refused_in_the_users_words(
    spark: SparkSession, db: str, columns: list[str]
) -> None:
    spark.sql(f"CREATE TABLE t {TABLE} {BUCKETS}")
    with pytest.raises((AnalysisException, IllegalArgumentException)) as refused:
        rows(spark).write.format("delta").partitionBy(*columns).mode("append").saveAsTable("t")
    assert "table: identity(p)" in str(refused.value) and "_colocate" not in str(refused.value)
