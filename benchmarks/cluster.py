"""The cluster benchmark: a join and a MERGE over links of a given speed, members against stock Delta's shuffle.

The hosts are network namespaces of this machine (`tools/cluster`), so they share its cores and its disk; what differs
from one machine is the network.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import lab, merge, report
from benchmarks.data import ROOT, tpch
from benchmarks.engines import BROADCAST_OFF, Engine, engine, layouts, query
from benchmarks.measure import measure
from benchmarks.rows import same
from tools.cluster.network import Network, network_of
from tools.cluster.spark import cluster
from tools.recorder import Recorder

TABLES = ("orders", "lineitem")
PREFERRED = "spark.colocate.hosts.preferred"


@dataclass(frozen=True)
class Found:
    """One run.

    stages: of each the number of tasks and their CPU seconds.
    between_bytes: from worker to worker. driver_bytes: what the driver received.
    at_host, elsewhere: tasks of scans, those on a host of their buckets and the others.
    """

    seconds: float
    exchanges: int
    stages: list[tuple[int, float]]
    shuffle_bytes: int
    between_bytes: int
    driver_bytes: int
    at_host: int
    elsewhere: int


def run(asked: argparse.Namespace) -> int:
    return on_cluster(asked, __name__)


def on_cluster(asked: argparse.Namespace, module: str) -> int:
    """Starts the cluster. The module measures: its process runs on the driver's host and gets what is known as JSON."""
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
        return started.run([sys.executable, "-m", module, json.dumps(given)])


def show(asked: argparse.Namespace) -> int:
    """Shows a result that was written before."""
    report.print_cluster(json.loads(asked.result.read_text()))
    return 0


def _measure(given: dict[str, Any]) -> int:
    asked = argparse.Namespace(**given["asked"])
    net = network_of(given["network"])
    with lab.session(asked.memory, 1, settings=given["settings"]) as spark:
        statements = [one for name in asked.statements for one in MADE[name](spark, asked)]
        links = {link: _rounds(spark, net, statements, link, asked) for link in asked.links}
        facts = lab.circumstances(spark)
    record = {
        "benchmark": "cluster",
        "scale": asked.scale,
        "rounds": asked.rounds,
        "warm_up": asked.warm_up,
        "hosts": asked.hosts,
        **facts,
        "links": links,
        "rows_equal": all(found["rows_equal"] for found in links.values()),
    }
    written = report.write_json(record, Path(asked.out))
    report.print_cluster(record)
    print(written)
    return 0 if record["rows_equal"] else 1


@dataclass(frozen=True)
class Statement:
    """What is measured on an engine. check: its rows tell whether the statement did the same on all engines."""

    name: str
    engine: Engine
    sql: str
    check: str = ""

    @property
    def key(self) -> str:
        return f"{self.name} {self.engine.name}"


def _joins(spark: SparkSession, asked: argparse.Namespace) -> list[Statement]:
    """Stock Delta's shuffle, members, and members whose tasks prefer no host."""
    stock, members = engines_compared()
    anywhere = replace(
        members,
        name="delta-anywhere",
        title="Delta, colocated, no preferred hosts",
        settings={**members.settings, PREFERRED: "false"},
    )
    load_tables(spark, asked, stock)
    load_tables(spark, asked, members)
    return [joined(one) for one in (stock, members, anywhere)]


def load_tables(spark: SparkSession, asked: argparse.Namespace, one: Engine) -> None:
    """What the join reads, as the engine's tables."""
    sources, layout = tpch(asked.scale, TABLES), layouts("tpch", asked.scale, asked.buckets)
    for table in TABLES:
        lab.load(spark, one, table, sources[table], layout[table])


def joined(one: Engine) -> Statement:
    return Statement("join", one, query(one.query))


def _merges(spark: SparkSession, asked: argparse.Namespace, vectors: bool = False) -> list[Statement]:
    """The benchmark `merge`, in databases of its own."""
    orders, layout = tpch(asked.scale, TABLES)["orders"], layouts("tpch", asked.scale, asked.buckets)["orders"]
    found = []
    for one in engines_compared():
        case = merge.case_of(replace(one, tables=f"{one.tables}_merge"), vectors)
        with merge.using(spark, case):
            merge.load(spark, case, orders, layout)
        found.append(Statement("merge, vectors" if vectors else "merge", case.engine, merge.MERGE, merge.CHECK))
    return found


MADE: dict[str, Callable[[SparkSession, argparse.Namespace], list[Statement]]] = {
    "join": _joins,
    "merge": _merges,
    "merge-vectors": partial(_merges, vectors=True),
}
"""Of each name of --statements, what is measured."""


def engines_compared() -> tuple[Engine, Engine]:
    stock, members = engine("delta-shuffle"), engine("delta-colocated")
    return stock, replace(members, settings={**members.settings, **BROADCAST_OFF})


def _rounds(
    spark: SparkSession, net: Network, statements: list[Statement], link: str, asked: argparse.Namespace
) -> dict[str, Any]:
    """The measured rounds, in turn; before those of the first link some to warm up the workers' JVMs."""
    net.limit(link)
    warm_up = asked.warm_up if link == asked.links[0] else 0
    found: dict[str, list[Found]] = {one.key: [] for one in statements}
    rows: dict[str, list[Any]] = {one.name: [] for one in statements}
    for number in range(asked.rounds + warm_up):
        for one in statements:
            with lab.using(spark, one.engine):
                measured, answer = run_once(spark, net, one)
            rows[one.name].append(answer)
            if number >= warm_up:
                found[one.key].append(measured)
    return {
        "rows_equal": all(same(answers[0], other) for answers in rows.values() for other in answers),
        "runs": [
            {
                "statement": one.name,
                "name": one.engine.name,
                "title": one.engine.title,
                "median_seconds": median(run.seconds for run in found[one.key]),
                "rounds": [asdict(run) for run in found[one.key]],
            }
            for one in statements
        ],
    }


def run_once(spark: SparkSession, net: Network, statement: Statement) -> tuple[Found, list[tuple[Any, ...]]]:
    """A statement that changes its table starts from the version that was loaded."""
    if statement.check:
        merge.restore(spark)
    before, driver = net.between_workers(), net.received()[net.driver.name]
    with Recorder(spark) as seen:
        measured = measure(spark, statement.sql)
    found = Found(
        seconds=measured.seconds,
        # A MERGE runs queries inside itself, whose plans the statement's own does not show.
        exchanges=seen.exchanges if statement.check else measured.exchanges,
        stages=[(stage.tasks, stage.cpu) for stage in measured.stages],
        shuffle_bytes=measured.shuffle_bytes,
        between_bytes=net.between_workers() - before,
        driver_bytes=net.received()[net.driver.name] - driver,
        at_host=measured.tasks_at_host,
        elsewhere=measured.tasks_elsewhere,
    )
    rows = [tuple(row) for row in spark.sql(statement.check).collect()] if statement.check else measured.rows
    return found, rows


if __name__ == "__main__":
    sys.exit(_measure(json.loads(sys.argv[1])))
