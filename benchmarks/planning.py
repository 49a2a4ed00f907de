"""./run bench plan: planning time with our extension and without, in two drivers that are asked in turn."""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Self

from pyspark.sql import SparkSession
from rich.table import Table

from benchmarks import lab, report
from benchmarks.data import ROOT

TABLES = 8
BATCH = 10
STEPS = ("analysis", "optimizer", "physical")
WARM_UP = 40


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


# Milliseconds of each step of each plan, by driver.
Times = dict[str, list[list[float]]]


def run(asked: argparse.Namespace) -> int:
    with Driver("stock", asked) as stock, Driver("ours", asked) as ours, lab.progress() as bars:
        task = bars.add_task("planning", total=asked.plans // BATCH * len(CASES))
        times: dict[str, Times] = {name: {"stock": [], "ours": []} for name in CASES}
        for _ in range(asked.plans // BATCH):
            for name in CASES:
                times[name]["stock"] += stock.plan(name)
                times[name]["ours"] += ours.plan(name)
                bars.advance(task)
        facts = ours.facts
    record = {"benchmark": "plan", "scale": 0, **facts,
              "plans": asked.plans, "cases": [_judged(name, found) for name, found in times.items()]}  # fmt: skip
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


class Driver:
    """A session in a process of its own, which plans when it is told to."""

    def __init__(self, kind: str, asked: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "benchmarks.planning", kind, asked.memory, str(asked.cores)]
        self._process = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.facts = self._answer()

    def plan(self, case: str) -> Any:
        assert self._process.stdin is not None
        print(case, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{") or line.startswith("["):
                return json.loads(line)
        raise RuntimeError("the driver ended; its error is above")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def _serve(kind: str, memory: str, cores: int) -> None:
    """Reads names of cases, answers with the milliseconds of a batch of plans."""
    with lab.session(memory, cores, stock=kind == "stock") as spark:
        # Delta reads its log in a job while planning, in 50 tasks by default; they would hide what is looked for.
        spark.conf.set("spark.databricks.delta.snapshotPartitions", "1")
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        _make_tables(spark, members=kind == "ours")
        texts = {name: case.sql.format(t="m" if kind == "ours" else "d") for name, case in CASES.items()}
        for text in texts.values():
            _plan(spark, text, WARM_UP)
        print(json.dumps(lab.circumstances(spark)), flush=True)
        for line in sys.stdin:
            print(json.dumps(_plan(spark, texts[line.strip()], BATCH)), flush=True)


def _plan(spark: SparkSession, text: str, count: int) -> list[list[float]]:
    return [_steps(spark._jsparkSession, text) for _ in range(count)]


def _steps(session: Any, text: str) -> list[float]:
    """Milliseconds of each of STEPS; the plan that the optimizer gets is counted to the analysis."""
    times = [time.perf_counter()]
    execution = session.sql(text).queryExecution()
    for step in (execution.withCachedData, execution.optimizedPlan, execution.executedPlan):
        step()
        times.append(time.perf_counter())
    return [(after - before) * 1000 for before, after in pairwise(times)]


def _make_tables(spark: SparkSession, members: bool) -> None:
    layout = "CLUSTERED BY (k) INTO 8 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
    rows = "SELECT cast(id % 1000 AS INT) AS k, id AS v FROM range(10000)"
    for number in range(TABLES):
        if members:
            spark.sql(f"CREATE TABLE m{number} USING delta {layout} AS {rows}")
        spark.sql(f"CREATE TABLE d{number} USING delta AS {rows}")
        if number < 2:
            spark.sql(f"CREATE TABLE p{number} USING parquet AS {rows}")


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
