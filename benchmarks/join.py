"""The join benchmark: lineitem with orders on every engine, beside the floor that no join can beat."""

import argparse
from statistics import median
from typing import Any

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
REFERENCE = "delta-shuffle"


def run(asked: argparse.Namespace) -> int:
    engines = [engine(name) for name in asked.engines]
    layout = layouts("tpch", asked.buckets)
    with lab.progress() as bars:
        sources = tpch(asked.scale, TABLES)
        spark = lab.session(asked.memory, asked.cores)
        first = {one.tables: one for one in reversed(engines)}
        task = bars.add_task("loading", total=len(first) * len(TABLES))
        loads: dict[str, dict[str, Measured]] = {one.tables: {} for one in engines}
        for table in TABLES:
            for one in first.values():
                bars.update(task, description=f"load {table}: {one.title}")
                loads[one.tables][table] = lab.load(spark, one, table, sources[table], layout[table])
                bars.advance(task)
        rounds = _rounds(spark, engines, asked.rounds, bars)
        facts = lab.circumstances(spark)
        spark.stop()
    record = _record(asked, engines, loads, rounds, facts)
    report.print_join(record)
    for path in report.write(record, report.chart_join):
        print(path)
    return 0 if record["rows_equal"] else 1


def _rounds(spark: Any, engines: list[Engine], count: int, bars: Any) -> dict[str, list[Measured]]:
    """One round to warm up, then `count` measured ones; each round asks every engine once, in turn."""
    measured: dict[str, list[Measured]] = {one.name: [] for one in engines}
    task = bars.add_task("query", total=(count + 1) * len(engines))
    for _ in range(count + 1):
        for one in engines:
            bars.update(task, description=f"query: {one.title}")
            with lab.using(spark, one):
                measured[one.name].append(measure(spark, query(one.query)))
            bars.advance(task)
    return {name: found[1:] for name, found in measured.items()}


def _record(asked: argparse.Namespace, engines: list[Engine], loads: Any, rounds: Any, facts: Any) -> dict[str, Any]:
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
                "load": {table: loaded.numbers() for table, loaded in loads[one.tables].items()},
                "median_seconds": median(found.seconds for found in rounds[one.name]),
                "rounds": [found.numbers() for found in rounds[one.name]],
            }
            for one in engines
        ],
    }
