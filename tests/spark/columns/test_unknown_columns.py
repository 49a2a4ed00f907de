"""A column that does not resolve: no statement suggests, lists or shows a hidden column in its error."""

from collections.abc import Callable, Iterable, Iterator

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.spark.members import folder

INTERPRETED = True

COLUMNS = "id BIGINT, v INT, list ARRAY<INT>, part STRUCT<x: INT>, d DATE"
RANGES = "PARTITION BY RANGE (d) (PARTITION p1 VALUES LESS THAN ('2020-01-01'), PARTITION p2 VALUES LESS THAN MAXVALUE)"
GROUP = "TBLPROPERTIES ('colocate_with' = 'g')"

TABLES = {
    "buckets": f"CREATE TABLE t ({COLUMNS}) USING delta CLUSTERED BY (id) INTO 4 BUCKETS {GROUP}",
    "ranges": (
        f"CREATE TABLE t (d DATE, {COLUMNS.removesuffix(', d DATE')}) {RANGES} DISTRIBUTED BY HASH(id) BUCKETS 4 "
        "PROPERTIES ('colocate_with' = 'g')"
    ),
    "mapped": (
        f"CREATE TABLE t ({COLUMNS}) USING delta CLUSTERED BY (id) INTO 4 BUCKETS "
        "TBLPROPERTIES ('colocate_with' = 'g', 'delta.columnMapping.mode' = 'name')"
    ),
    "parquet": f"CREATE TABLE t ({COLUMNS}) USING parquet CLUSTERED BY (id) INTO 4 BUCKETS {GROUP}",
}

MERGE = "MERGE INTO t USING s ON t.id = s.id WHEN"

STATEMENTS = [
    "ALTER TABLE t DROP COLUMN zzz",
    "ALTER TABLE t DROP COLUMNS (zzz, v)",
    "ALTER TABLE t DROP COLUMN part.zzz",
    "ALTER TABLE t RENAME COLUMN zzz TO other",
    "ALTER TABLE t RENAME COLUMN v TO id",
    "ALTER TABLE t ALTER COLUMN zzz TYPE BIGINT",
    "ALTER TABLE t ALTER COLUMN zzz COMMENT 'x'",
    "ALTER TABLE t ALTER COLUMN zzz SET NOT NULL",
    "ALTER TABLE t ALTER COLUMN zzz SET DEFAULT 1",
    "ALTER TABLE t ALTER COLUMN zzz FIRST",
    "ALTER TABLE t ALTER COLUMN v AFTER zzz",
    "ALTER TABLE t CHANGE COLUMN zzz zzz BIGINT",
    "ALTER TABLE t CHANGE COLUMN v v INT AFTER zzz",
    "ALTER TABLE t ADD COLUMN new INT AFTER zzz",
    "ALTER TABLE t ADD COLUMN zzz.y INT",
    "ALTER TABLE t ADD CONSTRAINT c CHECK (zzz > 0)",
    "ALTER TABLE t DROP PARTITION (zzz = 1)",
    "ALTER TABLE delta.`{path}` DROP COLUMN zzz",
    "COMMENT ON COLUMN t.zzz IS 'x'",
    "UPDATE t SET zzz = 1",
    "UPDATE t SET v = zzz",
    "UPDATE t SET v = 1 WHERE id IN (SELECT zzz FROM t)",
    "UPDATE t SET v = 1 WHERE EXISTS (SELECT 1 FROM s WHERE s.q = t.zzz)",
    "UPDATE delta.`{path}` SET zzz = 1",
    "DELETE FROM t WHERE zzz = 1",
    "DELETE FROM t WHERE id IN (SELECT zzz FROM t)",
    f"{MERGE} MATCHED THEN UPDATE SET zzz = 1",
    f"{MERGE} MATCHED THEN UPDATE SET v = zzz",
    f"{MERGE} MATCHED AND t.zzz = 1 THEN DELETE",
    f"{MERGE} NOT MATCHED THEN INSERT (id, zzz) VALUES (1, 2)",
    f"{MERGE} NOT MATCHED BY SOURCE AND zzz = 1 THEN DELETE",
    "MERGE INTO t USING s ON t.zzz = s.id WHEN MATCHED THEN DELETE",
    "MERGE INTO t USING (SELECT zzz FROM t) s ON true WHEN MATCHED THEN DELETE",
    "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET zzz = 1",
    "INSERT INTO t (id, zzz) VALUES (1, 2)",
    "INSERT INTO t BY NAME SELECT 1L AS id, 2 AS zzz",
    "INSERT INTO t SELECT zzz FROM t",
    "INSERT OVERWRITE t (id, zzz) VALUES (1, 2)",
    "INSERT INTO t PARTITION (zzz = 1) VALUES (1)",
    "INSERT INTO t REPLACE WHERE zzz = 1 SELECT * FROM t",
    "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS zzz",
    "DESCRIBE t zzz",
    "DESCRIBE t PARTITION (zzz = 1)",
    "SHOW PARTITIONS t PARTITION (zzz = 1)",
    "SELECT zzz FROM t",
    "SELECT zzz.* FROM t",
    "SELECT x.zzz FROM t AS x",
    "SELECT sum(v) OVER (PARTITION BY zzz) FROM t",
    "SELECT * FROM t a JOIN t b ON a.id = b.zzz",
    "SELECT * FROM t JOIN s USING (q)",
    "SELECT (SELECT zzz FROM t)",
    "SELECT * FROM s WHERE EXISTS (SELECT 1 FROM t WHERE t.zzz = s.id)",
    "SELECT * FROM t, LATERAL (SELECT zzz)",
    "SELECT id FROM t GROUP BY v",
    "SELECT * FROM t UNION ALL SELECT * FROM s",
    "SELECT * FROM t PIVOT (sum(zzz) FOR v IN (1))",
    "WITH c AS (SELECT * FROM t) SELECT zzz FROM c",
    "SELECT zzz FROM view_of_t",
    "FROM t |> EXTEND zzz AS y",
    "CREATE TABLE copy AS SELECT zzz FROM t",
    "CREATE VIEW other AS SELECT zzz FROM t",
    "OPTIMIZE t WHERE zzz = 1",
    "OPTIMIZE t ZORDER BY (zzz)",
]


def _row(df: DataFrame) -> DataFrame:
    return df.sparkSession.sql("SELECT 1L AS id, 2 AS zzz")


FRAMES: dict[str, Callable[[DataFrame, str], object]] = {
    "df[]": lambda df, _: df["zzz"],
    "select": lambda df, _: df.select("zzz"),
    "where": lambda df, _: df.where("zzz = 1"),
    "groupBy": lambda df, _: df.groupBy("zzz").count(),
    "sum": lambda df, _: df.groupBy("id").sum("zzz"),
    "withColumn": lambda df, _: df.withColumn("a", F.col("zzz")),
    "join": lambda df, _: df.join(df.sparkSession.table("s"), "zzz"),
    "dropDuplicates": lambda df, _: df.dropDuplicates(["zzz"]),
    "fill": lambda df, _: df.na.fill(0, ["zzz"]),
    "describe": lambda df, _: df.describe("zzz"),
    "unpivot": lambda df, _: df.unpivot(["id"], ["zzz"], "a", "b"),
    "unionByName": lambda df, _: df.unionByName(df.sparkSession.table("s")),
    "saveAsTable": lambda df, kind: _row(df).write.format(kind).mode("append").saveAsTable("t"),
    "overwrite": lambda df, kind: _row(df).write.format(kind).mode("overwrite").saveAsTable("t"),
    "writeTo": lambda df, _: _row(df).writeTo("t").append(),
    "insertInto": lambda df, _: _row(df).write.insertInto("t"),
}


@pytest.fixture(scope="module")
def table(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"unknown_{request.param}"
    spark.sql(f"CREATE DATABASE {name}")
    spark.sql(f"USE {name}")
    spark.sql(TABLES[request.param])
    spark.sql("CREATE TABLE s (id BIGINT, v INT, q INT) USING parquet")
    spark.sql("CREATE VIEW view_of_t AS SELECT * FROM t")
    yield request.param
    spark.sql("USE default")
    spark.sql(f"DROP DATABASE {name} CASCADE")


def _cases(things: Iterable[str], of_delta: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Each table with each statement, or way of writing, that it can have."""
    return [(table, thing) for table in TABLES for thing in things if table != "parquet" or not of_delta(thing)]


def _is_of_delta(statement: str) -> bool:
    """Spark has the statement for Delta tables alone, and keeps no constraint of a Parquet table."""
    first, *_ = statement.split()
    return first in ("UPDATE", "DELETE", "MERGE", "OPTIMIZE") or "delta." in statement or "CONSTRAINT" in statement


@pytest.mark.every(3)
@pytest.mark.each_value
@pytest.mark.parametrize(("table", "statement"), _cases(STATEMENTS, _is_of_delta), indirect=["table"])
def test_no_statement_names_a_hidden_column(spark: SparkSession, table: str, statement: str) -> None:
    spark.sql(f"USE unknown_{table}")
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:  # PySpark knows no condition of Delta's
        spark.sql(statement.format(path=folder(spark, "t"))).collect()
    assert "_colocate" not in str(caught.value)


# Spark's writeTo takes no native table, and an overwrite replaces it.
OF_DELTA = ("writeTo", "overwrite")


@pytest.mark.each_value
@pytest.mark.parametrize(("table", "way"), _cases(FRAMES, OF_DELTA.__contains__), indirect=["table"])
def test_no_frame_names_a_hidden_column(spark: SparkSession, table: str, way: str) -> None:
    spark.sql(f"USE unknown_{table}")
    with pytest.raises(Exception, match=r"\[[A-Z_]+|column") as caught:
        FRAMES[way](spark.table("t"), "parquet" if table == "parquet" else "delta")
    assert "_colocate" not in str(caught.value)


# Spark asks no native table when files are written into its folder.
@pytest.mark.parametrize("table", [name for name in TABLES if name != "parquet"], indirect=True)
def test_a_path_takes_no_unknown_column(spark: SparkSession, table: str) -> None:
    spark.sql(f"USE unknown_{table}")
    with pytest.raises(
        PySparkException, match=r"\[COLUMN_UNKNOWN\] Cannot write zzz into .*it has the columns"
    ) as caught:
        _row(spark.table("t")).write.format("delta").mode("append").save(str(folder(spark, "t")))
    assert "_colocate" not in str(caught.value)
