"""A standalone cluster: a master on the driver's host, one worker on each of the others."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from tools.cluster.network import Host, Network, network

SPARK_HOME = Path(pyspark.__file__).parent
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
PORT = 7077
START_SECONDS = 60
END_SECONDS = 30


@dataclass
class Cluster:
    """folder: logs, and the work folders of executors."""

    network: Network
    folder: Path
    cores: int
    memory: str
    _workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def master(self) -> str:
        return f"spark://{self.network.driver.address}:{PORT}"

    def settings(self) -> dict[str, str]:
        """What an application on the driver's host needs."""
        address = self.network.driver.address
        return {"spark.master": self.master, "spark.driver.host": address, "spark.driver.bindAddress": address}

    def environment(self) -> dict[str, str]:
        """Likewise, as the environment of a command: settings go by a folder of Spark's own kind."""
        conf = self.folder / "conf"
        conf.mkdir(exist_ok=True)
        own = Path(os.environ["SPARK_CONF_DIR"], "spark-defaults.conf") if "SPARK_CONF_DIR" in os.environ else None
        lines = [own.read_text()] if own and own.exists() else []
        lines += [f"{key} {value}\n" for key, value in self.settings().items()]
        (conf / "spark-defaults.conf").write_text("".join(lines))
        address = self.network.driver.address
        return {"SPARK_CONF_DIR": str(conf), "SPARK_LOCAL_IP": address, "SPARK_HOME": str(SPARK_HOME)}

    def run(self, command: Sequence[str]) -> int:
        """Runs a command on the driver's host; returns its exit code."""
        started = self.network.driver.command(*command)
        return subprocess.run(started, env={**os.environ, **self.environment()}, check=False).returncode

    def start_worker(self, host: Host) -> None:
        """Starts the worker of a host, and waits until the master knows it."""
        log = self.folder / f"{host.name}.log"
        work = self.folder / f"{host.name}-work"
        options = ["--cores", str(self.cores), "--memory", self.memory, "--work-dir", str(work), "--webui-port", "0"]
        self._workers[host.name] = _java(host, log, WORKER, *options, self.master)
        _wait(log, "Successfully registered with master", self._workers[host.name])

    def stop_worker(self, host: Host) -> None:
        """Ends the worker and its executors at once, as when a host fails."""
        worker = self._workers.pop(host.name)
        _kill_tree(worker)

    def stop(self) -> None:
        for host in self.network.workers:
            if host.name in self._workers:
                self.stop_worker(host)


@contextmanager
def cluster(
    folder: Path, hosts: int = 3, rate: str = "", delay: str = "", cores: int = 1, memory: str = "2g"
) -> Iterator[Cluster]:
    """A cluster with `hosts` workers, which ends with the block. rate, delay: of its links; empty: not limited."""
    folder.mkdir(parents=True, exist_ok=True)
    with network(hosts, rate, delay) as made:
        log = folder / "master.log"
        master = _java(made.driver, log, MASTER, "--port", str(PORT), "--webui-port", "0")
        running = Cluster(made, folder, cores, memory)
        try:
            _wait(log, "I have been elected leader", master)
            for host in made.workers:
                running.start_worker(host)
            yield running
        finally:
            running.stop()
            _kill_tree(master)


def _java(host: Host, log: Path, name: str, *options: str) -> subprocess.Popen[bytes]:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    command = host.command(str(java), "-Xmx256m", "-cp", f"{SPARK_HOME / 'jars'}/*", name, "--host", host.address)
    found = {"SPARK_HOME": str(SPARK_HOME), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": host.address}
    with log.open("ab") as out:
        return subprocess.Popen(
            [*command, *options],
            env={**os.environ, **found},
            stdout=out,
            stderr=out,
            cwd=log.parent,
            start_new_session=True,
        )


def _wait(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if re.search(pattern, log.read_text(errors="replace")):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{log.name} did not say '{pattern}':\n{log.read_text(errors='replace')[-2000:]}")


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    """The process and its children: a worker's executors are processes of their own."""
    tree = [process.pid]
    for pid in tree:
        tree += _children(pid)
    for pid in reversed(tree):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
    process.wait(END_SECONDS)


def _children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]
