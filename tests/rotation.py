"""The slowest tests take turns by day, so that a run ends in time. `COLOCATE_ALL_TESTS=1 ./run test` runs them all."""

import os
import time

import pytest

RUNS_ALL = os.environ.get("COLOCATE_ALL_TESTS", "") not in ("", "0")
TODAY = int(time.time() // 86_400)  # in UTC


def is_due(turn: int, turns: int, day: int = TODAY, runs_all: bool = RUNS_ALL) -> bool:
    """Whether a test is run today that has its turn on each day whose number has the remainder `turn` by `turns`."""
    return runs_all or day % turns == turn


def on_its_day(turn: int, turns: int) -> pytest.MarkDecorator:
    """Skips a test on the days of the others. All are collected, so the run's report says what was left out."""
    reason = f"runs every {turns} days; COLOCATE_ALL_TESTS=1 runs it now"
    return pytest.mark.skipif(not is_due(turn, turns), reason=reason)
