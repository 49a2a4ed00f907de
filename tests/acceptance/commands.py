"""Runs a module of the benchmarks as `run` does, in a session that is quick with tiny tables."""

import os
import subprocess
import sys
from pathlib import Path

from tests.spark.sessions import QUICK_JVM, ROOT


def run(folder: Path, *arguments: str) -> str:
    """What `python -m <arguments>` prints; it must end well. folder: for Spark's defaults of this run."""
    conf = folder / "conf"
    conf.mkdir()
    # Delta's 50 tasks for the log of each table are most of the time otherwise.
    (conf / "spark-defaults.conf").write_text("spark.databricks.delta.snapshotPartitions 1\n")
    environment = {**os.environ, "SPARK_CONF_DIR": str(conf), "JDK_JAVA_OPTIONS": QUICK_JVM}
    command = [sys.executable, "-m", *arguments]
    # Sooner than pytest's own limit, which would not say which command it was.
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-5000:]
    return done.stdout
