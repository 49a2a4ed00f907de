"""HDFS on the hosts of a network: the name node on the driver's host, a data node on each worker's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import pyspark

from tools.cluster.network import Host, Network
from tools.cluster.processes import java, kill_tree, program, wait
from tools.maven_jars import fetch

ROOT = Path(__file__).parents[2]
SPARK_JARS = Path(pyspark.__file__).parent / "jars"
CLIENT = "hadoop-client-api-"
NAME_NODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
BROUGHT_BY_SPARK = (
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.xerial.snappy:snappy-java",
)
HEAP = "-Xmx192m"
NAME_PORT = 8020
DATA_PORT = 9866
LOGGING = """rootLogger.level = info
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %c{1}: %m%n
"""


@dataclass(frozen=True, slots=True)
class Hdfs:
    """A running HDFS.

    folder: logs, configuration and the blocks. replication: of files whose writer names none.
    data_nodes: their processes, by the host's name.
    """

    network: Network
    folder: Path
    replication: int
    data_nodes: dict[str, int] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return f"hdfs://{self.network.driver.address}:{NAME_PORT}"

    def settings(self) -> dict[str, str]:
        """What an application needs whose tables lie there. The registry of groups needs a local path."""
        return {
            "spark.hadoop.fs.defaultFS": self.uri,
            "spark.hadoop.dfs.replication": str(self.replication),  # it is the client who decides
            "spark.sql.warehouse.dir": f"{self.uri}/warehouse",
            "spark.colocate.store": f"sqlite:///{self.folder / 'groups.sqlite'}",
        }


@contextmanager
def hdfs(folder: Path, network: Network, replication: int = 1) -> Iterator[Hdfs]:
    """An empty HDFS, which ends with the block."""
    jars = fetch(ROOT / "build" / "hdfs", package(), BROUGHT_BY_SPARK)
    folder.mkdir(parents=True, exist_ok=True)
    made = Hdfs(network, folder, replication)
    classes = f"{jars}/*:{SPARK_JARS}/*"
    started: list[subprocess.Popen[bytes]] = []
    try:
        name_node = _configure(made, network.driver)
        _format(network.driver, ["-cp", f"{name_node}:{classes}"])
        log = folder / "namenode.log"
        started.append(_start(network.driver, log, f"{name_node}:{classes}", NAME_NODE))
        wait(log, "NameNode RPC up at", started[0])
        for host in network.workers:
            own = _configure(made, host)
            started.append(_start(host, folder / f"datanode-{host.name}.log", f"{own}:{classes}", DATA_NODE))
            made.data_nodes[host.name] = started[-1].pid
        wait(log, "Processing first storage report", started[0], times=len(network.workers))
        yield made
    finally:
        for process in reversed(started):
            kill_tree(process)


def package() -> str:
    """HDFS' servers, of the version whose client Spark ships."""
    found = next(SPARK_JARS.glob(f"{CLIENT}*.jar"), None)
    if found is None:
        raise RuntimeError(f"This Spark ships no {CLIENT}*.jar, so the version of HDFS is unknown")
    return f"org.apache.hadoop:hadoop-client-minicluster:{found.stem.removeprefix(CLIENT)}"


def _configure(made: Hdfs, host: Host) -> Path:
    """A host's folder of configuration. No name service knows the hosts, so each is named by its address."""
    own = made.folder / f"{host.name}-conf"
    own.mkdir()
    address, blocks = host.address, made.folder / host.name
    core = {"fs.defaultFS": made.uri, "hadoop.tmp.dir": str(blocks)}
    servers = {
        "dfs.replication": str(made.replication),
        "dfs.permissions.enabled": "false",
        "dfs.namenode.http-address": f"{made.network.driver.address}:9870",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.handler.count": "4",
        "dfs.datanode.hostname": address,
        "dfs.datanode.address": f"{address}:{DATA_PORT}",
        "dfs.datanode.ipc.address": f"{address}:9867",
        "dfs.datanode.http.address": f"{address}:9864",
        "dfs.datanode.handler.count": "4",
    }
    for name, values in (("core-site.xml", core), ("hdfs-site.xml", servers)):
        (own / name).write_text(_xml(values))
    (own / "log4j2.properties").write_text(LOGGING)
    return own


def _xml(values: dict[str, str]) -> str:
    lines = (f"<property><name>{key}</name><value>{escape(value)}</value></property>" for key, value in values.items())
    return f"<configuration>{''.join(lines)}</configuration>\n"


def _start(host: Host, log: Path, classes: str, name: str) -> subprocess.Popen[bytes]:
    return java(host, log, [HEAP, "-XX:+UseSerialGC", "-cp", classes, name])


def _format(host: Host, classes: list[str]) -> None:
    done = subprocess.run(
        host.command(program(), HEAP, *classes, NAME_NODE, "-format", "-nonInteractive"),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout[-2000:], file=sys.stderr)
        raise RuntimeError(f"The name node could not be formatted:\n{done.stderr[-2000:]}")
