"""Which cases the second tier leaves out, by the marks of a test. A test without one of these marks runs all its cases.

| mark | in the second tier |
|---|---|
| `slow` (a test, or a value of a parameter) | not run |
| `not_slow` (a test) | run, though a value of one of its fixtures is `slow` |
| `each_value` | as many cases as it takes to have each value of each parameter once |
| `pairs` | as many cases as it takes to have each pair of values of two parameters once; `pairs("a", "b", "c")`: of
these parameters, and each value of the others |
| `every` | `every(3)`: the first, the fourth, ... of its cases; for lists of like things, where a mutant of
tests/mutants says if one is missed |

Two marks say for which versions of Spark a test, or a value of a parameter, holds. On others it is in no tier.

| mark | runs |
|---|---|
| `since("4.2", "why")` | on this minor version of Spark and later ones |
| `before("4.2", "why")` | on earlier ones |

The cases of `each_value` and `pairs` are chosen once and kept in `cases.json`: `python -m tests.tiers` writes it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.tiers.covering import covering

MARKS = {
    "slow": "only `./run test --all` runs it",
    "not_slow": "`./run test` runs it, though a value of one of its fixtures is slow",
    "each_value": "`./run test` runs as many of its cases as have each value of each parameter",
    "pairs": "`./run test` runs as many of its cases as have each pair of values of two parameters",
    "every": "`./run test` runs each second, third, ... of its cases",
    "since": "it holds on this minor version of Spark and later ones: since('4.2', 'what is new there')",
    "before": "it holds on minor versions of Spark before this one: before('4.2', 'what is new there')",
}

# Clusters, the soak, downloads, long fuzzing, and what takes minutes by itself and asks the same as others in another
# place. Any other test has a case in the second tier.
THIRD_TIER = (
    "tests/acceptance/test_bench_and_demo.py::test_bench_join_writes_every_engine_with_rows_times_and_bytes",
    "tests/acceptance/test_suites.py::test_queries_give_the_rows_of_stock_delta",
    "tests/cluster/",
    "tests/docs/test_cluster.py",
    "tests/docs/test_repair_steps.py::test_the_steps_show_the_damage_and_mend_it",
    "tests/docs/test_servers.py::test_beeline_runs_the_statements_of_the_documents",
    "tests/docs/test_servers.py::test_spark_sql_runs_the_quickstart",
    "tests/fuzz/test_long.py",
    "tests/packaging/test_cluster.py",
    "tests/packaging/test_core_alone.py",
    "tests/packaging/test_whole_release.py",
    "tests/soak/test_slice.py",
    "tests/spark/rules/join/test_trap_memory.py::test_a_bucket_three_times_the_memory_of_a_1_gib_heap_spills",
    "tests/spark/rules/test_outsiders.py::test_plans_of_suites",
)
TABLE = Path(__file__).parent / "cases.json"

Table = Mapping[str, Sequence[str]]


def in_second_tier(items: Sequence[pytest.Item], table: Table) -> list[pytest.Item]:
    """In the order given, in which tests that share a fixture's value follow each other: it is made once for all."""
    kept = {item for test, cases in by_test(items).items() for item in _kept(cases, table.get(test))}
    return [item for item in items if item in kept]


def of_version(items: Iterable[pytest.Item], spark: str) -> list[pytest.Item]:
    """Those that hold on a version of Spark, such as `4.1.4`."""
    return [item for item in items if holds(item, spark)]


def holds(item: pytest.Item, spark: str) -> bool:
    """Of all marks, because a test and a value of its parameter may have one each."""
    since = all(numbers(mark.args[0]) <= numbers(spark) for mark in item.iter_markers("since"))
    return since and all(numbers(spark) < numbers(mark.args[0]) for mark in item.iter_markers("before"))


def numbers(version: str) -> tuple[int, int]:
    """Major and minor version."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def first_of_each(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The first case of each test function, in the order given."""
    kept = {cases[0] for cases in by_test(items).values()}
    return [item for item in items if item in kept]


def by_test(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """The cases of each test function."""
    found = defaultdict(list)
    for item in items:
        found[item.nodeid.partition("[")[0]].append(item)
    return found


def case_of(item: pytest.Item) -> str:
    """What stands in brackets."""
    return item.nodeid.partition("[")[2][:-1]


def _kept(cases: Sequence[pytest.Item], chosen: Sequence[str] | None) -> list[pytest.Item]:
    """All, if the table does not know the test, or knows cases that there are no more: then a test fails."""
    candidates = _candidates(cases)
    if chosen is None or not set(chosen) <= {case_of(case) for case in candidates}:
        return candidates
    return [case for case in candidates if case_of(case) in set(chosen)]


def _candidates(cases: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Those that are not slow; each n-th of these, where the test has the mark `every`."""
    mark = cases[0].get_closest_marker("every")
    return [case for case in cases if not is_slow(case)][:: mark.args[0] if mark else 1]


def is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None and item.get_closest_marker("not_slow") is None


def choose(items: Iterable[pytest.Item]) -> dict[str, list[str]]:
    """The table of the tests that are marked."""
    found = {}
    for test, cases in by_test(items).items():
        candidates = _candidates(cases)
        if is_marked(cases[0]) and len(candidates) > 1:
            values = values_of(candidates)
            found[test] = [case_of(candidates[number]) for number in covering(values, paired(cases[0], values[0]))]
    return dict(sorted(found.items()))


def is_marked(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(mark) for mark in ("each_value", "pairs"))


def paired(item: pytest.Item, parameters: Iterable[str]) -> set[str]:
    """The parameters of which each pair of values is asked for."""
    mark = item.get_closest_marker("pairs")
    return set() if mark is None else set(mark.args or parameters)


def values_of(cases: Sequence[pytest.Item]) -> list[dict[str, int]]:
    """Of each parameter, which of its values a case has: the number of the first case with an equal one."""
    seen: dict[str, list[Any]] = defaultdict(list)

    def number(name: str, value: Any) -> int:
        if value not in seen[name]:
            seen[name].append(value)
        return seen[name].index(value)

    parameters = [case.callspec.params for case in cases]  # type: ignore[attr-defined]
    return [{name: number(name, value) for name, value in one.items()} for one in parameters]


def problems(items: Sequence[pytest.Item], table: Table) -> list[str]:
    """What is wrong with the second tier, a line each."""
    kept, wanted = by_test(in_second_tier(items, table)), choose(items)
    old = [test for test in {**table, **wanted} if list(table.get(test, ())) != wanted.get(test)]
    missed = [test for test in by_test(items) if test not in kept and not test.startswith(THIRD_TIER)]
    return [
        *(f"{test}: the table of cases is old; `python -m tests.tiers` writes it" for test in sorted(old)),
        *(f"{test}: no case of it is in the second tier" for test in sorted(missed)),
    ]


def read_table() -> Table:
    table: Table = json.loads(TABLE.read_text())
    return table
