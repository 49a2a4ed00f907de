"""A standalone cluster on this machine: a master and workers in processes of their own, on the loopback address."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
SECONDS = 60


@contextmanager
def cluster(folder: Path, workers: int = 2, hosts: bool = False) -> Iterator[str]:
    """The address of a master with `workers` workers of one core each. They end with the block.

    hosts: each worker has an address of its own (`worker_host`), so it is a host of its own to Spark.
    """
    folder.mkdir(parents=True)
    started: list[subprocess.Popen[bytes]] = []
    try:
        started.append(_java(folder / "master.log", "127.0.0.1", MASTER, "--port", "0", "--webui-port", "0"))
        address = _line(folder / "master.log", r"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            log = folder / f"worker{number}.log"
            options = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / "work")]
            host = worker_host(number) if hosts else "127.0.0.1"
            started.append(_java(log, host, WORKER, *options, address))
            (folder / f"worker{number}.pid").write_text(str(started[-1].pid))
        for number in range(workers):
            _line(folder / f"worker{number}.log", r"(Successfully registered) with master")
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(SECONDS)


def worker_host(number: int) -> str:
    """Linux answers to all of 127.0.0.0/8."""
    return f"127.0.0.{number + 11}"


def _java(log: Path, host: str, name: str, *options: str) -> subprocess.Popen[bytes]:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    command = [str(java), "-Xmx256m", "-cp", f"{HOME / 'jars'}/*", name, "--host", host, *options]
    # What Spark's own start scripts would find out: executors are started with both.
    found = {"SPARK_HOME": str(HOME), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": host}
    with log.open("wb") as out:
        return subprocess.Popen(command, env={**os.environ, **found}, stdout=out, stderr=out, cwd=log.parent)


def _line(log: Path, pattern: str) -> str:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text()):
            return found.group(1)
        time.sleep(0.1)
    raise AssertionError(f"{log.name} did not say {pattern} in {SECONDS} s:\n{log.read_text()[-2000:]}")
