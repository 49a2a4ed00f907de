"""Delta tables that are adopted, for tests: how a job is started and waited for, and what it leaves behind."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import Row, SparkSession

from tests.spark.members import folder

Rows = list[tuple[Any, ...]]


def adopt(spark: SparkSession, table: str, group: str = "g", keys: str = "k", buckets: int = 4, **more: str) -> Row:
    """The job at its end. keys: with commas. more: further arguments of the call, as SQL."""
    named = {"buckets": str(buckets), "wait": "true", **more}
    listed = ", ".join(f"'{key.strip()}'" for key in keys.split(","))
    tail = "".join(f", {name} => {value}" for name, value in named.items())
    call = f"CALL system.colocate(table => '{table}', group => '{group}', keys => array({listed}){tail})"
    return spark.sql(call).collect()[0]


def rows(spark: SparkSession, table: str, columns: Sequence[str] = ("k", "v")) -> Rows:
    return sorted(tuple(row) for row in spark.table(table).select(*columns).collect())


def job(spark: SparkSession, job_id: int) -> Row:
    return spark.sql(f"SELECT * FROM system.colocation_jobs WHERE job_id = {job_id}").collect()[0]


def sleep(spark: SparkSession, millis: int) -> None:
    spark.sql(f"SELECT java_method('java.lang.Thread', 'sleep', {millis}L)").collect()


def until_over(spark: SparkSession, table: str, seconds: int = 120) -> list[Row]:
    """All jobs on a table, when none of them is open any more."""
    for _ in range(seconds * 5):
        found = spark.sql(f"SELECT * FROM system.colocation_jobs WHERE target = '{table}' ORDER BY job_id").collect()
        if all(one.state in ("done", "failed", "cancelled") for one in found):
            return found
        sleep(spark, 200)
    raise AssertionError(found)


def data_files(spark: SparkSession, table: str) -> set[str]:
    """All files in the table's folder but Delta's log, whether the table has them or not; checksums left out."""
    root = folder(spark, table)
    below = (path.relative_to(root) for path in root.rglob("*") if path.is_file() and not path.name.endswith(".crc"))
    return {str(path) for path in below if path.parts[0] != "_delta_log"}


def live_files(spark: SparkSession, table: str) -> set[str]:
    root = folder(spark, table)
    return {
        str(Path(name.removeprefix("file://").removeprefix("file:")).relative_to(root))
        for name in spark.table(table).inputFiles()
    }


def folders(spark: SparkSession, table: str) -> set[str]:
    """What lies in the table's folder, by name."""
    return {path.name for path in folder(spark, table).iterdir() if not path.name.endswith(".crc")}


@contextmanager
def paused(spark: SparkSession, point: str, start: Any) -> "Iterator[Future[Any]]":
    """While this is open, what `start` does stands still at the point; at the end it goes on."""
    pauses = spark._jvm.org.apache.spark.sql.colocate.testing.Pauses
    pauses.plan(point)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(start)
        try:
            assert pauses.isReached(), running
            yield running
        finally:
            pauses.release()
