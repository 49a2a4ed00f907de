"""./run bench cut: a host is cut off while a join of members runs there.

Told are the time of the join with and without, whether its rows are right, and how long the group takes until all its
buckets are on hosts that live: after the cut, and after the host is back.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.table import Table

from benchmarks import cluster, lab, report
from benchmarks.rows import same
from benchmarks.sizes import size
from tools.cluster.network import Network, network_of

SETTINGS = {
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "2s",
    "spark.colocate.hosts.grace": "5s",
}
"""Spark's own time until it gives an executor up is 2 minutes, and a host's grace 5 minutes."""

PATIENCE = 300.0
ALIVE = "SELECT host FROM system.colocation_hosts WHERE state = 'alive'"
USED = "SELECT DISTINCT explode(hosts) AS host FROM system.colocation_buckets"


def run(asked: argparse.Namespace) -> int:
    return cluster.on_cluster(asked, __name__)


def _measure(given: dict[str, Any]) -> int:
    asked = argparse.Namespace(**given["asked"])
    net = network_of(given["network"])
    net.limit(asked.link)
    with lab.session(asked.memory, 1, settings={**given["settings"], **SETTINGS}) as spark:
        _, members = cluster.engines_compared()
        cluster.load_tables(spark, asked, members)
        statement = cluster.joined(members)
        with lab.using(spark, statement.engine):
            cluster.run_once(spark, net, statement)  # warms up
            steps = _steps(spark, net, statement)
        facts = lab.circumstances(spark)
    record = {"benchmark": "cut", "scale": asked.scale, "link": asked.link, "hosts": asked.hosts, **facts, **steps}
    written = report.write_json(record, Path(asked.out))
    _print(record)
    print(written)
    return 0 if record["rows_equal"] and record["healed_seconds"] and record["back_seconds"] else 1


def _steps(spark: SparkSession, net: Network, statement: cluster.Statement) -> dict[str, Any]:
    host = net.workers[-1]
    whole, rows = cluster.run_once(spark, net, statement)
    cut = threading.Timer(whole.seconds / 3, net.cut, [host])
    cut.start()
    begun = time.monotonic() + whole.seconds / 3
    broken, found = cluster.run_once(spark, net, statement)
    healed = _until(lambda: host.address not in _hosts(spark, USED), begun)
    without, fewer = cluster.run_once(spark, net, statement)
    net.mend(host)
    begun = time.monotonic()
    back = _until(lambda: host.address in _hosts(spark, ALIVE) & _hosts(spark, USED), begun)
    again, more = cluster.run_once(spark, net, statement)
    return {
        "rows_equal": all(same(rows, other) for other in (found, fewer, more)),
        "healed_seconds": healed,
        "back_seconds": back,
        "runs": {
            "all hosts": asdict(whole),
            "a host is cut off": asdict(broken),
            "without it": asdict(without),
            "it is back": asdict(again),
        },
    }


def _hosts(spark: SparkSession, listing: str) -> set[str]:
    return {row.host for row in spark.sql(listing).collect()}


def _until(holds: Callable[[], bool], begun: float) -> float | None:
    """Seconds since `begun`; None if it takes longer than PATIENCE."""
    while time.monotonic() - begun < PATIENCE:
        if holds():
            return time.monotonic() - begun
        time.sleep(0.5)
    return None


def _print(record: dict[str, Any]) -> None:
    table = Table(title=f"TPC-H scale {record['scale']:g} on {record['hosts']} hosts, links of {record['link']}")
    for name in ("join of members", "seconds", "worker to worker", "to the driver", "tasks on hosts of their buckets"):
        table.add_column(name, justify="right" if table.columns else "left")
    for name, one in record["runs"].items():
        tasks = one["at_host"] + one["elsewhere"]
        table.add_row(
            name,
            f"{one['seconds']:.1f}",
            size(one["between_bytes"]),
            size(one["driver_bytes"]),
            f"{one['at_host']} of {tasks}",
        )
    report.console().print(table)
    report.console().print("rows equal" if record["rows_equal"] else "ROWS DIFFER")
    for name, text in (("healed_seconds", "its buckets are on other hosts"), ("back_seconds", "back, it has buckets")):
        seconds = record[name]
        report.console().print(f"{text} after {seconds:.1f} s" if seconds else f"NOT within {PATIENCE:.0f} s: {text}")


if __name__ == "__main__":
    sys.exit(_measure(json.loads(sys.argv[1])))
