"""UPDATE, DELETE and MERGE that Delta refuses only while it writes: the error names what the user knows."""

import re

import pytest
from pyspark.sql import SparkSession

from tests.spark.delta_log import rewrite_last

INTERPRETED = True

BUCKETS = "CLUSTERED BY (id) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g', 'delta.enableTypeWidening' = 'true')"


def _refused(spark: SparkSession, statement: str, code: str) -> str:
    with pytest.raises(Exception, match=code) as caught:
        spark.sql(statement).collect()
    told = str(caught.value).partition("Caused by")[0].partition("JVM stacktrace")[0]
    assert "_colocate" not in told, told
    return told


CHANGES = {
    "DELETE FROM t WHERE v = 0": "DELETE FROM t WHERE v = 0",
    "UPDATE": "UPDATE t SET v = v + 1 WHERE v < 2",
    "MERGE": "MERGE INTO t USING (SELECT 0 AS v) s ON t.v = s.v WHEN MATCHED THEN DELETE",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_meets_a_row_in_a_wrong_bucket(spark: SparkSession, db: str, change: str) -> None:
    """Whoever falsified the log: the rows of a file of bucket n are said to be of bucket n + 1."""
    spark.sql(f"CREATE TABLE t (id INT, v INT) USING delta {BUCKETS}")
    spark.sql("INSERT INTO t SELECT /*+ COALESCE(1) */ id, id FROM range(40)")
    rewrite_last(
        spark,
        "t",
        lambda text: re.sub(
            r'"_colocate_bucket":"(\d)"', lambda found: f'"_colocate_bucket":"{(int(found[1]) + 1) % 4}"', text
        ),
    )
    spark.sql("REFRESH TABLE t")
    spark.conf.set("spark.databricks.delta.delete.deletionVectors.persistent", "false")
    told = _refused(spark, CHANGES[change], r"\[ROW_IN_WRONG_BUCKET\]")
    assert re.search(rf"rows of {db}\.t: its log says that a file is of bucket \d, but the file holds a row", told)
    assert f"CALL system.repair(table => '{db}.t')" in told
    spark.sql(f"CALL system.verify(table => '{db}.t', wait => true)").collect()
    spark.sql(f"CALL system.repair(table => '{db}.t', wait => true)").collect()
    spark.sql("DELETE FROM t WHERE v = 0")
    assert sorted(row.v for row in spark.table("t").collect()) == list(range(1, 40))


def test_a_merge_whose_evolution_would_widen_a_key(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id INT, v INT) USING delta {BUCKETS}")
    spark.sql("INSERT INTO t VALUES (1, 1)")
    told = _refused(
        spark,
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 5000000000 AS id, 2 AS v) s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT *",
        r"\[KEY_COLUMN_FIXED\]",
    )
    assert f"Cannot widen a bucket key or range column of {db}.t by schema evolution" in told
    assert dict(spark.table("t").dtypes) == {"id": "int", "v": "int"} and spark.table("t").count() == 1
    spark.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 2 AS id, 5000000000 AS v) s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    assert dict(spark.table("t").dtypes) == {"id": "int", "v": "bigint"} and spark.table("t").count() == 2
