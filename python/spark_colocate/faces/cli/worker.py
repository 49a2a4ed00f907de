"""`colocate worker`: a session of Spark that only runs jobs."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spark_colocate.faces.cli.options import StoreUrl
from spark_colocate.faces.cli.spark import Conf, check, session, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOK_SECONDS = 30.0
"""How often the worker checks that the session's control plane lives, which looks for jobs every second."""


def worker(conf: Conf = None, store: StoreUrl = None) -> None:
    """Do the jobs of a catalog until stopped.

    In a session of its own, so that no user's driver has to."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with looking(conf, store) as spark:
        print("The worker looks for jobs.", file=sys.stderr, flush=True)
        while not stopped.wait(LOOK_SECONDS):
            check(spark)
            look(spark)


@contextmanager
def looking(conf: list[str] | None, store: str | None) -> Iterator[SparkSession]:
    """A session whose control plane looks for jobs."""
    with session(conf, store) as spark:
        look(spark)
        yield spark


def look(spark: SparkSession) -> None:
    """Starts the control plane if it does not run."""
    with spark_errors("the list of jobs"):
        spark.sql("SELECT job_id FROM system.colocation_jobs").collect()
