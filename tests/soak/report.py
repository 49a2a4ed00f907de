"""What the soak says while it runs, and at its end."""

import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class Window:
    """The time in which a fault has its effects, by the monotonic clock. end: None while it goes on."""

    begin: float
    end: float | None = None

    def touches(self, begin: float, end: float, grace: float) -> bool:
        """Whether some of this time is in the window, or at most `grace` seconds after it."""
        return self.begin <= end and (self.end is None or begin <= self.end + grace)


@dataclass(frozen=True)
class Plan:
    """A query that the layout serves, from its begin to its end, and whether it read a table by its buckets."""

    begin: float
    end: float
    colocated: bool


@dataclass(frozen=True)
class Failure:
    """A statement that failed. sort: its error condition, or the first words of its text."""

    when: float
    sort: str
    sql: str


@dataclass
class Report:
    """Counts, moments and log lines, from any thread."""

    out: TextIO
    queries: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    suspended: list[float] = field(default_factory=list)
    """For how many seconds a driver stood still, each time."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def errors(self) -> Counter[str]:
        return Counter(failure.sort for failure in self.failures)

    def say(self, text: str) -> None:
        with self._lock:
            print(time.strftime("%H:%M:%S"), text, file=self.out, flush=True)

    def ran(self, queries: int) -> None:
        with self._lock:
            self.queries += queries

    def planned(self, begin: float, colocated: bool) -> None:
        """The plan of a query that the layout serves was looked at."""
        with self._lock:
            self.plans.append(Plan(begin, time.monotonic(), colocated))

    def changed(self, kind: str) -> None:
        with self._lock:
            self.changes[kind] += 1

    @contextmanager
    def window(self) -> Iterator[None]:
        """Something is broken within the block, or heals."""
        made = Window(time.monotonic())
        with self._lock:
            self.windows.append(made)
        try:
            yield
        finally:
            made.end = time.monotonic()

    def fault(self, name: str, what: str, healed: str, seconds: float) -> None:
        """One line: the fault, what healed, and how long after the fault had ended."""
        with self._lock:
            self.faults[name] += 1
        self.say(f"fault {sum(self.faults.values())}: {name}: {what}; {healed} after {seconds:.1f} s")

    def failed(self, error: Exception, sql: str) -> None:
        """A statement that failed while something was broken. The first one of each sort is shown."""
        sort = condition(error)
        with self._lock:
            is_new = all(failure.sort != sort for failure in self.failures)
            self.failures.append(Failure(time.monotonic(), sort, sql))
        if is_new:
            self.say(f"first failure of this sort: {sort}: {sql[:150]}: {str(error)[:600]}")

    def fail(self, text: str) -> None:
        """Something that must not be: the soak has failed."""
        with self._lock:
            self.wrong.append(text)
        self.say(f"WRONG: {text}")

    def summary(self) -> str:
        faults = ", ".join(f"{name} {number}" for name, number in sorted(self.faults.items()))
        changes = ", ".join(f"{name} {number}" for name, number in sorted(self.changes.items()))
        errors = ", ".join(f"{name} {number}" for name, number in self.errors.most_common()) or "none"
        colocated = sum(plan.colocated for plan in self.plans)
        return (
            f"{sum(self.faults.values())} faults ({faults})\n"
            f"{self.queries} queries, {len(self.plans)} plans looked at, {colocated} of them colocated\n"
            f"{sum(self.changes.values())} changes ({changes})\n"
            f"failed and tried again: {errors}\n"
            f"{len(self.wrong)} wrong" + "".join(f"\n  {text}" for text in self.wrong)
        )


def condition(error: Exception) -> str:
    """Its error condition, or the first words of what it says. Delta's own errors come through Py4J as texts."""
    asked = getattr(error, "getCondition", None)
    found = asked() if asked else None
    named = re.search(r"\[([A-Z][A-Z0-9_.]+)\]", str(error))
    first = str(error).strip().partition("\n")[0][:80]
    return str(found or (named.group(1) if named else first or type(error).__name__))
