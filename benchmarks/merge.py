"""The MERGE benchmark: a source of a tenth of the rows of orders, some of them new, merged into orders."""

import argparse
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from rich.progress import Progress

from benchmarks import lab, report
from benchmarks.data import tpch
from benchmarks.engines import BROADCAST_OFF, Engine, Layout, engine, layouts
from benchmarks.rows import same
from tools.recorder import Recorder

ENGINES = ("delta-shuffle", "delta-colocated")

# Order keys are the first 8 of every 32 numbers, so a key plus 8 is a new one: a tenth of the source's rows.
SOURCE = """(SELECT CASE WHEN o_custkey % 10 = 0 THEN o_orderkey + 8 ELSE o_orderkey END AS o_orderkey,
  o_custkey, 'M' AS o_orderstatus, o_totalprice + 1 AS o_totalprice, o_orderdate, o_orderpriority, o_clerk,
  o_shippriority, o_comment FROM parquet.`{orders}` WHERE o_orderkey % 40 IN (1, 34, 35, 36))"""
MERGE = """MERGE INTO orders USING changes ON orders.o_orderkey = changes.o_orderkey
WHEN MATCHED THEN UPDATE SET o_totalprice = changes.o_totalprice, o_orderstatus = changes.o_orderstatus
WHEN NOT MATCHED THEN INSERT *"""
CHECK = "SELECT count(*), sum(o_orderkey), sum(o_totalprice), count_if(o_orderstatus = 'M') FROM orders"


@dataclass(frozen=True)
class Case:
    """One engine with deletion vectors on or off."""

    engine: Engine
    vectors: bool

    @property
    def name(self) -> str:
        return f"{self.engine.name}{'-vectors' if self.vectors else ''}"

    @property
    def title(self) -> str:
        return f"{self.engine.title}, deletion vectors {'on' if self.vectors else 'off'}"


@dataclass(frozen=True)
class Merged:
    """One MERGE. seconds: wall clock; steps: what its jobs over table data took; sizes in bytes; files afterwards."""

    seconds: float
    exchanges: int
    shuffle_bytes: int
    log_shuffle_bytes: int
    steps: list[tuple[str, float]]
    files: int
    rows: list[tuple[Any, ...]] = field(repr=False)


def run(asked: argparse.Namespace) -> int:
    cases = [case_of(engine(name), vectors) for vectors in (False, True) for name in asked.engines]
    with lab.progress() as bars:
        orders = tpch(asked.scale, ("orders",))["orders"]
        with lab.session(asked.memory, asked.cores) as spark:
            rounds = _rounds(spark, cases, orders, asked, bars)
            facts = lab.circumstances(spark)
    record = _record(asked, cases, rounds, facts)
    report.print_merge(record)
    for path in report.write(record, report.chart_join, asked.out):
        print(path)
    return 0 if record["rows_equal"] else 1


def case_of(one: Engine, vectors: bool) -> Case:
    """The engine with broadcasts off, in a database of the case's own."""
    tables = f"{one.tables}{'_vectors' if vectors else ''}"
    return Case(replace(one, tables=tables, settings={**one.settings, **BROADCAST_OFF}), vectors)


def _rounds(
    spark: SparkSession, cases: list[Case], orders: Path, asked: argparse.Namespace, bars: Progress
) -> dict[str, list[Merged]]:
    """One round to warm up, then the measured ones; a round merges into the same version of every case's table."""
    measured: dict[str, list[Merged]] = {one.name: [] for one in cases}
    task = bars.add_task("merge", total=(asked.rounds + 1) * len(cases))
    layout = layouts("tpch", asked.scale, asked.buckets)["orders"]
    for one in cases:
        with using(spark, one):
            load(spark, one, orders, layout)
    for _ in range(asked.rounds + 1):
        for one in cases:
            bars.update(task, description=f"merge: {one.title}")
            with using(spark, one):
                measured[one.name].append(_merge(spark))
            bars.advance(task)
    return {name: found[1:] for name, found in measured.items()}


def using(spark: SparkSession, case: Case) -> Any:
    """The case's database, made if absent, and its settings, for the length of a block."""
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {case.engine.tables}")
    return lab.using(spark, case.engine)


def load(spark: SparkSession, case: Case, orders: Path, layout: Layout) -> None:
    """Makes orders and the changes to it, in the database in use."""
    for table, source in (("orders", f"parquet.`{orders}`"), ("changes", SOURCE.format(orders=orders))):
        spark.sql(case.engine.create(table, source, layout))
    spark.sql(f"ALTER TABLE orders SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(case.vectors).lower()}')")


def restore(spark: SparkSession) -> None:
    """Makes orders what it was after its load."""
    history = spark.sql("DESCRIBE HISTORY orders").collect()
    loaded = max(row["version"] for row in history if row["operation"] == "SET TBLPROPERTIES")
    spark.sql(f"RESTORE TABLE orders TO VERSION AS OF {loaded}").collect()


def _merge(spark: SparkSession) -> Merged:
    restore(spark)
    with Recorder(spark) as seen:
        started = time.perf_counter()
        spark.sql(MERGE).collect()
        seconds = time.perf_counter() - started
    return Merged(
        seconds,
        seen.exchanges,
        seen.shuffle_bytes,
        sum(plan.shuffle_bytes for plan in seen.log),
        [(plan.title, round(plan.seconds, 3)) for plan in seen.data],
        int(spark.sql("DESCRIBE DETAIL orders").collect()[0]["numFiles"]),
        [tuple(row) for row in spark.sql(CHECK).collect()],
    )


def _record(
    asked: argparse.Namespace, cases: list[Case], rounds: dict[str, list[Merged]], facts: dict[str, Any]
) -> dict[str, Any]:
    checks = [rounds[one.name][0].rows for one in cases]
    return {
        "benchmark": "merge",
        "scale": asked.scale,
        "rounds": asked.rounds,
        **facts,
        "rows_equal": all(same(checks[0], rows) for rows in checks),
        "engines": [
            {
                "name": one.name,
                "title": one.title,
                "query": MERGE,
                "settings": one.engine.settings,
                "ddl": one.engine.clustered or one.engine.plain,
                "median_seconds": median(found.seconds for found in rounds[one.name]),
                "rounds": [{k: v for k, v in asdict(found).items() if k != "rows"} for found in rounds[one.name]],
            }
            for one in cases
        ],
    }
