"""Range partitions of a random table: which rows they take, and how a user and both engines write them."""

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from tests.fuzz.types import Type

# A value of a range column as a number, so that bounds are compared as tuples. NULL and MINVALUE are below all others.
Number = float
Bound = tuple[Number, ...]
MIN, MAX = float("-inf"), float("inf")

_EPOCH = datetime(1970, 1, 1)
_TIMES = ("TIMESTAMP", "TIMESTAMP_NTZ")
_FEWEST_FITTING = 0.6


@dataclass(frozen=True)
class Partition:
    """The rows from `lower` up to, but not including, `upper`. buckets: its own number, else the table's counts."""

    name: str
    lower: Bound
    upper: Bound
    buckets: int | None = None


@dataclass(frozen=True)
class Ranges:
    """columns: names and types of the range columns. partitions: in the order of their bounds."""

    columns: tuple[tuple[str, Type], ...]
    partitions: tuple[Partition, ...]

    def find(self, values: Sequence[Any]) -> str | None:
        """The partition of a row with these values of the range columns."""
        row = self.bound(values)
        return next((p.name for p in self.partitions if p.lower <= row < p.upper), None)

    def bound(self, values: Sequence[Any]) -> Bound:
        return tuple(map(number, values))

    def open(self) -> list[tuple[Bound, Bound]]:
        """The ranges of no partition: holes, what is below the first one, what is above the last one."""
        width = len(self.columns)
        lowers = [*(p.lower for p in self.partitions), (MAX,) * width]
        uppers = [(MIN,) * width, *(p.upper for p in self.partitions)]
        return [(low, high) for low, high in zip(uppers, lowers, strict=True) if low < high]

    def starts_at(self, upper: Bound) -> Bound:
        """Where a partition VALUES LESS THAN `upper` begins."""
        return max((p.upper for p in self.partitions if p.upper < upper), default=(MIN,) * len(self.columns))

    def having(self, partition: Partition) -> "Ranges":
        return replace(self, partitions=tuple(sorted((*self.partitions, partition), key=lambda p: p.lower)))

    def without(self, name: str) -> "Ranges":
        return replace(self, partitions=tuple(p for p in self.partitions if p.name != name))

    # --- for a user --------------------------------------------------------------------------------------------------

    def properties(self) -> dict[str, str]:
        """A lower bound is written where it does not follow from the partition before."""
        entries = []
        for p, lower in self._written():
            bounds = {"lower": self.texts(p.lower)} if lower else {}
            own = {"buckets": p.buckets} if p.buckets else {}
            entries.append({"name": p.name, **bounds, "upper": self.texts(p.upper), **own})
        names = ", ".join(name for name, _ in self.columns)
        return {"range_partition_by": names, "range_partitions": json.dumps(entries)}

    def doris(self, keys: Sequence[str]) -> str:
        """PARTITION BY RANGE, as Doris has it. keys: the bucket keys."""
        parts = [f"PARTITION {p.name} {self.values(p, lower)}{distributed(p, keys)}" for p, lower in self._written()]
        return f"PARTITION BY RANGE({', '.join(name for name, _ in self.columns)}) ({', '.join(parts)})"

    def values(self, partition: Partition, lower: bool) -> str:
        upper = self._tuple(partition.upper)
        return f"VALUES [{self._tuple(partition.lower)}, {upper})" if lower else f"VALUES LESS THAN {upper}"

    def texts(self, bound: Bound) -> list[str]:
        return [_text(kind, value) for (_, kind), value in zip(self.columns, bound, strict=True)]

    def _tuple(self, bound: Bound) -> str:
        words = [text if text in ("MINVALUE", "MAXVALUE") else f'"{text}"' for text in self.texts(bound)]
        return f"({', '.join(words)})"

    def _written(self) -> Iterator[tuple[Partition, bool]]:
        """Each partition, and whether its lower bound must be written."""
        before: Bound = (MIN,) * len(self.columns)
        for p in self.partitions:
            yield p, p.lower != before
            before = p.upper

    # --- for both engines --------------------------------------------------------------------------------------------

    def name_of(self, prefix: str = "") -> str:
        """SQL that gives a row's partition, null for none."""
        cases = []
        for p in self.partitions:
            below, above = (self._at_least(bound, prefix) for bound in (p.lower, p.upper))
            cases.append(f"WHEN coalesce({below}, false) AND NOT coalesce({above}, false) THEN '{p.name}'")
        return f"CASE {' '.join(cases)} END"

    def buckets_of(self, declared: int) -> str:
        """SQL that gives the number of buckets of a row's partition. declared: the table's."""
        own = "".join(f" WHEN '{p.name}' THEN {p.buckets}" for p in self.partitions if p.buckets)
        return f"CASE _colocate_range{own} ELSE {declared} END" if own else str(declared)

    def _at_least(self, bound: Bound, prefix: str, at: int = 0) -> str:
        if at == len(bound):
            return "true"
        (name, kind), value = self.columns[at], bound[at]
        if value == MAX:
            return "false"
        column, rest = f"{prefix}{name}", self._at_least(bound, prefix, at + 1)
        if value == MIN:
            return f"({column} IS NOT NULL OR {rest})"
        return f"({column} > {literal(kind, value)} OR {column} = {literal(kind, value)} AND {rest})"

    def condition(self, rng: random.Random, alias: str) -> str:
        """One on a range column, mostly near a bound."""
        at = rng.randrange(len(self.columns))
        name, kind = self.columns[at]
        column = f"{alias}.{name}"
        near = sorted(rng.choices(self._near(at), k=3))
        low, middle, high = (literal(kind, value + rng.choice((0, 0, 1, -1))) for value in near)
        choices = [
            f"{column} {rng.choice(('<', '<=', '>', '>=', '=', '<>'))} {middle}",
            f"{column} {rng.choice(('<', '<=', '>', '>='))} {middle}",
            f"{column} BETWEEN {low} AND {high}",
            f"({column} >= {low} AND {column} < {high})",
            f"{column} {rng.choice(('IN', 'IN', 'NOT IN'))} ({low}, {middle}, {high})",
            f"{column} IS {rng.choice(('NULL', 'NOT NULL'))}",
            f"{column} IS NOT DISTINCT FROM {middle}",
            f"({column} < {low} OR {column} IS NULL OR {column} = {high})",
        ]
        return rng.choice([*choices, *_of_functions(kind, column, middle)])

    def _near(self, at: int) -> list[Number]:
        bounds = {bound[at] for p in self.partitions for bound in (p.lower, p.upper)} - {MIN, MAX}
        return sorted(bounds) or [number(self.columns[at][1].value(5))]


def distributed(partition: Partition, keys: Sequence[str]) -> str:
    own = f" DISTRIBUTED BY HASH({', '.join(keys)}) BUCKETS {partition.buckets}"
    return own if partition.buckets else ""


def own_buckets(rng: random.Random, declared: int) -> int | None:
    """A number for a partition: one that shares a divisor with the table's, as a rule."""
    return rng.choice((None, 2 * declared, 2 * declared, 3 * declared, declared + 1, max(1, declared // 2)))


def is_ranged(kind: Type) -> bool:
    return kind.is_integer or kind.spark == "DATE" or kind.spark in _TIMES


def number(value: Any) -> Number:
    if value is None:
        return MIN
    if isinstance(value, datetime):
        return (value - _EPOCH) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - _EPOCH.date()).days
    return int(value)


def literal(kind: Type, value: Number) -> str:
    """A value, spelled alike for both engines. They read a zone's TIMESTAMP in the session's, UTC."""
    if kind.is_integer:
        return str(value)
    return f"{'TIMESTAMP' if kind.spark in _TIMES else 'DATE'}'{_text(kind, value)}'"


def _text(kind: Type, value: Number) -> str:
    if value in (MIN, MAX):
        return "MINVALUE" if value == MIN else "MAXVALUE"
    if kind.spark in _TIMES:
        return (_EPOCH + timedelta(microseconds=value)).isoformat(sep=" ")
    return str(value) if kind.is_integer else (_EPOCH.date() + timedelta(days=value)).isoformat()


def _of_functions(kind: Type, column: str, text: str) -> tuple[str, ...]:
    if kind.is_integer:
        return f"{column} % 3 = 1", f"abs({column}) <= abs({text})", f"{column} + 1 > {text}"
    return f"year({column}) = 2024", f"month({column}) = 3", f"day({column}) <= 15", f"CAST({column} AS DATE) >= {text}"


def draw(rng: random.Random, columns: Sequence[tuple[str, Type]], rows: Sequence[Sequence[Any]]) -> Ranges:
    """Bounds near values of the rows, most of which fit; with holes, and open at either end or not."""
    tuples = sorted({tuple(map(number, row)) for row in rows})
    for _ in range(10):
        ranges = Ranges(tuple(columns), _partitions(rng, _edges(rng, tuples, len(columns))))
        if sum(ranges.find(row) is not None for row in rows) >= _FEWEST_FITTING * len(rows):
            return ranges
    return Ranges(tuple(columns), (Partition("all_rows", (MIN,) * len(columns), (MAX,) * len(columns)),))


def _edges(rng: random.Random, tuples: Sequence[Bound], width: int) -> list[Bound]:
    lowest, highest = (MIN,) * width, (MAX,) * width
    cuts = {_cut(rng, row) for row in rng.sample(tuples, min(len(tuples), rng.randint(2, 5)))}
    ends = {end for end in (lowest, highest) if rng.random() < 0.6}
    edges = sorted((cuts - {lowest}) | ends)
    return edges if len(edges) > 1 else [lowest, highest]


def _cut(rng: random.Random, row: Bound) -> Bound:
    """At the row, one beside it, or where a second column is left out."""
    *first, last = row
    if first and rng.random() < 0.4:
        return (*first, rng.choice((MIN, MIN, MAX)))
    return (*first, last + rng.choice((0, 0, 0, 1, -1)))


def _partitions(rng: random.Random, edges: Sequence[Bound]) -> tuple[Partition, ...]:
    all_of = [Partition(f"p{n}", low, high) for n, (low, high) in enumerate(itertools.pairwise(edges))]
    return tuple(p for p in all_of if rng.random() > 0.2) or tuple(all_of)
