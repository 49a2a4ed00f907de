"""One journal of changes, on a member, on a member switched off or a plain Delta table, and in DuckDB: equal rows."""

import re
from collections import Counter
from typing import Any

import duckdb
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.dml import BUCKETS, SWITCH, Member

AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
UPDATE = "WHEN MATCHED THEN UPDATE SET v = s.v"
INSERT = "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"

JOURNAL = [
    f"MERGE INTO t USING s ON t.k = s.k {UPDATE} {INSERT}",
    f"MERGE INTO t USING foreign_rows s ON t.k = s.k AND s.k % 2 = 0 {UPDATE} {INSERT}",
    "MERGE INTO t USING s ON t.k = s.k AND t.k > 30 WHEN MATCHED AND s.k % 2 = 0 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET k = t.k + 1000, v = 'moved' "
    "WHEN NOT MATCHED BY SOURCE AND t.k % 10 = 1 THEN UPDATE SET k = -t.k "
    "WHEN NOT MATCHED BY SOURCE AND t.k % 10 = 2 THEN DELETE",
    f"MERGE INTO t USING (SELECT * FROM s WHERE k < 60) s ON t.k IS NOT DISTINCT FROM s.k {INSERT}",
    "MERGE INTO t USING (SELECT k + 2 AS k, max(v) AS v FROM t WHERE k > 0 GROUP BY k) s "
    f"ON t.k = s.k AND t.k % 3 = 0 {UPDATE}",
    "UPDATE t SET k = k + 1, v = concat(v, '+') WHERE k % 4 = 1",
    "UPDATE t SET v = 'none' WHERE k IS NULL",
    f"MERGE INTO t USING s ON t.v = s.v {INSERT}",
    "DELETE FROM t WHERE k % 7 = 3",
    f"MERGE INTO t USING (SELECT max(v) AS v, k FROM twice GROUP BY k) s ON t.k = s.k {UPDATE}",
    "MERGE INTO t USING twice s ON t.k = s.k WHEN MATCHED THEN DELETE",
    "INSERT INTO t SELECT s.k, twice.v FROM s JOIN twice ON s.k = twice.k",
]
AMBIGUOUS_CHANGES = [
    f"MERGE INTO t USING twice s ON t.k = s.k {UPDATE} {INSERT}",
    f"MERGE INTO t USING twice s ON t.k = s.k AND s.k > 100 {UPDATE} WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "MERGE INTO t USING foreign_twice s ON t.k = s.k WHEN MATCHED AND t.k % 3 = 0 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
]


def sources(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """`twice` has each key in two files of its bucket; null keys in `s`; tables that are no members."""
    Member("s", rows="CASE WHEN id % 13 > 0 THEN id * 3 END, concat('s', id)", count=150).create(spark)
    Member("foreign_rows", rows="id * 5, concat('f', id)", count=100, clustered=False).create(spark)
    Member("twice", rows="id + 90, 'a'", count=120).create(spark)
    spark.sql("INSERT INTO twice SELECT id + 90, 'b' FROM range(120)")
    Member("foreign_twice", rows="id % 100 + 90, concat('f', id)", count=200, clustered=False).create(spark)
    for name in ("s", "foreign_rows", "twice"):
        duck_table(duck, name, spark.table(name).collect())


def duck_table(duck: duckdb.DuckDBPyConnection, name: str, rows: list[Any]) -> None:
    duck.execute(f"CREATE TABLE {name} (k BIGINT, v VARCHAR)")
    duck.executemany(f"INSERT INTO {name} VALUES (?, ?)", [tuple(row) for row in rows])


def run(spark: SparkSession, target: str, statement: str) -> str | None:
    """The error's condition, if the change failed."""
    spark.conf.set(SWITCH, str(target == "switched").lower())
    named = re.sub(r"\b(MERGE INTO|UPDATE|FROM) t\b", rf"\1 {target} AS t", statement)
    named = named.replace("INSERT INTO t ", f"INSERT INTO {target} ")
    try:
        spark.sql(named).collect()
    except PySparkException as raised:
        return raised.getCondition() or str(raised)
    finally:
        spark.conf.set(SWITCH, "false")
    return None


def rows(spark: SparkSession, target: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in spark.table(target).collect())


# Each way takes every other change: all of them on both ways cost minutes.
WAYS = [
    (False, "true", "plain", 0),
    pytest.param(True, "false", "switched", 1, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("vectors", "adaptive", "other", "first"), WAYS)
def test_every_change_leaves_equal_rows(
    spark: SparkSession, db: str, vectors: bool, adaptive: str, other: str, first: int
) -> None:
    targets = ("t", other)
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    start = "CASE WHEN id % 9 > 0 THEN id END, concat('v', id)"
    with duckdb.connect() as duck:
        sources(spark, duck)
        for target in targets:
            Member(target, rows=start, vectors=vectors, clustered=target != "plain").create(spark)
        duck_table(duck, "t", spark.table("t").collect())
        for statement in AMBIGUOUS_CHANGES[first::2]:
            assert [run(spark, target, statement) for target in targets] == [AMBIGUOUS] * 2, statement
        for statement in JOURNAL[first::2]:
            assert [run(spark, target, statement) for target in targets] == [None] * 2, statement
            duck.execute(statement)
            expected = Counter(duck.execute("SELECT k, v FROM t").fetchall())
            for target in targets:
                found = rows(spark, target)
                assert found == expected, f"{target} after {statement}: {found - expected} {expected - found}"
        misplaced = spark.sql(f"SELECT count(*) FROM t WHERE _colocate_bucket <> pmod(hash(k), {BUCKETS})").collect()
        assert misplaced[0][0] == 0
