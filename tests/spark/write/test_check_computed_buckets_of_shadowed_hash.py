"""A user's function named as one of the bucket column's text must not compute buckets."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.spark.members import create_member, fill
from tests.spark.oracle import compare

INTERPRETED = True

FIRST = ("spark.sql.functionResolution.sessionOrder", "first")
ROWS = "SELECT id, id FROM range(5)"
NEW = "(SELECT id AS k, id AS v FROM range(3, 8)) s"
WRITES = {
    "insert": f"INSERT INTO t (k, v) {ROWS}",
    "by position": f"INSERT INTO t {ROWS}",
    "overwrite": f"INSERT OVERWRITE t {ROWS}",
    "update": "UPDATE t SET k = k + 1",
    "merge": f"MERGE INTO t USING {NEW} ON t.k = s.k WHEN NOT MATCHED THEN INSERT *",
    "merge that updates": f"MERGE INTO t USING {NEW} ON t.v = s.v WHEN MATCHED THEN UPDATE SET k = s.k + 1",
}


@pytest.fixture
def member(spark: SparkSession, db: str) -> str:
    create_member(spark, "t", "k BIGINT, v BIGINT", ["k"], 4)
    fill(spark, "t", ROWS, ["k", "v"])
    return f"{db}.g"


@pytest.fixture(params=["hash", "pmod"])
def shadowed(spark: SparkSession, member: str, request: pytest.FixtureRequest) -> Iterator[str]:
    spark.udf.register(request.param, lambda *values: 1, "int")
    spark.conf.set(*FIRST)
    yield member
    spark.sql(f"DROP TEMPORARY FUNCTION session.{request.param}")


@pytest.mark.each_value
@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_refused(spark: SparkSession, shadowed: str, write: str) -> None:
    before = sorted(spark.table("t").collect())
    with pytest.raises(AnalysisException, match=r"Cannot write into a bucketed Delta table.*SET spark.sql.function"):
        spark.sql(WRITES[write])
    assert sorted(spark.table("t").collect()) == before


def test_a_table_is_not_made(spark: SparkSession, shadowed: str) -> None:
    with pytest.raises(AnalysisException, match="DELTA_UDF_IN_GENERATED_COLUMN"):
        spark.sql("CREATE TABLE c USING delta CLUSTERED BY (id) INTO 4 BUCKETS AS SELECT id FROM range(5)")
    assert not spark.catalog.tableExists("c")


def test_reads_and_columns_of_that_name_elsewhere_are_not_refused(spark: SparkSession, member: str) -> None:
    spark.udf.register("other", lambda *values: 1, "int")
    spark.conf.set(*FIRST)
    assert spark.sql("SELECT k % 3 AS _colocate_bucket FROM t WHERE other(k) = 1").count() == 5
    spark.sql("CREATE TABLE plain USING parquet AS SELECT other(k) AS _colocate_bucket FROM t")
    for write in WRITES.values():
        spark.sql(write)
    assert compare(spark, "SELECT k, count(*) FROM t GROUP BY k", member).on.colocated
