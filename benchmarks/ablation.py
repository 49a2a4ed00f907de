"""What each rule pays: the benchmark queries with each rule that is only for speed excluded in turn."""

import argparse
import re
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from statistics import geometric_mean, median
from typing import Any

from pyspark.sql import SparkSession
from spark_colocate import rules
from spark_colocate.catalogues.rules import Rule

from benchmarks import ablation_cases, lab, report
from benchmarks.ablation_cases import MEMBERS, Case
from benchmarks.lines import lines_of
from benchmarks.rows import same
from tools.recorder import Recorder

EXCLUDED = "spark.colocate.rules.excluded"
# Phases that change a plan while it runs, so that the plan before it runs does not show them.
WHILE_RUNNING = {"stage", "columnar"}


@dataclass(frozen=True)
class Run:
    seconds: float
    plan: str
    rows: list[tuple[Any, ...]]


def run(asked: argparse.Namespace) -> int:
    with lab.progress() as bars, lab.session(asked.memory, asked.cores) as spark:
        cases = ablation_cases.cases(spark, asked, bars)
        names = asked.rules or [rule.name for rule in rules() if rule.needed == "speed"]
        chosen = [rule for rule in rules() if rule.name in names]
        task = bars.add_task("rules", total=len(cases))
        found: list[dict[str, Any]] = []
        for case in cases:
            bars.update(task, description=case.name)
            for one in _ablated(spark, case, chosen, asked.rounds):
                found.append(one)
                bars.console.print(f"{one['case']:<22} without {one['rule']:<30} {one['ratio']:.2f}")
            bars.advance(task)
        facts = lab.circumstances(spark)
    record = {
        "benchmark": "rules",
        "scale": asked.scale,
        "rounds": asked.rounds,
        **facts,
        "cases": [case.name for case in cases],
        "rules": [_summary(rule, [one for one in found if one["rule"] == rule.name]) for rule in chosen],
        "changed": found,
    }
    report.print_rules(record)
    print(report.write_json(record, asked.out))
    return 0 if all(one["rows_equal"] for one in found) else 1


def _ablated(spark: SparkSession, case: Case, chosen: list[Rule], rounds: int) -> list[dict[str, Any]]:
    """What the case takes without each rule that changes its plan, in rounds in turn with all rules."""
    _run(spark, case)  # warm
    usual = _run(spark, case)
    plan = None if case.before else _planned(spark, case)  # a command shows none before it runs
    return [_timed(spark, case, rule, rounds, usual) for rule in chosen if _changes(spark, case, rule, plan, usual)]


def _changes(spark: SparkSession, case: Case, rule: Rule, plan: str | None, usual: Run) -> bool:
    if plan is not None and rule.phase not in WHILE_RUNNING:
        return _planned(spark, case, rule.name) != plan
    return _run(spark, case, rule.name).plan != usual.plan


def _timed(spark: SparkSession, case: Case, rule: Rule, rounds: int, usual: Run) -> dict[str, Any]:
    pairs = [(_run(spark, case), _run(spark, case, rule.name)) for _ in range(rounds)]
    with_rule, without = ([pair[side].seconds for pair in pairs] for side in (0, 1))
    return {
        "case": case.name,
        "rule": rule.name,
        "seconds": median(with_rule),
        "seconds_without": median(without),
        "ratio": median(without) / median(with_rule),
        "rows_equal": all(same(usual.rows, one.rows) for pair in pairs for one in pair),
        "rounds": {"with": with_rule, "without": without},
    }


def _run(spark: SparkSession, case: Case, without: str = "") -> Run:
    """One run; its plan is that of all executions over table data, one operator after the other."""
    if case.before:
        with _using(spark, case):
            case.before(spark)
    with _using(spark, case, without), Recorder(spark) as seen:
        started = time.perf_counter()
        rows = [tuple(row) for row in spark.sql(case.sql).collect()]
        seconds = time.perf_counter() - started
    if case.check:
        with _using(spark, case):
            rows = [tuple(row) for row in spark.sql(case.check).collect()]
    return Run(seconds, _operators(seen), rows)


def _using(spark: SparkSession, case: Case, without: str = "") -> AbstractContextManager[None]:
    """The case's database, and a rule excluded, for the length of a block."""
    return lab.using(spark, replace(MEMBERS, tables=case.database, settings={EXCLUDED: without}))


def _operators(seen: Recorder) -> str:
    return "\n".join(f"{node.name} {_plain(node.text)}" for one in seen.data for node in one.nodes)


def _planned(spark: SparkSession, case: Case, without: str = "") -> str:
    """The plan before it runs."""
    with _using(spark, case, without):
        return _plain(str(spark.sql(case.sql)._jdf.queryExecution().executedPlan().toString()))


def _plain(text: str) -> str:
    """Without the numbers that Spark gives to expressions, subqueries and plans."""
    return re.sub(r"#\d+L?|plan_id=\d+|id=#?\d+|_we\d+|_gen_alias_\d+", "#", text)


def _summary(rule: Rule, changed: list[dict[str, Any]]) -> dict[str, Any]:
    """ratio: time without the rule by time with it, over the cases that it changes; above 1 the rule pays."""
    ratios = {one["case"]: one["ratio"] for one in changed}
    best, worst = (choose(ratios, key=ratios.__getitem__, default="") for choose in (max, min))
    return {
        "rule": rule.name,
        "doc": rule.doc,
        "lines": lines_of(rule.name),
        "cases": len(ratios),
        "ratio": geometric_mean(ratios.values()) if ratios else None,
        "best": {"case": best, "ratio": ratios.get(best)},
        "worst": {"case": worst, "ratio": ratios.get(worst)},
        "seconds_saved": sum(one["seconds_without"] - one["seconds"] for one in changed),
    }
