"""Dynamic partition overwrite works over the user's partition columns (traps S1.1)."""

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.members import folder

INTERPRETED = True

BUCKETS = "CLUSTERED BY (id) INTO 8 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
DYNAMIC = "spark.sql.sources.partitionOverwriteMode"


def sql(spark: SparkSession, rows: DataFrame) -> None:
    rows.createOrReplaceTempView("new_rows")
    spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    spark.sql("INSERT OVERWRITE t SELECT * FROM new_rows")


def sql_by_name(spark: SparkSession, rows: DataFrame) -> None:
    rows.createOrReplaceTempView("new_rows")
    spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    spark.sql("INSERT OVERWRITE t BY NAME SELECT * FROM new_rows")


def insert_into(spark: SparkSession, rows: DataFrame) -> None:
    spark.conf.set(DYNAMIC, "dynamic")
    rows.write.mode("overwrite").insertInto("t")


def insert_into_option(spark: SparkSession, rows: DataFrame) -> None:
    rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "dynamic").insertInto("t")


def overwrite_partitions(spark: SparkSession, rows: DataFrame) -> None:
    rows.writeTo("t").overwritePartitions()


def save_as_table(spark: SparkSession, rows: DataFrame) -> None:
    rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "dynamic").saveAsTable("t")


def save_as_table_session(spark: SparkSession, rows: DataFrame) -> None:
    spark.conf.set(DYNAMIC, "dynamic")
    rows.write.format("delta").mode("overwrite").saveAsTable("t")


def save_path(spark: SparkSession, rows: DataFrame) -> None:
    path = str(folder(spark, "t"))
    rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "dynamic").save(path)


WRITERS = [
    sql,
    sql_by_name,
    insert_into,
    insert_into_option,
    overwrite_partitions,
    save_as_table,
    save_as_table_session,
    save_path,
]
every_writer = pytest.mark.parametrize("write", WRITERS, ids=lambda w: w.__name__)
Writer = Callable[[SparkSession, DataFrame], None]


def ids(spark: SparkSession, where: str = "true") -> list[int]:
    return sorted(row.id for row in spark.sql(f"SELECT id FROM t WHERE {where}").collect())


@every_writer
@pytest.mark.every(3)
def test_without_a_user_partition_it_replaces_the_whole_table(spark: SparkSession, db: str, write: Writer) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) USING delta {BUCKETS}")
    spark.sql("INSERT INTO t SELECT id, 'old' FROM range(200)")

    write(spark, spark.sql("SELECT 1000L AS id, 'new' AS v"))

    assert ids(spark) == [1000]


@every_writer
@pytest.mark.every(3)
def test_with_a_user_partition_it_replaces_the_partitions_that_are_written(
    spark: SparkSession, db: str, write: Writer
) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, dt STRING) USING delta PARTITIONED BY (dt) {BUCKETS}")
    spark.sql("INSERT INTO t SELECT id, CASE id % 4 WHEN 3 THEN NULL ELSE concat('d', id % 4) END FROM range(200)")

    write(spark, spark.sql("SELECT * FROM VALUES (1000L, 'd1'), (1001L, NULL), (1002L, 'it''s') AS v(id, dt)"))

    assert ids(spark, "dt = 'd1'") == [1000]
    assert ids(spark, "dt IS NULL") == [1001]
    assert ids(spark, "dt = 'it''s'") == [1002]
    assert len(ids(spark, "dt IN ('d0', 'd2')")) == 100


@pytest.mark.parametrize("write", [sql, overwrite_partitions, save_as_table], ids=lambda w: w.__name__)
def test_many_rows_over_few_keep_nothing_old_and_lose_nothing_new(spark: SparkSession, db: str, write: Writer) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, y INT, m INT) USING delta PARTITIONED BY (y, m) {BUCKETS}")
    spark.sql("INSERT INTO t VALUES (1, 2024, 1), (2, 2024, 2), (3, 2025, 1)")

    write(spark, spark.sql("SELECT id, 2024 AS y, 1 + cast(id % 3 AS INT) AS m FROM range(100, 400)"))

    assert ids(spark, "y = 2024") == list(range(100, 400))
    assert ids(spark, "y = 2025") == [3]


def test_an_empty_query_replaces_no_partition(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, dt STRING) USING delta PARTITIONED BY (dt) {BUCKETS}")
    spark.sql("INSERT INTO t VALUES (1, 'a')")
    overwrite_partitions(spark, spark.sql("SELECT id, dt FROM t WHERE false"))
    assert ids(spark) == [1]


def test_a_query_that_changes_with_each_run_is_run_once(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, p INT) USING delta PARTITIONED BY (p) {BUCKETS}")
    spark.sql("INSERT INTO t SELECT id, cast(id % 50 AS INT) FROM range(50)")
    overwrite_partitions(spark, spark.sql("SELECT id, cast(rand() * 50 AS INT) AS p FROM range(1000, 1020)"))
    assert [i for i in ids(spark) if i >= 1000] == list(range(1000, 1020))


def test_it_is_one_commit(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, dt STRING) USING delta PARTITIONED BY (dt) {BUCKETS}")
    spark.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    before = spark.sql("DESCRIBE HISTORY t").count()
    overwrite_partitions(spark, spark.sql("SELECT 9L AS id, 'a' AS dt"))
    assert spark.sql("DESCRIBE HISTORY t").count() == before + 1
