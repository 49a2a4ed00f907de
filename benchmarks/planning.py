"""./run bench plan: planning time with our extension and without, in two sessions of one driver that plan in turn."""

import argparse
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from rich.table import Table

from benchmarks import lab, report

TABLES = 8
WARM_UP = 40
STEPS = ("analysis", "optimizer", "physical")
KINDS = ("stock", "ours")


@dataclass(frozen=True)
class Case:
    """sql: {t} is the prefix of the tables, `m` members of a group where our extension is in use, else plain Delta.

    allowed: milliseconds that planning may take more than without us, in the median.
    """

    title: str
    sql: str
    allowed: float


JOIN = "SELECT {t}0.v, {t}1.v FROM {t}0 JOIN {t}1 ON {t}0.k = {t}1.k"
KEYS = "SELECT {t}0.k, count(*) FROM {t}0 JOIN {t}1 ON {t}0.k = {t}1.k GROUP BY {t}0.k"
EIGHT = "SELECT count(*) FROM {t}0 " + " ".join(f"JOIN {{t}}{n} ON {{t}}0.k = {{t}}{n}.k" for n in range(1, TABLES))
CASES = {
    "filter": Case("no member: a filter on Parquet", "SELECT v FROM p0 WHERE k = 3", 1.0),
    "parquet": Case("no member: a join of Parquet tables", JOIN.replace("{t}", "p"), 1.0),
    "delta": Case("no member: a join of Delta tables", JOIN.replace("{t}", "d"), 1.0),
    "join": Case("a join of two members", JOIN, 3.0),
    "aggregate": Case("the same with an aggregate by the key", KEYS, 3.0),
    "eight": Case("a join of eight members", EIGHT, 10.0),
}

# Milliseconds of each step of each plan, by session.
Times = dict[str, list[list[float]]]


def run(asked: argparse.Namespace) -> int:
    with lab.session(asked.memory, asked.cores, stock=True) as stock, lab.progress() as bars:
        _make_tables(stock, members=False)
        sessions = {"stock": stock, "ours": lab.extended(stock)}
        _make_tables(sessions["ours"], members=True)
        task = bars.add_task("planning", total=(asked.plans + WARM_UP) * len(CASES))
        times: dict[str, Times] = {name: {kind: [] for kind in KINDS} for name in CASES}
        for turn in range(asked.plans + WARM_UP):
            for name, case in CASES.items():
                # Delta's jobs take longer or shorter after a plan of the other session, so each comes first in turn.
                for kind in KINDS[:: 1 if turn % 2 else -1]:
                    times[name][kind].append(_steps(sessions[kind], case.sql.format(t="m" if kind == "ours" else "d")))
                bars.advance(task)
        facts = lab.circumstances(sessions["ours"])
    cases = [_judged(name, {kind: plans[WARM_UP:] for kind, plans in found.items()}) for name, found in times.items()]
    record = {"benchmark": "plan", "scale": 0, **facts, "plans": asked.plans, "cases": cases}
    _print(record)
    print(report.write_json(record, asked.out))
    return 0


def _judged(name: str, found: Times) -> dict[str, Any]:
    """rules_ms: what we add outside the optimizer, where none of our rules runs, but Delta's jobs over its log do."""
    facts = {f"{kind}_ms": median(map(sum, plans)) for kind, plans in found.items()}
    steps = {kind: _medians(plans) for kind, plans in found.items()}
    more = {step: steps["ours"][step] - steps["stock"][step] for step in STEPS}
    facts |= {"more_ms": facts["ours_ms"] - facts["stock_ms"], "rules_ms": more["analysis"] + more["physical"]}
    return {"name": name, **asdict(CASES[name]), **facts, "steps_ms": steps}


def _medians(plans: list[list[float]]) -> dict[str, float]:
    return dict(zip(STEPS, map(median, zip(*plans, strict=True)), strict=True))


def _print(record: dict[str, Any]) -> None:
    table = Table(title=f"Planning, from the text to the executable plan; medians of {record['plans']} plans, in ms")
    for column in ("query", "stock", "ours", "more", "more without the optimizer", "allowed"):
        table.add_column(column, justify="left" if column == "query" else "right")
    for case in record["cases"]:
        numbers = (case["stock_ms"], case["ours_ms"], case["more_ms"], case["rules_ms"], case["allowed"])
        table.add_row(case["title"], *(f"{number:.2f}" for number in numbers))
    report.console().print(table)


def _steps(session: SparkSession, text: str) -> list[float]:
    """Milliseconds of each of STEPS; the plan that the optimizer gets is counted to the analysis."""
    java = session._jsparkSession
    times = [time.perf_counter()]
    execution = java.sql(text).queryExecution()
    for step in (execution.withCachedData, execution.optimizedPlan, execution.executedPlan):
        step()
        times.append(time.perf_counter())
    return [(after - before) * 1000 for before, after in pairwise(times)]


def _make_tables(spark: SparkSession, members: bool) -> None:
    """Tables of eight files each, in a database of the session's own."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    name = "ours" if members else "stock"
    spark.sql(f"CREATE DATABASE {name}")
    spark.sql(f"USE {name}")
    layout = "CLUSTERED BY (k) INTO 8 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
    rows = "SELECT /*+ REPARTITION(8) */ cast(id % 1000 AS INT) AS k, id AS v FROM range(10000)"
    for number in range(TABLES):
        if members:
            spark.sql(f"CREATE TABLE m{number} USING delta {layout} AS {rows}")
        if number < 2 or not members:
            spark.sql(f"CREATE TABLE d{number} USING delta AS {rows}")
        if number < 2:
            spark.sql(f"CREATE TABLE p{number} USING parquet AS {rows}")
