"""Tests that take turns by day: each has its day, and no day runs them all."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests import rotation
from tests.rotation import SPARK, is_due


def test_each_turn_comes_once_in_as_many_days() -> None:
    for turns in (2, 3):
        for first in (20_000, 20_001):
            days = range(first, first + turns)
            due = [[turn for turn in range(turns) if is_due(turn, turns, day, False)] for day in days]
            assert sorted(due) == [[turn] for turn in range(turns)]


def test_the_switch_runs_all_of_them_on_every_day() -> None:
    assert all(is_due(turn, 2, day, True) for turn in range(2) for day in (20_000, 20_001))


class Item(SimpleNamespace):
    """What a collected test has. skipped: whether it is left out today; None: nothing was said."""

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.skipped = mark.args[0]


def items(path: str, cases: int) -> list[Any]:
    file = SPARK.parent / path
    return [Item(nodeid=f"{path}::test[{case}-[{case}]]", path=file, skipped=None) for case in range(cases)]


@pytest.fixture(params=range(rotation.DAYS))
def day(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    day: int = request.param
    monkeypatch.setattr(rotation, "is_due", lambda turn, turns: is_due(turn, turns, day, False))
    return day


def test_a_test_with_many_cases_runs_some_of_them(day: int) -> None:
    found = items("spark/rules/test_x.py", 10)
    rotation.leave_out_other_days(found)
    assert [number for number, item in enumerate(found) if not item.skipped] == list(range(day, 10, rotation.DAYS))


@pytest.mark.parametrize("cases", [2, 3, 5])
def test_a_test_with_few_cases_runs_one_of_them(day: int, cases: int) -> None:
    found = items("spark/rules/test_x.py", cases)
    rotation.leave_out_other_days(found)
    assert [number for number, item in enumerate(found) if not item.skipped] == [day % cases]


def test_tests_of_one_case_run_on_some_days(day: int) -> None:
    found = [item for number in range(5) for item in items(f"spark/rules/test_{number}.py", 1)]
    rotation.leave_out_other_days(found)
    due = [number for number, item in enumerate(found) if not item.skipped]
    assert due == list(range(day % rotation.SINGLE_DAYS, 5, rotation.SINGLE_DAYS))


def test_tests_without_spark_run_every_day(day: int) -> None:
    found = items("unit/test_y.py", 9) + items("contract/test_z.py", 1)
    rotation.leave_out_other_days(found)
    assert not any(item.skipped for item in found)
