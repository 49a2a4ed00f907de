"""Sets of queries on stock and on colocated Delta; rows, exchanges, bytes and time of each side by side."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import sqlglot
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from rich.progress import Progress
from spark_colocate import verdicts

from benchmarks import lab, report
from benchmarks.data import queries, tpcds, tpch
from benchmarks.engines import HERE, Engine, Layout, engine, layouts, query
from benchmarks.measure import Measured, measure
from benchmarks.rows import same

ENGINES = ("delta-default", "delta-colocated")


@dataclass(frozen=True)
class Suite:
    """texts: by name, in DuckDB's spelling. sources: the named tables' data at a scale. layout: in layouts/."""

    texts: Callable[[], dict[str, str]]
    sources: Callable[[float, tuple[str, ...]], dict[str, Path]]
    layout: str


def operators() -> dict[str, str]:
    """One query for each operator that the layout serves, on the two large tables of TPC-H."""
    return {path.stem: query(f"operators/{path.stem}") for path in sorted((HERE / "queries/operators").glob("*.sql"))}


SUITES = {
    "operators": Suite(operators, tpch, "tpch"),
    "tpch": Suite(lambda: queries("tpch"), tpch, "tpch"),
    "tpcds": Suite(lambda: queries("tpcds"), tpcds, "tpcds"),
}


def run(asked: argparse.Namespace) -> int:
    stock, ours = (engine(name) for name in asked.engines)
    suite = SUITES[asked.verb]
    texts = chosen(suite.texts(), asked.queries)
    layout = layouts(suite.layout, asked.scale, asked.buckets)
    with lab.progress() as bars:
        sources = suite.sources(asked.scale, tables_of(texts))
        with lab.session(asked.memory, asked.cores) as spark:
            loads = _load(spark, [stock, ours], sources, layout, bars)
            task = bars.add_task("queries", total=len(texts))
            found = []
            for name, text in texts.items():
                bars.update(task, description=f"{asked.verb} {name}")
                found.append(_tried(spark, stock, ours, name, in_spark(text), asked.rounds))
                bars.console.print(report.suite_line(found[-1]))
                bars.advance(task)
            facts = lab.circumstances(spark)
    record = {
        "benchmark": asked.verb,
        "scale": asked.scale,
        "rounds": asked.rounds,
        **facts,
        "layout": {table: vars(one) for table, one in layout.items()},
        "engines": [vars(stock), vars(ours)],
        "load": loads,
        "queries": found,
    }
    report.print_suite(record)
    for path in report.write(record, report.chart_suite, asked.out):
        print(path)
    return 0 if all(one["rows_equal"] for one in found) else 1


def chosen(texts: dict[str, str], names: list[str] | None) -> dict[str, str]:
    """The named queries, in the suite's order; all of them if none is named. Ends the program at an unknown name."""
    unknown = sorted(set(names or ()) - set(texts))
    if unknown:
        known = " ".join(texts)
        raise SystemExit(f"No such query: {', '.join(unknown)}\n--queries takes names with spaces between: {known}")
    return {name: text for name, text in texts.items() if not names or name in names}


def tables_of(texts: dict[str, str]) -> tuple[str, ...]:
    """The tables that the queries read, sorted; names of their CTEs are not among them."""
    trees = [sqlglot.parse_one(text, read="duckdb") for text in texts.values()]
    named = {table.name.lower() for tree in trees for table in tree.find_all(sqlglot.exp.Table)}
    return tuple(sorted(named - {cte.alias.lower() for tree in trees for cte in tree.find_all(sqlglot.exp.CTE)}))


def in_spark(text: str) -> str:
    """DuckDB's spelling of a query in Spark's."""
    return sqlglot.transpile(text, read="duckdb", write="spark")[0]


def _load(
    spark: SparkSession, engines: list[Engine], sources: dict[str, Path], layout: dict[str, Layout], bars: Progress
) -> dict[str, dict[str, Any]]:
    task = bars.add_task("loading", total=len(engines) * len(sources))
    loads: dict[str, dict[str, Any]] = {one.name: {} for one in engines}
    for table, source in sources.items():
        for one in engines:
            bars.update(task, description=f"load {table}: {one.title}")
            loads[one.name][table] = lab.load(spark, one, table, source, layout.get(table, Layout())).numbers()
            bars.advance(task)
    return loads


def _tried(spark: SparkSession, stock: Engine, ours: Engine, name: str, text: str, rounds: int) -> dict[str, Any]:
    """A query that fails is a result too; the others go on."""
    try:
        return _compare(spark, stock, ours, name, text, rounds)
    except (PySparkException, Py4JError) as error:
        return {"query": name, "sql": text, "rows_equal": False, "error": str(error)[:2000]}


def _compare(spark: SparkSession, stock: Engine, ours: Engine, name: str, text: str, rounds: int) -> dict[str, Any]:
    """One round to warm up and to compare rows, then interleaved measured ones."""
    measured: dict[str, list[Measured]] = {stock.name: [], ours.name: []}
    for _ in range(rounds + 1):
        for one in (stock, ours):
            with lab.using(spark, one):
                measured[one.name].append(measure(spark, text))
    before, after = measured[stock.name], measured[ours.name]
    times = [median(found.seconds for found in side[1:] or side) for side in (before, after)]
    return {
        "query": name,
        "sql": text,
        "row_count": len(before[0].rows),
        "rows_equal": same(before[0].rows, after[0].rows),
        "stock": before[-1].numbers(),
        "colocated": after[-1].numbers(),
        "lost_exchanges": before[-1].exchanges - after[-1].exchanges,
        "lost_planned": before[-1].planned_exchanges - after[-1].planned_exchanges,
        "stock_seconds": times[0],
        "colocated_seconds": times[1],
        "time_ratio": times[1] / times[0],
        "verdicts": _verdicts(spark, ours, text),
    }


def _verdicts(spark: SparkSession, ours: Engine, text: str) -> list[str]:
    """How often each reason was given, such as `colocated x2` or `STRAY x1`."""
    with lab.using(spark, ours):
        codes = ["colocated" if one.colocated else one.code for one in verdicts(spark.sql(text))]
    return [f"{code} x{codes.count(code)}" for code in dict.fromkeys(codes)]
