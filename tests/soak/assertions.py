"""What a run of the soak must hold, besides right rows, and whether it lasted long enough to say so."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spark_colocate.service.jobs.states import LEASE_SECONDS

from tests.soak.report import Plan, Report

COLOCATED_AT_LEAST = 0.9
"""Of the plans of one minute, when nothing was broken."""
COLOCATED_IN_ALL = 0.7
"""Of all plans, whatever was broken: evidence decides, so they need neither the store nor a control plane."""
FEWEST_PLANS = 5
"""Fewer than these in a minute say nothing about a share."""

FAILED_AT_MOST = 0.1
"""One kind of failure may come up to so often for each statement; the first `FAILED_FREE` are free."""
FAILED_FREE = 20

GRACE_SECONDS = 20.0
"""For so long after a fault has healed, its statements may still fail: an executor's loss is noticed late."""

FAULTS_PER_MINUTE = 2
QUERIES_PER_MINUTE = 20


class Verdict(Enum):
    HOLDS = "holds"
    BROKEN = "BROKEN"
    TOO_FEW = "too few to say"


@dataclass(frozen=True)
class Assertion:
    text: str
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.text}: {self.verdict.value}"


class Exit:
    """Codes with which the soak ends."""

    FINE = 0
    WRONG = 1
    """A wrong row, something lost or stuck, or an assertion that does not hold."""
    TOO_FEW = 3
    """The machine was too busy to say anything."""


def assertions(report: Report, minutes: float) -> list[Assertion]:
    """Everything that is asserted of a run that should have lasted so many minutes."""
    return [*_shares(report), *_bounds(report), _none_without_fault(report), _suspended(report, minutes),
            *_enough(report, minutes)]  # fmt: skip


def exit_code(report: Report, found: list[Assertion]) -> int:
    verdicts = {one.verdict for one in found}
    if report.wrong or Verdict.BROKEN in verdicts:
        return Exit.WRONG
    return Exit.TOO_FEW if Verdict.TOO_FEW in verdicts else Exit.FINE


def _shares(report: Report) -> Iterator[Assertion]:
    """By minutes since the first plan."""
    minutes: dict[int, list[Plan]] = defaultdict(list)
    for plan in report.plans:
        if not any(window.touches(plan.begin, plan.end, 0) for window in report.windows):
            minutes[int((plan.begin - report.plans[0].begin) // 60)].append(plan)
    judged = {minute: plans for minute, plans in sorted(minutes.items()) if len(plans) >= FEWEST_PLANS}
    for minute, plans in judged.items():
        share = sum(plan.colocated for plan in plans) / len(plans)
        text = f"minute {minute}: {share:.0%} of {len(plans)} plans without a fault are colocated"
        yield Assertion(f"{text} (at least {COLOCATED_AT_LEAST:.0%})", _of(share >= COLOCATED_AT_LEAST))
    share = sum(plan.colocated for plan in report.plans) / max(len(report.plans), 1)
    text = f"{share:.0%} of all {len(report.plans)} plans are colocated (at least {COLOCATED_IN_ALL:.0%})"
    yield Assertion(text, _of(share >= COLOCATED_IN_ALL) if len(report.plans) >= FEWEST_PLANS else Verdict.TOO_FEW)
    if not judged:
        yield Assertion(f"no minute has {FEWEST_PLANS} plans without a fault", Verdict.TOO_FEW)


def _bounds(report: Report) -> Iterator[Assertion]:
    statements = report.queries + report.changes.total() + len(report.failures)
    most = FAILED_FREE + FAILED_AT_MOST * statements
    for sort, number in report.errors.most_common():
        yield Assertion(f"{number} times {sort} in {statements} statements (at most {most:.0f})", _of(number <= most))


def _none_without_fault(report: Report) -> Assertion:
    found = [
        failure
        for failure in report.failures
        if not any(window.touches(failure.when, failure.when, GRACE_SECONDS) for window in report.windows)
    ]
    first = f", the first one {found[0].sort}: {found[0].sql[:150]}" if found else ""
    return Assertion(f"{len(found)} failures without a fault{first}", _of(not found))


def _suspended(report: Report, minutes: float) -> Assertion:
    """In a run of less than two minutes it may happen that none is over."""
    longest = max(report.suspended, default=0.0)
    text = f"a driver stood still {len(report.suspended)} times, up to {longest:.0f} s (lease: {LEASE_SECONDS:.0f} s)"
    return Assertion(text, Verdict.HOLDS if longest > LEASE_SECONDS or minutes < 2 else Verdict.TOO_FEW)


def _enough(report: Report, minutes: float) -> Iterator[Assertion]:
    for what, number, least in (
        ("faults", report.faults.total(), FAULTS_PER_MINUTE),
        ("queries", report.queries, QUERIES_PER_MINUTE),
    ):
        wanted = least * minutes
        verdict = Verdict.HOLDS if number >= wanted else Verdict.TOO_FEW
        yield Assertion(f"{number} {what} in {minutes:g} minutes (at least {wanted:.0f})", verdict)


def _of(holds: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.BROKEN
