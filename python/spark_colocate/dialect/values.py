"""Input and output of a translation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of the session that a translation needs. format: of a new table, as in Spark's USING.

    group_buckets: the buckets of a group that a table of a database names; None if there is no such group.
    """

    format: str = "delta"
    group_buckets: Callable[[str, str], int | None] = lambda _group, _db: None


@dataclass(frozen=True, slots=True)
class Translation:
    """A Spark statement that does the same, and what the user should know of the differences.

    partitions: the range partitions whose rows a DELETE is limited to, for which Spark has no words.
    query: for a statement that lists something, a query of its rows, which are the table `shown`.
    """

    statement: str
    warnings: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class RangeClause:
    """PARTITION BY RANGE as it is written: nothing is filled up or compared yet. at: where it stands in the text."""

    columns: tuple[str, ...]
    partitions: tuple[RangeBounds | Steps, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Partitions by a step. first, last: as they are written. unit: empty for numbers. prefix: of their names."""

    first: str
    last: str
    step: int
    unit: str
    prefix: str
    at: int


@dataclass(frozen=True, slots=True)
class RangeBounds:
    """One PARTITION. lower is None for VALUES LESS THAN. Values are strings, MINVALUE or MAXVALUE. at: its place.

    bucket_keys, buckets: of its own DISTRIBUTED BY, if it has one. ignored: its properties, which change nothing.
    """

    name: str
    lower: tuple[str, ...] | None
    upper: tuple[str, ...]
    at: int
    bucket_keys: tuple[str, ...] = ()
    buckets: int | None = None
    ignored: tuple[str, ...] = ()
