"""UPDATE, DELETE and MERGE of members through temporary views and aliases, as Delta takes them of its tables."""

import pytest
from pyspark.sql import DataFrame, SparkSession

MEMBER = "USING delta CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
CHANGES = (
    "UPDATE {shown} SET v = v + 100 WHERE k < 3",
    "DELETE FROM {shown} WHERE k = 5",
    "MERGE INTO {shown} x USING s ON x.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
)


@pytest.fixture
def tables(spark: SparkSession, db: str) -> str:
    """t and s, members; p, a plain table with the rows of t."""
    for name in ("t", "s"):
        spark.sql(f"CREATE TABLE {name} (k INT, v INT) {MEMBER}")
    spark.sql("CREATE TABLE p (k INT, v INT) USING delta")
    for name in ("t", "p"):
        spark.sql(f"INSERT INTO {name} SELECT cast(id AS INT), cast(id AS INT) FROM range(10)")
    spark.sql("INSERT INTO s SELECT cast(id AS INT), -1 FROM range(8, 12)")
    return db


def rows(frame: DataFrame) -> list[tuple[int, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@pytest.mark.parametrize("statement", CHANGES, ids=["UPDATE", "DELETE", "MERGE"])
def test_a_change_through_a_view_is_one_of_its_table(spark: SparkSession, tables: str, statement: str) -> None:
    for name in ("t", "p"):
        spark.sql(f"CREATE TEMPORARY VIEW shown_{name} AS SELECT * FROM {tables}.{name}")
        spark.sql(statement.format(shown=f"shown_{name}"))
    assert rows(spark.table("t")) == rows(spark.table("p"))
    assert rows(spark.table("shown_t")) == rows(spark.table("t"))


def test_a_member_is_a_source_that_does_not_change(spark: SparkSession, tables: str) -> None:
    """Delta keeps the rows of any other source before it reads them twice."""
    spark.sql(CHANGES[2].format(shown="t"))
    told = spark.sql("DESCRIBE HISTORY t LIMIT 1").collect()[0]["operationMetrics"]
    assert int(told["materializeSourceTimeMs"]) == 0
    spark.sql(CHANGES[2].format(shown="t").replace("USING s", "USING (SELECT k, max(v) AS v FROM s GROUP BY k) s"))
    told = spark.sql("DESCRIBE HISTORY t LIMIT 1").collect()[0]["operationMetrics"]
    assert int(told["materializeSourceTimeMs"]) > 0
