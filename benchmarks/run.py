"""One verb for each benchmark: engines are compared in rounds in turn, and what was seen is written down."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    ablation,
    ablation_cases,
    cluster,
    cut,
    hybrid,
    join,
    keys,
    merge,
    planning,
    registry,
    skew,
    suite,
)
from benchmarks.report import RESULTS

Verbs = Any
"""argparse's collection of verbs, whose class is private."""

RUNS = {
    "cluster": cluster.run,
    "cost": cluster.show,
    "cut": cut.run,
    "join": join.run,
    "merge": merge.run,
    "hybrid": hybrid.run,
    "plan": planning.run,
    "keys": keys.run,
    "skew": skew.run,
    "registry": registry.run,
    "rules": ablation.run,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    _engine_verbs(verbs)
    _cluster_verbs(verbs)
    _other_verbs(verbs)
    asked = parser.parse_args(arguments)
    return RUNS.get(asked.verb, suite.run)(asked)


def _engine_verbs(verbs: Verbs) -> None:
    """Benchmarks on TPC data, most of which compare several engines."""
    for name, default_scale, engines in (
        ("join", 5.0, join.ENGINES),
        ("merge", 5.0, merge.ENGINES),
        ("hybrid", 5.0, ()),
        ("operators", 5.0, suite.ENGINES),
        ("tpch", 1.0, suite.ENGINES),
        ("tpcds", 1.0, suite.ENGINES),
    ):
        verb = verbs.add_parser(name)
        verb.add_argument("--scale", type=float, default=default_scale, help=f"1 is 1 GB of text ({default_scale:g})")
        _rounds(verb)
        verb.add_argument("--buckets", type=int, help="buckets of every member (the layout file's)")
        if engines:
            verb.add_argument("--engines", nargs="+", default=list(engines), help="names of engines/*.toml")
        _session_arguments(verb, "8g")
        if name == "join":
            verb.add_argument("--loads", type=int, default=1, help="how often each table is loaded and timed (1)")
        elif name in suite.SUITES:
            verb.add_argument("--queries", nargs="+", help="names of queries, such as q3 q18 (all)")


def _cluster_verbs(verbs: Verbs) -> None:
    """Benchmarks on several hosts."""
    verb = verbs.add_parser("cluster")
    _cluster_arguments(verb)
    verb.add_argument("--rounds", type=int, default=2, help="measured rounds of each link (2)")
    verb.add_argument("--warm-up", type=int, default=1, help="rounds before those of the first link (1)")
    verb.add_argument("--links", nargs="+", default=["1gbit", "100mbit"], help="speeds of links (1gbit 100mbit)")
    names = list(cluster.MADE)
    verb.add_argument("--statements", nargs="+", choices=names, default=names, help=f"({' '.join(names)})")
    verb = verbs.add_parser("cut")
    _cluster_arguments(verb)
    verb.add_argument("--link", default="1gbit", help="speed of links (1gbit)")
    verb = verbs.add_parser("cost", help="shows a result of cluster again, with the cost model that fits it")
    verb.add_argument("result", type=Path, help="a JSON file of benchmarks/results")


def _other_verbs(verbs: Verbs) -> None:
    """Benchmarks with data of their own."""
    verb = verbs.add_parser("plan")
    verb.add_argument("--plans", type=int, default=100, help="measured plans of each query (100)")
    _session_arguments(verb, "2g")
    verb = verbs.add_parser("registry")
    verb.add_argument("--rounds", type=int, default=30, help="measured rounds, after 60 to warm up (30)")
    _session_arguments(verb, "2g")
    verb = verbs.add_parser("skew")
    verb.add_argument("--rows", type=int, default=30_000_000, help="rows of the large table (30 million)")
    verb.add_argument("--row-groups", type=int, help="MiB of a row group of the tables' files (as members have them)")
    _rounds(verb)
    _session_arguments(verb, "8g")
    verb = verbs.add_parser("keys")
    verb.add_argument("--rows", type=int, default=10_000_000, help="loaded rows of each table (10 million)")
    _rounds(verb)
    _session_arguments(verb, "8g")
    verb = verbs.add_parser("rules")
    verb.add_argument("--scale", type=float, default=1.0, help="1 is 1 GB of text (1)")
    verb.add_argument("--rounds", type=int, default=5, help="measured rounds with and without each rule (5)")
    verb.add_argument(
        "--sets", nargs="+", default=list(ablation_cases.SETS), help=f"of {' '.join(ablation_cases.SETS)} (all)"
    )
    verb.add_argument("--rules", nargs="+", help="names of rules (all that are only for speed)")
    _session_arguments(verb, "8g")


def _rounds(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--rounds", type=int, default=5, help="measured rounds, after one to warm up (5)")


def _cluster_arguments(verb: argparse.ArgumentParser) -> None:
    """What a benchmark on several hosts takes."""
    verb.add_argument("--scale", type=float, default=5.0, help="1 is 1 GB of text (5)")
    verb.add_argument("--buckets", type=int, help="buckets of every member (the layout file's)")
    verb.add_argument("--hosts", type=int, default=3, help="workers of one core, each on a host of its own (3)")
    verb.add_argument("--worker-memory", default="3g", help="heap of an executor (3g)")
    _session_arguments(verb, "2g")


def _session_arguments(verb: argparse.ArgumentParser, memory: str) -> None:
    """What every benchmark takes: its session, and where its result goes."""
    verb.add_argument("--cores", type=int, default=os.cpu_count(), help="local[n] (all)")
    verb.add_argument("--memory", default=memory, help=f"heap of the driver, which runs the tasks ({memory})")
    verb.add_argument("--out", type=Path, default=RESULTS, help="folder of the results (benchmarks/results)")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
