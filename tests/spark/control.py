"""The control plane's verbs as the JVM calls them, for tests."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def plane(spark: SparkSession) -> Any:
    return spark._jvm.org.apache.spark.sql.colocate.bridge.ControlPlane


def call(spark: SparkSession, verb: str, **args: Any) -> Any:
    """Runs a verb by way of the JVM. Raises AnalysisException with the control plane's text."""
    jvm = spark._jvm
    pairs = jvm.java.util.ArrayList()
    parse = jvm.org.apache.spark.sql.colocate.Json.parse
    for key, value in args.items():
        pairs.add(jvm.scala.Tuple2(key, parse(json.dumps(value))))
    arguments = jvm.scala.jdk.javaapi.CollectionConverters.asScala(pairs).toSeq()
    answer = plane(spark).call(spark._jsparkSession, verb, arguments)
    return json.loads(jvm.org.apache.spark.sql.colocate.Json.write(answer))


def begin(spark: SparkSession, table: str, group: str = "g", buckets: int = 4, db: str = "default") -> Any:
    keys = [{"name": "k", "type": "int"}]
    given = {"format": "parquet", "keys": keys, "buckets": buckets, "replication": None}
    return call(spark, "begin_create", db=db, table=table, group=group, **given)


def create(spark: SparkSession, table: str, group: str = "g", buckets: int = 4, db: str = "default") -> None:
    """In the registry alone."""
    call(spark, "finish", ticket=begin(spark, table, group, buckets, db)["ticket"], outcome="commit")


def groups(spark: SparkSession) -> list[str]:
    return [row["group_name"] for row in call(spark, "rows", table="colocation_groups")]


def is_stable(spark: SparkSession, group: str) -> bool:
    """As planning sees it: the pushed snapshot, without a call."""
    state = spark._jvm.org.apache.spark.sql.colocate.bridge.GroupState.current()
    return bool(state.byName().apply(group).stable())


def store_file(folder: Path) -> Path:
    return folder / "warehouse" / "_colocate" / "store.sqlite"


def is_running(pid: int) -> bool:
    """Not ended, and not merely waiting for its parent to take note."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def eventually(holds: Callable[[], bool], seconds: float = 10) -> bool:
    """Asks until it holds; False when it never did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


def jvm_pid(spark: SparkSession) -> int:
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


def control_planes_of(pid: int) -> list[int]:
    """The processes of control planes that a JVM has started."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and _is_child(Path("/proc") / entry, pid):
            found.append(int(entry))
    return found


def _is_child(process: Path, parent: int) -> bool:
    try:
        command = (process / "cmdline").read_bytes()
        of = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return of == parent and b"spark_colocate.bridge" in command
