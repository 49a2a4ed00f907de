"""Statements that no layout in buckets or key model goes with, each with its condition and its cure."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from tests.spark.foreign import add_column, without_us

MEMBER = "USING delta CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
UNIQUE = "CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('key_model' = 'unique', 'key_columns' = 'k')"
AGGREGATE = (
    "CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES "
    "('key_model' = 'aggregate', 'key_columns' = 'k', 'value_aggregates' = '{\"v\":\"SUM\"}')"
)


@pytest.mark.parametrize(
    ("statement", "condition", "cure"),
    [
        (f"CREATE TABLE t (k INT, v INT) {MEMBER} PARTITIONED BY (k)", "KEY_PARTITIONED", "Leave k out of one"),
        (
            f"CREATE TABLE t (k INT, v INT) {MEMBER.replace('(k)', '(k) SORTED BY (v)')}",
            "SORTED_BY",
            "Leave SORTED BY out; OPTIMIZE",
        ),
        (f"CREATE TABLE delta.`{{folder}}` (k INT) {MEMBER}", "PATH_IN_GROUP", "Give it a name: CREATE TABLE db.t"),
    ],
    ids=["partitioned by the key", "sorted", "path"],
)
def test_a_create_is_refused_and_makes_nothing(
    spark: SparkSession, db: str, tmp_path: Path, statement: str, condition: str, cure: str
) -> None:
    with pytest.raises(PySparkException) as refused:
        spark.sql(statement.format(folder=tmp_path / "t"))
    assert refused.value.getCondition() == condition
    assert cure in str(refused.value)
    assert spark.sql("SHOW TABLES").count() == 0
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("partitions", "told"),
    [("", "it has none). Leave WHERE out."), ("PARTITIONED BY (p)", "it has p). Name a partition column")],
    ids=["no partitions", "partitions"],
)
def test_optimize_where_names_partition_columns(spark: SparkSession, db: str, partitions: str, told: str) -> None:
    spark.sql(f"CREATE TABLE t (k INT, v INT, p INT) {MEMBER} {partitions}")
    spark.sql("INSERT INTO t VALUES (1, 1, 1)")
    with pytest.raises(AnalysisException) as refused:
        spark.sql("OPTIMIZE t WHERE v = 1")
    assert refused.value.getCondition() == "NO_PARTITION_COLUMN"
    assert told in str(refused.value)


def test_without_row_tracking_the_last_row_of_a_key_is_not_known(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (k INT, v INT) USING delta {UNIQUE}")
    spark.sql("INSERT INTO t VALUES (1, 1)")
    spark.sql("INSERT INTO t VALUES (1, 2)")
    without_us(spark, f"ALTER TABLE {db}.t SET TBLPROPERTIES ('delta.enableRowTracking' = 'false')")
    with pytest.raises(PySparkException) as refused:
        spark.table("t").collect()
    assert refused.value.getCondition() == "KEY_MODEL_ROW_IDS"
    assert "VERSION AS OF" in str(refused.value)
    assert [tuple(row) for row in spark.sql("SELECT * FROM t VERSION AS OF 2").collect()] == [(1, 2)]


def test_a_column_that_another_session_added_has_no_aggregation(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (k INT, v INT) USING delta {AGGREGATE}")
    spark.sql("INSERT INTO t VALUES (1, 1)")
    add_column(spark, "t", "w")
    with pytest.raises(PySparkException) as refused:
        spark.table("t").collect()
    assert refused.value.getCondition() == "KEY_MODEL_COLUMN"
    assert "its column w" in str(refused.value)
    spark.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert [tuple(row) for row in spark.table("t").collect()] == [(1, 1)]
