"""A standalone cluster on this machine: a master and workers in processes of their own, on the loopback address."""

import os
import re
import signal
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


class Cluster:
    """A master and its workers. A worker can be killed with its executors, and started again."""

    def __init__(self, folder: Path, hosts: bool) -> None:
        self._folder = folder
        self._hosts = hosts
        self._master: subprocess.Popen[bytes] | None = None
        self._workers: dict[int, subprocess.Popen[bytes]] = {}
        self.address = ""

    def start_master(self) -> None:
        log = self._folder / "master.log"
        self._master = _java(log, "127.0.0.1", MASTER, "--port", "0", "--webui-port", "0")
        self.address = _line(log, r"Starting Spark master at (spark://\S+)")

    def start(self, number: int) -> None:
        """Does not wait for the worker: see `await_registered`."""
        log = self._folder / f"worker{number}.log"
        options = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(self._folder / "work")]
        host = worker_host(number) if self._hosts else "127.0.0.1"
        self._workers[number] = _java(log, host, WORKER, *options, self.address)
        (self._folder / f"worker{number}.pid").write_text(str(self._workers[number].pid))

    def await_registered(self, number: int) -> None:
        _line(self._folder / f"worker{number}.log", r"(Successfully registered) with master")

    def executors(self, number: int) -> list[int]:
        """Process ids of a worker's executors."""
        pid = self._workers[number].pid
        found = Path(f"/proc/{pid}/task").glob("*/children")
        return [int(child) for children in found for child in children.read_text().split()]

    def kill(self, number: int) -> None:
        """The executors first: alone, they would end themselves only after a while."""
        worker = self._workers[number]
        for pid in self.executors(number):
            os.kill(pid, signal.SIGKILL)
        worker.kill()
        worker.wait(SECONDS)

    def stop(self) -> None:
        running = [*self._workers.values(), *([self._master] if self._master else [])]
        for process in running:
            process.terminate()
        for process in running:
            process.wait(SECONDS)


@contextmanager
def cluster_of(folder: Path, workers: int, hosts: bool = True) -> Iterator[Cluster]:
    """As `cluster`, with a hand on its processes."""
    folder.mkdir(parents=True)
    made = Cluster(folder, hosts)
    try:
        made.start_master()
        for number in range(workers):
            made.start(number)
        for number in range(workers):
            made.await_registered(number)
        yield made
    finally:
        made.stop()


@contextmanager
def cluster(folder: Path, workers: int = 2, hosts: bool = False) -> Iterator[str]:
    """The address of a master with `workers` workers of one core each. They end with the block.

    hosts: each worker has an address of its own (`worker_host`), so it is a host of its own to Spark.
    """
    with cluster_of(folder, workers, hosts) as made:
        yield made.address


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
