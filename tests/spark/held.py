"""A statement that waits in the midst of its work, while a test does something else."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

TIMEOUT = 60


def until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not reached():
        assert time.monotonic() < end, "this should have come about by now"
        time.sleep(0.02)


@contextmanager
def held(spark: SparkSession, statement: str, at: int, folder: Path) -> Iterator[None]:
    """Runs `statement` in another thread. Its function held(BIGINT), the identity, waits at `at` until the block ends.

    Then the statement ends too; its error comes out here.
    """
    reached, go = str(folder / "reached"), str(folder / "go")

    limit = TIMEOUT * 50

    def wait(value: int) -> int:
        if value == at:
            Path(reached).touch()
            for _ in range(limit):  # not `until`: a worker of Spark's cannot import this module
                if Path(go).exists():
                    break
                time.sleep(0.02)
        return value

    spark.udf.register("held", wait, "BIGINT")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(spark.sql, statement)
        try:
            until(lambda: Path(reached).exists() or running.done())
            yield
        finally:
            Path(go).touch()
        running.result()
