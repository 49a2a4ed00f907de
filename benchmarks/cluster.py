"""The cluster benchmark: the join on hosts with links of a given speed, members against stock Delta's shuffle.

The hosts are network namespaces of this machine (`tools/cluster`), so they share its cores and its disk; what differs
from one machine is the network.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import lab, report
from benchmarks.data import ROOT, tpch
from benchmarks.engines import BROADCAST_OFF, Engine, engine, layouts, query
from benchmarks.measure import measure
from benchmarks.rows import same
from tools.cluster.network import Network, network_of
from tools.cluster.spark import cluster

TABLES = ("orders", "lineitem")
PREFERRED = "spark.colocate.hosts.preferred"


@dataclass(frozen=True)
class Found:
    """One run.

    between_bytes: from worker to worker. driver_bytes: what the driver received.
    at_host, elsewhere: tasks of scans, those on a host of their buckets and the others.
    """

    seconds: float
    exchanges: int
    shuffle_bytes: int
    between_bytes: int
    driver_bytes: int
    at_host: int
    elsewhere: int


def run(asked: argparse.Namespace) -> int:
    """Starts the cluster; the measuring process runs on the driver's host."""
    tpch(asked.scale, TABLES)
    with (
        TemporaryDirectory(dir=ROOT / "build", prefix="lab-") as folder,
        cluster(Path(folder), asked.hosts, cores=1, memory=asked.worker_memory) as started,
    ):
        given = {
            "network": asdict(started.network),
            "settings": {**started.settings(), "spark.executor.memory": asked.worker_memory},
            "asked": {**vars(asked), "out": str(asked.out)},
        }
        return started.run([sys.executable, "-m", "benchmarks.cluster", json.dumps(given)])


def _measure(given: dict[str, Any]) -> int:
    asked = argparse.Namespace(**given["asked"])
    net = network_of(given["network"])
    with lab.session(asked.memory, 1, settings=given["settings"]) as spark:
        engines = _engines()
        _load(spark, engines, asked)
        links = {link: _rounds(spark, net, engines, link, asked) for link in asked.links}
        facts = lab.circumstances(spark)
    record = {
        "benchmark": "cluster",
        "scale": asked.scale,
        "rounds": asked.rounds,
        "hosts": asked.hosts,
        **facts,
        "links": links,
        "rows_equal": all(found["rows_equal"] for found in links.values()),
    }
    report.print_cluster(record)
    print(report.write_json(record, Path(asked.out)))
    return 0 if record["rows_equal"] else 1


def _engines() -> list[Engine]:
    """Stock Delta's shuffle, members, and members whose tasks prefer no host."""
    stock, members = engine("delta-shuffle"), engine("delta-colocated")
    members = replace(members, settings={**members.settings, **BROADCAST_OFF})
    anywhere = replace(
        members,
        name="delta-anywhere",
        title="Delta, colocated, no preferred hosts",
        settings={**members.settings, PREFERRED: "false"},
    )
    return [stock, members, anywhere]


def _load(spark: SparkSession, engines: list[Engine], asked: argparse.Namespace) -> None:
    sources, layout = tpch(asked.scale, TABLES), layouts("tpch", asked.scale, asked.buckets)
    for one in {one.tables: one for one in engines}.values():
        for table in TABLES:
            lab.load(spark, one, table, sources[table], layout[table])


def _rounds(
    spark: SparkSession, net: Network, engines: list[Engine], link: str, asked: argparse.Namespace
) -> dict[str, Any]:
    """One round to warm up, then the measured ones, in turn."""
    net.limit(link)
    found: dict[str, list[Found]] = {one.name: [] for one in engines}
    rows = []
    for _ in range(asked.rounds + 1):
        for one in engines:
            with lab.using(spark, one):
                measured, answer = _run(spark, net, query(one.query))
            found[one.name].append(measured)
            rows.append(answer)
    return {
        "rows_equal": all(same(rows[0], other) for other in rows),
        "engines": [
            {
                "name": one.name,
                "title": one.title,
                "median_seconds": median(run.seconds for run in found[one.name][1:]),
                "rounds": [asdict(run) for run in found[one.name][1:]],
            }
            for one in engines
        ],
    }


def _run(spark: SparkSession, net: Network, sql: str) -> tuple[Found, list[tuple[Any, ...]]]:
    before, driver = net.between_workers(), net.received()[net.driver.name]
    measured = measure(spark, sql)
    return (
        Found(
            seconds=measured.seconds,
            exchanges=measured.exchanges,
            shuffle_bytes=measured.shuffle_bytes,
            between_bytes=net.between_workers() - before,
            driver_bytes=net.received()[net.driver.name] - driver,
            at_host=measured.tasks_at_host,
            elsewhere=measured.tasks_elsewhere,
        ),
        measured.rows,
    )


if __name__ == "__main__":
    sys.exit(_measure(json.loads(sys.argv[1])))
