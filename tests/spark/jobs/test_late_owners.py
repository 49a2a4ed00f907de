"""Two drivers in one repair step of a native table: whoever was thought dead, and lives, does nothing more to it.

The late owner is a thread that is held up at some point of the step, while its successor does the same step.
"""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, folder
from tests.spark.strays import drop_in

INTERPRETED = True

POINTS = ["rewrite:written", "rewrite:looked", "rewrite:moved", "rewrite:replaced"]
KEYS = list(range(40))


class Driver:
    """Does the tasks of a repair step as the control plane asks for them. claim: grows with each owner of the job."""

    def __init__(self, spark: SparkSession, db: str, claim: int) -> None:
        self.spark, self.table = spark, {"db": db, "table": "t", "format": "parquet", "token": f"7-{claim}"}
        self.others = self._run("open_rewrite")["ok"]["others"]

    def rewrite(self) -> Any:
        return self._run("rewrite_strays", part="", others=self.others)

    def _run(self, task: str, **args: Any) -> Any:
        tasks = self.spark._jvm.org.apache.spark.sql.colocate.ops.jobs.JobTasks
        text = json.dumps({**self.table, **args})
        return json.loads(tasks.run(self.spark._jsparkSession, task, text, f"job {self.table['token']}"))


@pytest.fixture
def root(session: SparkSession, db: str) -> Path:
    """The folder of a table with two strays, of 20 rows each."""
    create_member(session, "t", "k INT, v BIGINT", ["k"], 4, "parquet")
    session.sql("INSERT INTO t SELECT CAST(id AS INT), id FROM range(100)")
    for name, keys in (("stray-1", KEYS[:20]), ("stray-2", KEYS[20:])):
        drop_in(session, "t", name + ".{ext}", {"k": pa.array(keys, pa.int32()), "v": pa.array(keys, pa.int64())})
    return folder(session, "t")


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark


def _rows(spark: SparkSession) -> list[tuple[int, int]]:
    spark.sql("REFRESH TABLE t")
    return sorted((row.k, row.v) for row in spark.table("t").collect())


RIGHT = sorted([*((n, n) for n in range(100)), *((n, n) for n in KEYS)])


def _late(pool: ThreadPoolExecutor, spark: SparkSession, driver: Driver, point: str) -> "Future[Any]":
    """A driver that has come to the point and stands still there."""
    pauses = spark._jvm.org.apache.spark.sql.colocate.testing.Pauses
    pauses.plan(point)
    running = pool.submit(driver.rewrite)
    assert pauses.isReached()
    return running


@pytest.mark.parametrize("point", POINTS)
def test_what_a_late_owner_does_is_thrown_away(spark: SparkSession, db: str, root: Path, point: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = _late(pool, spark, Driver(spark, db, 1), point)
        assert "ok" in Driver(spark, db, 2).rewrite()
        assert _rows(spark) == RIGHT
        spark._jvm.org.apache.spark.sql.colocate.testing.Pauses.release()
        late = running.result(timeout=120)
    assert "another driver has taken the job over" in late.get("error", {}).get("message", ""), late
    assert _rows(spark) == RIGHT
    assert not list(root.glob("stray*"))
    assert not list(root.glob("_colocate/rewrite-*"))


@pytest.mark.parametrize("point", ["rewrite:written", "rewrite:looked"])
def test_rows_of_a_table_that_was_overwritten_meanwhile_do_not_come_back(
    spark: SparkSession, db: str, root: Path, point: str
) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = _late(pool, spark, Driver(spark, db, 1), point)
        assert "ok" in Driver(spark, db, 2).rewrite()
        spark.sql("INSERT OVERWRITE t VALUES (1, 1)")
        spark._jvm.org.apache.spark.sql.colocate.testing.Pauses.release()
        assert "error" in running.result(timeout=120)
    assert _rows(spark) == [(1, 1)]


def test_a_successor_that_ends_too_is_succeeded(spark: SparkSession, db: str, root: Path) -> None:
    """The third one finishes what the first has begun to move, from the folder of the second."""
    with ThreadPoolExecutor(2) as pool:
        first = _late(pool, spark, Driver(spark, db, 1), "rewrite:moved")
        second = _late(pool, spark, Driver(spark, db, 2), "rewrite:looked")
        assert "ok" in Driver(spark, db, 3).rewrite()
        assert _rows(spark) == RIGHT
        spark._jvm.org.apache.spark.sql.colocate.testing.Pauses.release()
        assert "error" in first.result(timeout=120) and "error" in second.result(timeout=120)
    assert _rows(spark) == RIGHT
