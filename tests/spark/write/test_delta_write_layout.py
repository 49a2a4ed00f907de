"""Files per bucket and commit; no second shuffle; no sort where a task holds one bucket (traps S4.3, decision 5)."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.held import held

BUCKETS = 4
CLUSTERED = f"USING delta CLUSTERED BY (id) INTO {BUCKETS} BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
WIDE = "SELECT id, repeat(cast(id AS STRING), 5) AS v FROM range(0, 40000, 1, 6)"


def files(spark: SparkSession, table: str) -> Counter[str]:
    """How many live files each bucket of each partition has."""
    paths = [row[0] for row in spark.sql(f"SELECT DISTINCT _metadata.file_path FROM {table}").collect()]
    return Counter(path.rsplit("/", 1)[0].split("/_delta", 1)[0] for path in paths)


def written_plan(spark: SparkSession) -> str:
    """The physical plan of the newest finished query that wrote Delta files."""
    store: Any = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    plans = [executions.apply(i).physicalPlanDescription() for i in range(executions.size())]
    return next(plan for plan in reversed(plans) if "BucketedWrite" in plan or "Coalesce" in plan)


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_a_load_leaves_one_file_per_bucket(spark: SparkSession, db: str, aqe: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", aqe)
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql(f"INSERT INTO t {WIDE}")
    assert sorted(files(spark, "t").values()) == [1] * BUCKETS
    spark.sql(f"INSERT INTO t {WIDE}")
    assert sorted(files(spark, "t").values()) == [2] * BUCKETS
    spark.sql(f"INSERT OVERWRITE t {WIDE}")
    assert sorted(files(spark, "t").values()) == [1] * BUCKETS
    spark.sql(f"CREATE TABLE c {CLUSTERED} AS {WIDE}")
    assert sorted(files(spark, "c").values()) == [1] * BUCKETS


def test_a_few_rows_are_written_by_one_task(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql("INSERT INTO t VALUES " + ", ".join(f"({i}, 'x')" for i in range(100)))
    assert sorted(files(spark, "t").values()) == [1] * BUCKETS


def test_partitions_of_the_user_have_one_file_per_bucket_each(spark: SparkSession, db: str) -> None:
    table = CLUSTERED.replace("USING delta", "USING delta PARTITIONED BY (p)")
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING, p INT) {table}")
    spark.sql(f"INSERT INTO t SELECT id, v, cast(id % 3 AS INT) FROM ({WIDE})")
    assert sorted(files(spark, "t").values()) == [1] * (3 * BUCKETS)


def test_a_bucket_that_fills_several_files_is_written_by_several_tasks(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.colocate.write.targetFileBytes", "40000")
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql(f"INSERT INTO t {WIDE}")
    per_bucket = files(spark, "t")
    assert len(per_bucket) == BUCKETS
    assert max(per_bucket.values()) > 1
    size = spark.sql("DESCRIBE DETAIL t").first()["sizeInBytes"]
    assert max(per_bucket.values()) <= -(-size // BUCKETS // 40000) + 1


def test_rows_that_have_the_layout_are_not_shuffled_again(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql(f"INSERT INTO t {WIDE}")
    spark.sql(f"CREATE TABLE u (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql("INSERT INTO u SELECT * FROM t")
    assert "Exchange" not in written_plan(spark)
    assert spark.table("u").count() == 40000
    assert sorted(files(spark, "u").values()) == [1] * BUCKETS


def test_a_task_of_one_bucket_is_not_sorted(spark: SparkSession, db: str) -> None:
    """With a wrong order Delta's writer would close a bucket's file and begin another: the file count tells."""
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql(f"INSERT INTO t {WIDE}")
    assert "Sort" not in written_plan(spark)


def test_a_renamed_and_computed_key_keeps_its_bucket(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql("INSERT INTO t (v, ID) SELECT concat('v', id), cast(id % 1000 AS INT) FROM range(0, 40000, 1, 6)")
    wrong = "SELECT 1 FROM t WHERE _metadata.file_path NOT LIKE concat('%=', pmod(hash(id), 4), '/%')"
    assert spark.sql(wrong).count() == 0
    assert sorted(files(spark, "t").values()) == [1] * BUCKETS


def test_deltas_own_shuffle_before_a_write_is_off_for_members(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.databricks.delta.optimizeWrite.enabled", "true")
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) {CLUSTERED}")
    spark.sql(f"INSERT INTO t {WIDE}")
    assert sorted(files(spark, "t").values()) == [1] * BUCKETS
    assert "OptimizedWriter" not in written_plan(spark)
    spark.sql(f"CREATE TABLE c {CLUSTERED} AS {WIDE}")
    assert sorted(files(spark, "c").values()) == [1] * BUCKETS
    assert "OptimizedWriter" not in written_plan(spark)
    assert spark.conf.get("spark.databricks.delta.optimizeWrite.enabled") == "true"


def test_a_statement_that_runs_leaves_the_sessions_settings_alone(spark: SparkSession, db: str, tmp_path: Path) -> None:
    """Two at once would each put back what the other one set."""
    before = dict(spark.conf.getAll)
    with held(spark, f"CREATE TABLE t {CLUSTERED} AS SELECT held(id) AS id FROM range(9)", at=5, folder=tmp_path):
        assert dict(spark.conf.getAll) == before
    assert spark.table("t").count() == 9


def test_options_of_a_statement_reach_delta(spark: SparkSession, db: str) -> None:
    more = f"{CLUSTERED} OPTIONS ('maxRecordsPerFile' = '10')"
    spark.sql(f"CREATE TABLE t {more} AS SELECT id FROM range(400)")
    rows = spark.sql("SELECT _colocate_bucket AS b, count(*) AS n FROM t GROUP BY 1").collect()
    assert sorted(files(spark, "t").values()) == sorted(-(-row.n // 10) for row in rows)
