"""A standalone cluster: a master on the driver's host, one worker on each of the others."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from tools.cluster.hdfs import Hdfs, hdfs
from tools.cluster.network import Host, Network, network
from tools.cluster.processes import java, kill_tree, wait

SPARK_HOME = Path(pyspark.__file__).parent
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
PORT = 7077


@dataclass
class Cluster:
    """folder: logs, and the work folders of executors. hdfs: where its applications have their tables, if anywhere."""

    network: Network
    folder: Path
    cores: int
    memory: str
    hdfs: Hdfs | None = None
    _workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def master(self) -> str:
        return f"spark://{self.network.driver.address}:{PORT}"

    def settings(self) -> dict[str, str]:
        """What an application on the driver's host needs."""
        address = self.network.driver.address
        own = {"spark.master": self.master, "spark.driver.host": address, "spark.driver.bindAddress": address}
        return {**own, **(self.hdfs.settings() if self.hdfs else {})}

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
        wait(log, "Successfully registered with master", self._workers[host.name])

    def stop_worker(self, host: Host) -> None:
        """Ends the worker and its executors at once, as when a host fails."""
        worker = self._workers.pop(host.name)
        kill_tree(worker)

    def stop(self) -> None:
        for host in self.network.workers:
            if host.name in self._workers:
                self.stop_worker(host)


@contextmanager
def cluster(
    folder: Path,
    hosts: int = 3,
    rate: str = "",
    delay: str = "",
    cores: int = 1,
    memory: str = "2g",
    with_hdfs: bool = False,
) -> Iterator[Cluster]:
    """A cluster with `hosts` workers, which ends with the block.

    rate, delay: of its links; empty: not limited.
    with_hdfs: HDFS runs on the same hosts, and the applications' tables lie there, each block on one host.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        made = stack.enter_context(network(hosts, rate, delay))
        files = stack.enter_context(hdfs(folder / "hdfs", made)) if with_hdfs else None
        log = folder / "master.log"
        master = _java(made.driver, log, MASTER, "--port", str(PORT), "--webui-port", "0")
        stack.callback(kill_tree, master)
        running = Cluster(made, folder, cores, memory, files)
        stack.callback(running.stop)
        wait(log, "I have been elected leader", master)
        for host in made.workers:
            running.start_worker(host)
        yield running


def _java(host: Host, log: Path, name: str, *options: str) -> subprocess.Popen[bytes]:
    # What Spark's own start scripts would find out: executors are started with these.
    found = {"SPARK_HOME": str(SPARK_HOME), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": host.address}
    jvm = ["-Xmx256m", "-cp", f"{SPARK_HOME / 'jars'}/*"]
    return java(host, log, [*jvm, name, "--host", host.address, *options], found)
