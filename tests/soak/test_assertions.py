"""What the soak asserts, and that each assertion can fail."""

import io
import time

import pytest

from tests.soak.assertions import Exit, Verdict, assertions, exit_code
from tests.soak.report import Failure, Plan, Report, Window
from tests.soak.world import is_calm

MINUTES = 4.0


@pytest.fixture
def report() -> Report:
    """Of a run in which all went well."""
    made = Report(io.StringIO(), queries=1000)
    made.faults.update({"worker killed": 20})
    made.plans = [Plan(t, t + 0.1, True) for t in range(0, 240, 4)]
    made.windows = [Window(100, 119)]
    made.failures = [Failure(110, "STORE_AWAY", "SELECT 1")]
    made.suspended = [36.0]
    return made


def code(report: Report) -> int:
    return exit_code(report, assertions(report, MINUTES))


def broken(report: Report) -> list[str]:
    return [one.text for one in assertions(report, MINUTES) if one.verdict is Verdict.BROKEN]


def too_few(report: Report) -> list[str]:
    return [one.text for one in assertions(report, MINUTES) if one.verdict is Verdict.TOO_FEW]


def test_a_good_run_is_fine_and_says_what_was_asserted(report: Report) -> None:
    found = assertions(report, MINUTES)
    assert exit_code(report, found) == Exit.FINE
    assert [str(one) for one in found] == [
        "minute 0: 100% of 15 plans without a fault are colocated (at least 90%): holds",
        "minute 1: 100% of 10 plans without a fault are colocated (at least 90%): holds",
        "minute 2: 100% of 15 plans without a fault are colocated (at least 90%): holds",
        "minute 3: 100% of 15 plans without a fault are colocated (at least 90%): holds",
        "100% of all 60 plans are colocated (at least 70%): holds",
        "1 times STORE_AWAY in 1001 statements (at most 120): holds",
        "0 failures without a fault: holds",
        "a driver stood still 1 times, up to 36 s (lease: 30 s): holds",
        "20 faults in 4 minutes (at least 8): holds",
        "1000 queries in 4 minutes (at least 80): holds",
    ]


def test_a_wrong_row_is_wrong_however_busy_the_machine_was(report: Report) -> None:
    report.fail("a row is lost")
    report.queries = 3
    assert code(report) == Exit.WRONG


def test_one_minute_of_shuffles_is_wrong(report: Report) -> None:
    report.plans = [Plan(p.begin, p.end, not 120 <= p.begin < 180) for p in report.plans]
    assert broken(report) == ["minute 2: 0% of 15 plans without a fault are colocated (at least 90%)"]
    assert code(report) == Exit.WRONG


def test_shuffles_while_something_is_broken_are_no_fault(report: Report) -> None:
    report.plans = [Plan(p.begin, p.end, not 100 <= p.begin <= 120) for p in report.plans]
    assert not broken(report)


def test_shuffles_whenever_something_is_broken_are_wrong_if_they_are_many(report: Report) -> None:
    report.windows = [Window(100)]
    report.plans = [Plan(p.begin, p.end, p.begin < 100) for p in report.plans]
    assert broken(report) == ["42% of all 60 plans are colocated (at least 70%)"]


def test_each_third_minute_no_fault_begins() -> None:
    assert [is_calm(60 * minute + 30) for minute in range(6)] == [False, False, True, False, False, True]


def test_a_run_without_a_calm_minute_says_nothing(report: Report) -> None:
    report.windows = [Window(0)]
    assert too_few(report) == ["no minute has 5 plans without a fault"]
    assert code(report) == Exit.TOO_FEW


def test_too_many_failures_of_one_kind_are_wrong(report: Report) -> None:
    report.failures *= 200
    assert broken(report) == ["200 times STORE_AWAY in 1200 statements (at most 140)"]
    assert code(report) == Exit.WRONG


def test_as_many_failures_of_many_kinds_are_no_fault(report: Report) -> None:
    report.failures = [Failure(110, f"KIND_{number % 4}", "SELECT 1") for number in range(200)]
    assert not broken(report)


def test_a_failure_without_a_fault_is_wrong(report: Report) -> None:
    report.failures.append(Failure(60, "FILE_NOT_EXIST", "SELECT 2"))
    assert broken(report) == ["1 failures without a fault, the first one FILE_NOT_EXIST: SELECT 2"]
    assert code(report) == Exit.WRONG


def test_a_failure_soon_after_a_fault_belongs_to_it(report: Report) -> None:
    report.failures.append(Failure(135, "LOST_EXECUTOR", "SELECT 2"))
    assert not broken(report)


@pytest.mark.parametrize("what", ["queries", "faults", "suspended"])
def test_too_little_has_a_code_of_its_own(report: Report, what: str) -> None:
    setattr(report, what, {"queries": 50, "faults": type(report.faults)(), "suspended": [12.0]}[what])
    assert len(too_few(report)) == 1
    assert code(report) == Exit.TOO_FEW


def test_the_window_of_a_fault_ends_with_its_healing(report: Report) -> None:
    with pytest.raises(ZeroDivisionError), report.window():
        raise ZeroDivisionError
    made = report.windows[-1]
    assert made.end is not None
    assert made.touches(made.begin - 1, made.begin, 0)
    assert not made.touches(made.end + 6, time.monotonic() + 60, 5)
