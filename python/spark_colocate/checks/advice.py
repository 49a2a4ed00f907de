"""How many partitions and buckets a table should have, and of which columns: Doris' rules for data division.

A tablet is one bucket of one partition: the unit that a task reads, and that is written, compacted and moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

MIB, GIB = 1 << 20, 1 << 30
MB, GB, TB = 1000**2, 1000**3, 1000**4

SMALL_TABLET, LARGE_TABLET = GIB, 10 * GIB
"""Between these a tablet is of a good size."""

FAR_TOO_SMALL, FEW_BUCKETS = 16 * MIB, 16
"""Smaller tablets than this are named by CREATE without being asked; so few buckets may be small."""

MANY_TABLETS = 10_000
LONG_KEY = 255


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What is known of a table. bytes: of its rows, in one copy. disks: of all hosts together. None: not known."""

    buckets: int
    partitions: int = 1
    bytes: int | None = None
    disks: int | None = None
    key_types: tuple[str, ...] = ()

    @property
    def tablets(self) -> int:
        return max(1, self.partitions) * max(1, self.buckets)

    @property
    def share(self) -> int | None:
        """Bytes of a tablet."""
        return None if self.bytes is None else self.bytes // self.tablets


@dataclass(frozen=True, slots=True)
class Advice:
    """urgent: so far off that a CREATE says it without being asked."""

    code: str
    text: str
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Division:
    """Partitions, and buckets in each of them from `least` to `most`."""

    partitions: int
    least: int
    most: int

    def __str__(self) -> str:
        buckets = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{buckets} buckets" + (f" in each of {self.partitions} partitions" if self.partitions > 1 else "")


_SIZES = ((500 * MB, Division(1, 4, 8)), (5 * GB, Division(1, 8, 16)), (50 * GB, Division(1, 32, 32)))
_PARTITION = 50 * GB


def division(size: int) -> Division:
    """For a table of this size in bytes, as Doris' table of sizes has it: above 50 GB, partitions of 50 GB."""
    for largest, fitting in _SIZES:
        if size <= largest:
            return fitting
    return Division(-(-size // _PARTITION), 16, 32)


def advise(facts: TableFacts) -> tuple[Advice, ...]:
    """All advice, that on the size of tablets first: it matters more than their number."""
    found = (rule(facts) for rule in _RULES)
    return tuple(one for one in found if one)


def hints(facts: TableFacts) -> tuple[str, ...]:
    """The advice that a CREATE logs."""
    return tuple(one.text for one in advise(facts) if one.urgent)


def _size(facts: TableFacts) -> Advice | None:
    if facts.bytes is None or facts.share is None:
        return None
    fitting = division(facts.bytes)
    text = (
        f"{_counted(facts)} for about {facts.bytes >> 20} MiB make {facts.share / MIB:.1f} MiB per bucket; "
        f"{_better(facts, facts.bytes, fitting)} would fit better."
    )
    if facts.share > LARGE_TABLET:
        return Advice("TABLETS_LARGE", text, urgent=True)
    if facts.share < SMALL_TABLET and facts.tablets > fitting.partitions * fitting.most:
        return Advice("TABLETS_SMALL", text, urgent=facts.share < FAR_TOO_SMALL and facts.tablets > FEW_BUCKETS)
    return None


def _better(facts: TableFacts, size: int, fitting: Division) -> str:
    """A large table without partitions may stay so, with more buckets."""
    if facts.partitions > 1 or fitting.partitions == 1:
        return str(fitting)
    return f"{-(-size // LARGE_TABLET)} to {-(-size // SMALL_TABLET)} buckets, or {fitting}"


def _number(facts: TableFacts) -> Advice | None:
    """Fewer tablets than disks leave disks idle, unless more of them would be small."""
    if not facts.disks or facts.tablets >= facts.disks:
        return None
    if facts.bytes is not None and facts.bytes // facts.disks < SMALL_TABLET:
        return None
    text = f"{_counted(facts)} are fewer than the {facts.disks} disks; a few more than disks keep all of them busy."
    return Advice("TABLETS_FEW", text)


def _many(facts: TableFacts) -> Advice | None:
    """Advice for a table whose size is not known, from the number of buckets alone."""
    if facts.bytes is not None or facts.tablets <= MANY_TABLETS:
        return None
    text = (
        f"{_counted(facts)} are {facts.tablets} tablets, each with files of its own; a tablet should have 1 to 10 GB. "
        "Take fewer buckets, or longer ranges."
    )
    return Advice("TABLETS_MANY", text, urgent=True)


def _keys(facts: TableFacts) -> Advice | None:
    strings = [kind for kind in facts.key_types if kind.lower().startswith(("string", "varchar"))]
    if not strings:
        return None
    long = [kind for kind in strings if _length(kind) is None or (_length(kind) or 0) > LONG_KEY]
    tail = f", and {long[0].upper()} may be long; VARCHAR(n) with the length that is needed is enough" if long else ""
    return Advice("KEY_TEXT", f"Integer keys are hashed and compared faster than {strings[0].upper()}{tail}.")


def _length(kind: str) -> int | None:
    found = re.fullmatch(r"varchar\((\d+)\)", kind.lower())
    return int(found[1]) if found else None


def _counted(facts: TableFacts) -> str:
    partitions = f" in each of {facts.partitions} partitions" if facts.partitions > 1 else ""
    return f"{facts.buckets} buckets{partitions}"


_RULES: tuple[Callable[[TableFacts], Advice | None], ...] = (_size, _number, _many, _keys)
