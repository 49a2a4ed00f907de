"""The join benchmark: lineitem with orders on every engine, beside the floor that no join can beat."""

import argparse
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from rich.progress import Progress

from benchmarks import lab, report
from benchmarks.data import tpch
from benchmarks.engines import Engine, engine, layouts, query
from benchmarks.measure import Measured, measure
from benchmarks.rows import same

TABLES = ("orders", "lineitem")
ENGINES = (
    "delta-shuffle",
    "delta-default",
    "delta-colocated",
    "delta-floor",
    "native-stock",
    "native-colocated",
    "native-floor",
)

Loads = dict[str, dict[str, list[Measured]]]  # database -> table -> one for each load
Rounds = dict[str, list[Measured]]  # engine -> one for each round


def run(asked: argparse.Namespace) -> int:
    engines = [engine(name) for name in asked.engines]
    with lab.progress() as bars:
        sources = tpch(asked.scale, TABLES)
        with lab.session(asked.memory, asked.cores) as spark:
            loads = _loads(spark, engines, sources, asked, bars)
            rounds = _rounds(spark, engines, asked.rounds, bars)
            facts = lab.circumstances(spark)
    record = _record(asked, engines, loads, rounds, facts)
    report.print_join(record)
    for path in report.write(record, report.chart_join, asked.out):
        print(path)
    return 0 if record["rows_equal"] else 1


def _loads(
    spark: SparkSession, engines: list[Engine], sources: dict[str, Path], asked: argparse.Namespace, bars: Progress
) -> Loads:
    """Engines that share their tables load them once; several loads are interleaved like the rounds of the query."""
    layout = layouts("tpch", asked.scale, asked.buckets)
    makers = {one.tables: one for one in reversed(engines)}
    loads: Loads = {tables: {table: [] for table in TABLES} for tables in makers}
    task = bars.add_task("loading", total=len(makers) * len(TABLES) * asked.loads)
    for table in TABLES:
        for _ in range(asked.loads):
            for one in makers.values():
                bars.update(task, description=f"load {table}: {one.title}")
                loads[one.tables][table].append(lab.load(spark, one, table, sources[table], layout[table]))
                bars.advance(task)
    return loads


def _rounds(spark: SparkSession, engines: list[Engine], count: int, bars: Progress) -> Rounds:
    """One round to warm up, then `count` measured ones; each round asks every engine once, in turn."""
    measured: Rounds = {one.name: [] for one in engines}
    task = bars.add_task("query", total=(count + 1) * len(engines))
    for _ in range(count + 1):
        for one in engines:
            bars.update(task, description=f"query: {one.title}")
            with lab.using(spark, one):
                measured[one.name].append(measure(spark, query(one.query)))
            bars.advance(task)
    return {name: found[1:] for name, found in measured.items()}


def _record(
    asked: argparse.Namespace, engines: list[Engine], loads: Loads, rounds: Rounds, facts: dict[str, Any]
) -> dict[str, Any]:
    joined = [rounds[one.name][0].rows for one in engines if one.query == "join"]
    return {
        "benchmark": "join",
        "scale": asked.scale,
        "rounds": asked.rounds,
        **facts,
        "rows_equal": all(same(joined[0], rows) for rows in joined),
        "engines": [
            {
                "name": one.name,
                "title": one.title,
                "query": query(one.query),
                "settings": one.settings,
                "ddl": one.clustered or one.plain,
                "load": {table: [load.numbers() for load in made] for table, made in loads[one.tables].items()},
                "median_seconds": median(found.seconds for found in rounds[one.name]),
                "rounds": [found.numbers() for found in rounds[one.name]],
            }
            for one in engines
        ],
    }
