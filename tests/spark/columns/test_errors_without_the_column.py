"""Where Delta would name the hidden column, the error says what is wrong in the user's words."""

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from tests.spark.members import folder
from tests.spark.versions import INSERT_EVOLVES
from tests.tiers.params import marked

INTERPRETED = True

BUCKETS = "CLUSTERED BY (id) INTO 4 BUCKETS"


def refused(work: Callable[[], object], code: str) -> str:
    with pytest.raises(Exception, match=rf"\[{code}\]") as error:
        work()
    assert "_colocate" not in str(error.value)
    return str(error.value)


def test_a_frame_that_is_older_than_its_table(spark: SparkSession, db: str) -> None:
    mapped = f"{BUCKETS} TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    spark.sql(f"CREATE TABLE t (id BIGINT, v INT) USING delta {mapped}")
    spark.sql("INSERT INTO t VALUES (1, 1)")
    spark.table("t").createOrReplaceTempView("older")
    frame = spark.table("t")
    spark.sql(f"CREATE OR REPLACE TABLE t USING delta {mapped} AS SELECT 'a' AS id, 1 AS v")
    for work in (frame.collect, spark.sql("SELECT * FROM older").collect):
        assert f"{db}.t by a DataFrame or a view" in refused(work, "SCHEMA_CHANGED")
    assert spark.table("t").count() == 1


def _writers(rows: DataFrame, mode: str) -> DataFrameWriter:
    return rows.write.format("delta").mode(mode)


@pytest.mark.parametrize("partitioned", ["", "PARTITIONED BY (v)"])
def test_an_overwrite_by_other_partition_columns(spark: SparkSession, db: str, partitioned: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v INT, w INT) USING delta {partitioned} {BUCKETS}")
    rows = spark.sql("SELECT id, 1 AS v, 2 AS w FROM range(5)")
    where = str(folder(spark, "t"))
    has = "v" if partitioned else "no partition columns"
    for work in (
        lambda: _writers(rows, "overwrite").partitionBy("w").saveAsTable("t"),
        lambda: _writers(rows, "overwrite").partitionBy("w").save(where),
        lambda: _writers(rows, "append").partitionBy("w").save(where),
    ):
        assert f"with partitionBy(w): it has {has}." in refused(work, "PARTITIONS_DIFFER")
    _writers(rows, "overwrite").partitionBy("w").option("overwriteSchema", "true").saveAsTable("t")
    assert spark.table("t").count() == 5


WIDER: dict[str, Callable[[SparkSession, DataFrame], object]] = {
    "saveAsTable": lambda _, rows: _writers(rows, "append").option("mergeSchema", "true").saveAsTable("t"),
    "overwrite": lambda _, rows: _writers(rows, "overwrite").option("mergeSchema", "true").saveAsTable("t"),
    "save": lambda spark, rows: _writers(rows, "append").option("mergeSchema", "true").save(str(folder(spark, "t"))),
    "writeTo": lambda _, rows: rows.writeTo("t").option("mergeSchema", "true").append(),
    "INSERT": lambda spark, _: spark.sql("INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT * FROM wide"),
}


@pytest.mark.parametrize("way", marked(WIDER, {"INSERT": INSERT_EVOLVES}))
def test_evolution_that_would_widen_a_key(spark: SparkSession, db: str, way: str) -> None:
    widening = "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    spark.sql(f"CREATE TABLE t (id INT, v INT) USING delta {BUCKETS} {widening}")
    spark.sql("INSERT INTO t VALUES (1, 1)")
    rows = spark.sql("SELECT 5000000000 AS id, 1 AS v")
    rows.createOrReplaceTempView("wide")
    error = refused(lambda: WIDER[way](spark, rows), "KEY_COLUMN_FIXED")
    assert f"Cannot change column id of {db}.t from INT to BIGINT" in error or "delta.`" in error
    assert dict(spark.table("t").dtypes)["id"] == "int" and spark.table("t").count() == 1
    wider = spark.sql("SELECT 2 AS id, 5000000000 AS v")
    _writers(wider, "append").option("mergeSchema", "true").saveAsTable("t")
    assert dict(spark.table("t").dtypes) == {"id": "int", "v": "bigint"} and spark.table("t").count() == 2
