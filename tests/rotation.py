"""Slow tests take turns by day, so that a run ends in time. `COLOCATE_ALL_TESTS=1 ./run test` runs them all.

Two kinds do: those that say so (`on_its_day`), and in a run of the whole suite the tests of tests/spark
(`leave_out_other_days`). A test with several cases runs on each day, with a sixth of its cases, or with one of them
where it has fewer than six; a test of one case runs on every third day.
"""

import os
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

RUNS_ALL = os.environ.get("COLOCATE_ALL_TESTS", "") not in ("", "0")
TODAY = int(time.time() // 86_400)  # in UTC

# Set for the workers of a run that names no files: whoever names some wants all of their cases.
WHOLE_SUITE = "COLOCATE_WHOLE_SUITE"
SPARK = Path(__file__).parent / "spark"
DAYS = 6
SINGLE_DAYS = 3


def is_due(turn: int, turns: int, day: int = TODAY, runs_all: bool = RUNS_ALL) -> bool:
    """Whether a test is run today that has its turn on each day whose number has the remainder `turn` by `turns`."""
    return runs_all or day % turns == turn


def on_its_day(turn: int, turns: int) -> pytest.MarkDecorator:
    """Skips a test on the days of the others. All are collected, so the run's report says what was left out.

    Not for tests of tests/spark: with a turn of both kinds, a case may have no day on which both are due.
    """
    reason = f"runs every {turns} days; COLOCATE_ALL_TESTS=1 runs it now"
    return pytest.mark.skipif(not is_due(turn, turns), reason=reason)


def leave_out_other_days(items: Sequence[pytest.Item]) -> None:
    """Marks the cases that have their turn on another day."""
    tests = defaultdict(list)
    for item in items:
        if item.path.is_relative_to(SPARK):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        if len(cases) > 1:
            _take_turns(cases, min(len(cases), DAYS))
    _take_turns([cases[0] for cases in tests.values() if len(cases) == 1], SINGLE_DAYS)


def _take_turns(items: Sequence[pytest.Item], turns: int) -> None:
    for number, item in enumerate(items):
        item.add_marker(on_its_day(number % turns, turns))
