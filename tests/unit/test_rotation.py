"""Tests that take turns by day: each has its day, and no day runs them all."""

from tests.rotation import is_due


def test_each_turn_comes_once_in_as_many_days() -> None:
    for turns in (2, 3):
        for first in (20_000, 20_001):
            days = range(first, first + turns)
            due = [[turn for turn in range(turns) if is_due(turn, turns, day, False)] for day in days]
            assert sorted(due) == [[turn] for turn in range(turns)]


def test_the_switch_runs_all_of_them_on_every_day() -> None:
    assert all(is_due(turn, 2, day, True) for turn in range(2) for day in (20_000, 20_001))
