"""A wrong statement on a bucketed table fails as it does on the same table without buckets."""

import re
from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

INTERPRETED = True

COLUMNS = "(id BIGINT, v INT, list ARRAY<INT>, part STRUCT<x: INT>)"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    """Empty tables `buckets.t` and `regular.t`: names of one length, since errors tell positions."""
    for database, buckets in (("buckets", "CLUSTERED BY (id) INTO 4 BUCKETS"), ("regular", "")):
        spark.sql(f"CREATE DATABASE {database}")
        spark.sql(f"CREATE TABLE {database}.t {COLUMNS} USING delta {buckets}")
    yield "buckets"
    for database in ("buckets", "regular"):
        spark.sql(f"DROP DATABASE {database} CASCADE")


WRONG = [
    "UPDATE {t} SET nope = 1",
    "UPDATE {t} SET v = nope",
    "UPDATE {t} SET v = 1 WHERE nope = 1",
    "UPDATE {t} AS x SET x.nope = 1",
    "UPDATE {t} SET part.nope = 1",
    "UPDATE {t} SET list = map('key', 'val')",
    "DELETE FROM {t} WHERE nope = 1",
    "DESC {t} nope",
    "DELETE FROM {t} WHERE list.nope = 1",
    "INSERT INTO {t} (id, nope) VALUES (1, 2)",
    "INSERT INTO {t} (id, id) VALUES (1, 2)",
    "INSERT OVERWRITE {t} (id, nope) VALUES (1, 2)",
    "ALTER TABLE {t} ADD COLUMN (v INT)",
    "ALTER TABLE {t} DROP COLUMN nope",
    "ALTER TABLE {t} RENAME COLUMN nope TO other",
    "ALTER TABLE {t} ALTER COLUMN nope TYPE BIGINT",
    "ALTER TABLE {t} ALTER COLUMN nope COMMENT 'x'",
    "ALTER TABLE {t} ADD COLUMN (part.x INT)",
    "MERGE INTO {t} t USING {t} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET list = map('key', 'val')",
    "MERGE INTO {t} t USING {t} s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (list) VALUES (map('key', 'val'))",
]


@pytest.mark.parametrize("statement", WRONG)
@pytest.mark.every(3)
def test_the_error_is_the_one_without_buckets(spark: SparkSession, tables: str, statement: str) -> None:
    bucketed, plain = (_error(spark, statement, database) for database in (tables, "regular"))
    assert bucketed == plain


def _error(spark: SparkSession, statement: str, database: str) -> tuple[str, str]:
    """Condition and first line, without what the two tables differ in: the database and Spark's numbers."""
    with pytest.raises(PySparkException) as caught:
        spark.sql(statement.format(t=f"{database}.t"))
    line = str(caught.value).strip().splitlines()[0]
    (condition,) = re.findall(r"^\[([A-Z_.]+)\]", line)  # PySpark does not know the conditions of Delta's errors
    return condition, re.sub(r"#\d+", "#", line.replace(database, "db").rstrip(";"))


RIGHT = [
    "UPDATE {t} SET v = _colocate_bucket WHERE _colocate_bucket = 1",
    "UPDATE {t} SET v = CAST('1' AS INT), part.x = 2",
    "DELETE FROM {t} WHERE _colocate_bucket = 2",
    "INSERT INTO {t} (id) VALUES (1)",
    "INSERT INTO {t} (v, id) SELECT 1, 2",
    "MERGE INTO {t} t USING {t} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT *",
    "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1L AS id, named_struct('y', 2, 'x', 1) AS part) s "
    "ON t.id = s.id WHEN MATCHED THEN UPDATE SET part = s.part",
]


@pytest.mark.parametrize("statement", RIGHT)
@pytest.mark.every(2)
def test_a_right_statement_runs(spark: SparkSession, tables: str, statement: str) -> None:
    spark.sql(statement.format(t=f"{tables}.t"))


MAPS = [
    "UPDATE {t} SET m = map('2024-01-01', 1)",
    "MERGE INTO {t} t USING (SELECT 1L AS id, map('2024-01-02', 2) AS m) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET m = s.m WHEN NOT MATCHED THEN INSERT (id, m) VALUES (s.id, s.m)",
]


@pytest.mark.parametrize("statement", MAPS)
def test_a_map_that_only_delta_can_cast_is_written(spark: SparkSession, db: str, statement: str) -> None:
    """Without ANSI, Spark casts no map whose keys might become null; Delta casts the entries."""
    spark.conf.set("spark.sql.ansi.enabled", "false")
    rows = []
    for name, buckets in (("b", "CLUSTERED BY (id) INTO 4 BUCKETS"), ("p", "")):
        spark.sql(f"CREATE TABLE {name} (id BIGINT, m MAP<DATE, INT>) USING delta {buckets}")
        spark.sql(f"INSERT INTO {name} VALUES (1, map(DATE '2020-01-01', 0))")
        spark.sql(statement.format(t=name))
        rows.append(spark.table(name).collect())
    assert rows[0] == rows[1]
    assert rows[0][0].m != {}
