"""What the soak says while it runs, and at its end."""

import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class Report:
    """Counts and log lines, from any thread."""

    out: TextIO
    queries: int = 0
    looked_at: int = 0
    colocated: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _seen: set[str] = field(default_factory=set)

    def say(self, text: str) -> None:
        with self._lock:
            print(time.strftime("%H:%M:%S"), text, file=self.out, flush=True)

    def ran(self, queries: int, colocated: bool | None = None) -> None:
        """colocated: None if nobody looked at the plan."""
        with self._lock:
            self.queries += queries
            self.looked_at += colocated is not None
            self.colocated += colocated is True

    def changed(self, kind: str) -> None:
        with self._lock:
            self.changes[kind] += 1

    def fault(self, name: str, what: str, healed: str, seconds: float) -> None:
        """One line: the fault, what healed, and how long after the fault had ended."""
        with self._lock:
            self.faults[name] += 1
        self.say(f"fault {sum(self.faults.values())}: {name}: {what}; {healed} after {seconds:.1f} s")

    def failed(self, error: Exception, sql: str) -> None:
        """A statement that failed while something was broken. The first one of each sort is shown."""
        sort = condition(error)
        with self._lock:
            self.errors[sort] += 1
            is_new = sort not in self._seen
            self._seen.add(sort)
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
        return (
            f"{sum(self.faults.values())} faults ({faults})\n"
            f"{self.queries} queries, {self.looked_at} plans looked at, {self.colocated} of them colocated\n"
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
