"""`./run cluster`: hosts and a Spark standalone cluster on this machine, until a command on the driver's host ends."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.cluster.network import NoNamespaces
from tools.cluster.spark import Cluster, cluster


def main() -> int:
    """Returns the exit code of the command."""
    parser = argparse.ArgumentParser(prog="./run cluster", description=__doc__)
    parser.add_argument("--hosts", type=int, default=3, help="workers, each on a host of its own (3)")
    parser.add_argument("--link", default="1gbit", help="speed of every host's link, as tc writes it (1gbit)")
    parser.add_argument("--delay", default="", help="delay of every link and direction, such as 1ms (none)")
    parser.add_argument("--cores", type=int, default=1, help="cores of a worker (1)")
    parser.add_argument("--memory", default="2g", help="memory of a worker (2g)")
    parser.add_argument("--hdfs", action="store_true", help="HDFS runs on the same hosts, and tables lie there")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what runs on the driver's host (a shell)")
    given = parser.parse_args()
    command = [part for part in given.command if part != "--"] or ["bash"]
    try:
        with (
            tempfile.TemporaryDirectory(prefix="colocate-cluster-") as folder,
            cluster(
                Path(folder), given.hosts, given.link, given.delay, given.cores, given.memory, given.hdfs
            ) as started,
        ):
            return _run(started, command)
    except NoNamespaces as error:
        print(f"run: {error}", file=sys.stderr)
        return 1


def _run(started: Cluster, command: list[str]) -> int:
    hosts = ", ".join(f"{host.name} {host.address}" for host in started.network.workers)
    if started.hdfs:
        print(f"HDFS {started.hdfs.uri}, with a data node on each worker's host.", file=sys.stderr)
    print(f"Master {started.master}; {hosts}. Logs: {started.folder}. Ends with: {' '.join(command)}", file=sys.stderr)
    code = started.run(command)
    received = started.network.received()
    shown = ", ".join(f"{name} {count / 1e6:.1f} MB" for name, count in received.items())
    between = started.network.between_workers() / 1e6
    print(f"Received: {shown}. From worker to worker: {between:.1f} MB", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
