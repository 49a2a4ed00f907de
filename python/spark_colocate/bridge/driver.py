"""The JVM of a PySpark driver in this process: its jars, and its verdicts on a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyspark import SparkContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def has_driver() -> bool:
    """True where settings come too late to bring jars: PySpark started a JVM, or spark-submit started this Python."""
    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def is_running() -> bool:
    """True where this process has a session; `refuse_other_drivers` says whether it is one of ours."""
    return SparkContext._active_spark_context is not None


def refuse_other_drivers(remote: str | None, extension: str) -> None:
    """Raises RuntimeError where the settings would be ignored without a word."""
    url = remote or os.environ.get("SPARK_REMOTE", "")
    if url.startswith("sc://"):
        raise RuntimeError(
            f"configure() sets up a driver, and this builder is a client of the Spark Connect server {url}. "
            "Give the settings to that server (docs/how-to/servers.md), and use the builder as it is."
        )
    running = SparkContext._active_spark_context
    if running is not None and extension not in running.getConf().get("spark.sql.extensions", "").split(","):
        raise RuntimeError(
            "A Spark session without colocation runs in this process, and its extensions can't be changed any more. "
            "Call `spark.stop()` before configure(), or start it with the settings of docs/quickstart.md."
        )


def add_to_driver(jars: Iterable[str]) -> None:
    """Puts jars into the driver's class loader for users' jars, once each. Executors get them when a session starts."""
    jvm = _jvm()
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    present = {url.toString() for url in loader.getURLs()}
    for jar in jars:
        url = jvm.java.io.File(jar).toURI().toURL()
        if url.toString() not in present:
            loader.addURL(url)


def resolve(package: str, excludes: Iterable[str]) -> list[str]:
    """The jars of a Maven package and of what it needs, fetched by Spark's own resolution in the running JVM."""
    jvm = _jvm()
    uri = jvm.java.net.URI.create(f"ivy://{package}?transitive=true&exclude={','.join(excludes)}")
    found = jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(uri)
    return [found.apply(index) for index in range(found.size())]


def verdicts_json(frame: DataFrame) -> str:
    """The planner's verdicts on a classic (not Connect) DataFrame, as a JSON array."""
    jvm: Any = frame.sparkSession._jvm
    return str(jvm.org.apache.spark.sql.colocate.explain.Verdicts.json(frame._jdf.queryExecution()))


def verdicts_json_of(spark: SparkSession, query: str) -> str:
    """The verdicts on a statement that is planned and not run, as EXPLAIN does it."""
    jvm: Any = spark._jvm
    state = spark._jsparkSession.sessionState()
    skipped = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    execution = state.executePlan(state.sqlParser().parsePlan(query), skipped)
    return str(jvm.org.apache.spark.sql.colocate.explain.Verdicts.json(execution))


def _jvm() -> Any:
    SparkContext._ensure_initialized()
    return SparkContext._jvm
