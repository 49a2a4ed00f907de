"""DELETE FROM t PARTITION p [WHERE ...]: rows of the named range partitions only, and no others' files."""

from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from pyspark.sql import SparkSession

from tests.spark.ranged import IN_BUCKETS, held, months, refused

INTERPRETED = True


def metrics(spark: SparkSession) -> dict[str, str]:
    """Of the last commit on t."""
    return dict(spark.sql("DESCRIBE HISTORY t LIMIT 1").first()["operationMetrics"])


@pytest.mark.parametrize("buckets", [IN_BUCKETS, ""], ids=["buckets", "plain"])
def test_rows_of_the_named_partitions_go(spark: SparkSession, db: str, buckets: str) -> None:
    months(spark, buckets=buckets)
    spark.sql("DELETE FROM t PARTITION p201702 WHERE k % 2 = 0 OR v = 'none'")
    assert held(spark) == {"p201701": 31, "p201702": 14, "p201703": 21}
    spark.sql("DELETE FROM t x PARTITIONS (P201701, `p201703`) WHERE x.d < '2017-03-02' AND x.k >= 0")
    assert held(spark) == {"p201702": 14, "p201703": 20}
    spark.sql("INSERT INTO t VALUES (DATE'2017-01-01', NULL, NULL), (DATE'2017-01-02', 3, NULL)")
    spark.sql("DELETE FROM t PARTITION (p201701) WHERE k = 3")
    assert held(spark) == {"p201701": 1, "p201702": 14, "p201703": 20}
    spark.sql("DELETE FROM t PARTITION p201703;")
    assert held(spark) == {"p201701": 1, "p201702": 14}
    assert metrics(spark).get("numAddedFiles", "0") == "0"


def test_files_of_other_partitions_are_not_looked_at(spark: SparkSession, db: str) -> None:
    months(spark)
    others = "SELECT DISTINCT _metadata.file_path FROM t WHERE d < '2017-02-01' OR d >= '2017-03-01'"
    for row in spark.sql(others).collect():
        Path(unquote(urlparse(row[0]).path)).unlink()
    spark.sql("DELETE FROM t PARTITION p201702 WHERE v = 'v' AND k <> 40")
    assert spark.sql("SELECT k FROM t WHERE _colocate_range = 'p201702'").collect() == [(40,)]


def test_what_can_not_be_named(spark: SparkSession, db: str) -> None:
    months(spark)
    spark.sql("CREATE TABLE plain (d DATE) USING delta")
    spark.sql("CREATE TABLE files (d DATE) USING parquet")
    spark.sql("CREATE TEMPORARY VIEW shown AS SELECT * FROM t")
    error = refused(spark, "DELETE FROM t PARTITIONS (p201701, p201704) WHERE k = 1")
    assert f"[RANGE_PARTITION_UNKNOWN] There is no range partition p201704 of {db}.t" in error
    assert "(partitions: p201701, p201702, p201703)" in error
    for target in ("plain", "files", "shown"):
        assert "[RANGE_TABLE] Cannot delete from partition p201701: " in refused(
            spark, f"DELETE FROM {target} PARTITION p201701"
        )
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("DELETE FROM absent PARTITION p201701 WHERE k = 1")
    with pytest.raises(Exception, match=r"UNRESOLVED_COLUMN.*`x`"):
        spark.sql("DELETE FROM t PARTITION p201701 WHERE x = 1")
    spark.sql("DELETE FROM t partition WHERE partition.k = 0")
    spark.catalog.dropTempView("shown")
    assert held(spark) == {"p201701": 30, "p201702": 28, "p201703": 21}
