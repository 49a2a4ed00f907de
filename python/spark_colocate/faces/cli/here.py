"""A session of this command that runs one job."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from spark_colocate.faces.cli import worker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def here(conf: list[str] | None, store: str | None) -> Iterator[SparkSession]:
    """While this is open, the session's control plane looks for jobs; if it has ended, it is started again."""
    signal.signal(signal.SIGTERM, _as_exit)
    closed = threading.Event()
    with worker.looking(conf, store) as spark:
        threading.Thread(target=_keep, args=(spark, closed), daemon=True).start()
        try:
            yield spark
        finally:
            closed.set()


def _as_exit(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def _keep(spark: SparkSession, closed: threading.Event) -> None:
    """Runs in a thread of its own, so that the command can end in time though the JVM does not answer."""
    while not closed.wait(worker.LOOK_SECONDS):
        with suppress(Exception):
            worker.look(spark)
