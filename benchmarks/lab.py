"""The session in which engines are compared, and what has to be written down about it."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from spark_colocate.session import CATALOG, DELTA_EXTENSION, EXTENSION, configure

from benchmarks.data import ROOT
from benchmarks.engines import Engine, Layout
from benchmarks.measure import Measured, measure


@contextmanager
def session(
    memory: str, cores: int, stock: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A fresh local session with an empty warehouse in a folder of its own under build, which goes with it.

    stock: Delta's extension and catalog alone, though the same jars.
    settings: instead of the session's own, such as the master of a cluster.
    """
    (ROOT / "build").mkdir(exist_ok=True)
    with TemporaryDirectory(dir=ROOT / "build", prefix="lab-", ignore_cleanup_errors=True) as folder:
        spark = _started(Path(folder), memory, cores, {**(STOCK if stock else {}), **(settings or {})})
        try:
            yield spark
        finally:
            spark.stop()


CATALOG_KEY = "spark.sql.catalog.spark_catalog"
SNAPSHOTS = "spark.databricks.delta.snapshotPartitions"
STOCK = {"spark.sql.extensions": DELTA_EXTENSION, CATALOG_KEY: "org.apache.spark.sql.delta.catalog.DeltaCatalog"}


def _started(folder: Path, memory: str, cores: int, instead: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder.master(f"local[{cores}]").appName("benchmark")
    settings = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        SNAPSHOTS: "1",  # all logs are short; 50 tasks for each would outlast the data
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{ROOT / 'conf' / 'log4j2.properties'}",
        "spark.log.level": "ERROR",
        "spark.colocate.python": sys.executable,
    }
    for key, value in settings.items():
        builder.config(key, value)
    builder = configure(builder)
    for key, value in instead.items():
        builder.config(key, value)
    return builder.getOrCreate()


def extended(stock: SparkSession) -> SparkSession:
    """A second session in the JVM of a stock one, with our extension and catalog and with tables of its own."""
    stock.sql("SELECT 1").collect()  # makes its state, which copies the settings, before they change
    java: Any = stock.sparkContext._jsc.sc()
    java.conf().set("spark.sql.extensions", f"{EXTENSION},{DELTA_EXTENSION}").set(CATALOG_KEY, CATALOG)
    sessions: Any = stock.sparkContext._jvm
    return SparkSession(stock.sparkContext, sessions.org.apache.spark.sql.classic.SparkSession(java, {}))


def load(spark: SparkSession, engine: Engine, table: str, source: Path, layout: Layout) -> Measured:
    """Makes and fills one table, timed to the last byte on disk."""
    if not spark.catalog.databaseExists(engine.tables):
        spark.sql(f"CREATE DATABASE {engine.tables}")
    spark.sql(f"DROP TABLE IF EXISTS {engine.tables}.{table}")
    measured = measure(spark, engine.create(table, f"parquet.`{source}`", layout))
    os.sync()
    return measured


@contextmanager
def using(spark: SparkSession, engine: Engine) -> Iterator[None]:
    """The engine's database and settings, for the length of a block."""
    spark.sql(f"USE {engine.tables}")
    before = {key: spark.conf.get(key, None) for key in engine.settings}
    for key, value in engine.settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description:<46}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), transient=False
    )


def circumstances(spark: SparkSession) -> dict[str, Any]:
    """What a reader must know to compare two results."""
    system = spark._jvm.System  # type: ignore[union-attr]
    kept = ("spark.master", "spark.driver.memory", "spark.sql.extensions", "spark.sql.shuffle.partitions", SNAPSHOTS)
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain")),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": platform.platform(),
            "load_average": os.getloadavg(),
        },
        "java": str(system.getProperty("java.runtime.version")),
        "spark": spark.version,
        "settings": {key: spark.conf.get(key, None) for key in kept},
    }


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if not info.is_file():
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()
