"""A driver whose JVM can be killed and replaced while this Python goes on."""

import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from tests.soak.tables import DATABASE
from tests.spark.control import control_planes_of, jvm_pid
from tests.spark.sessions import QUICK_JVM, builder

COMMON: Mapping[str, str] = {
    "spark.sql.catalogImplementation": "hive",  # it outlives the driver
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.colocate.hosts.grace": "4s",
    "spark.colocate.store.timeout": "2s",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}
"""Settings of both drivers."""

OF_PEER: Mapping[str, str] = {"spark.master": "local[1]", "spark.driver.memory": "1g"}

SETTINGS: Mapping[str, str] = {
    "spark.executor.memory": "700m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Executors are killed again and again: a task has to bear it more often than by default.
    "spark.task.maxFailures": "40",
    "spark.stage.maxConsecutiveAttempts": "40",
    "spark.locality.wait": "100ms",
    "spark.network.timeout": "60s",
}


class Driver:
    """One at a time. `session` gives each thread a session of its own."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._settings = {**SETTINGS, **settings}
        self._own = threading.local()
        self._started = 0
        self.spark: SparkSession
        self.start()

    def start(self) -> None:
        self.spark = builder(self._folder, self._settings, jvm=QUICK_JVM).getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")
        self.pid = jvm_pid(self.spark)
        self._started += 1

    def session(self) -> SparkSession:
        """The calling thread's session, in the soak's database."""
        if getattr(self._own, "of", 0) != self._started:
            self._own.session, self._own.of = self.spark.newSession(), self._started
            self._own.session.sql(f"USE {DATABASE}")
        return self._own.session  # type: ignore[no-any-return]

    def control_plane(self) -> int | None:
        """The process id of the control plane, if it runs."""
        found = control_planes_of(self.pid)
        return found[0] if found else None

    def kill(self) -> None:
        """As if the driver's machine were cut. Nobody else may use a session meanwhile."""
        os.kill(self.pid, signal.SIGKILL)
        gateway = SparkContext._gateway
        if gateway is not None:
            gateway.proc.wait(60)  # type: ignore[attr-defined]
        # What PySpark knows of the JVM, so that the next session starts another one.
        SparkContext._active_spark_context = None
        SparkContext._gateway = None
        SparkContext._jvm = None
        SparkSession._instantiatedSession = None
        SparkSession._activeSession = None

    def stop(self) -> None:
        self.spark.stop()
        gateway = SparkContext._gateway
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()  # type: ignore[attr-defined]
            gateway.proc.wait(60)  # type: ignore[attr-defined]
        SparkContext._gateway = None
        SparkContext._jvm = None
