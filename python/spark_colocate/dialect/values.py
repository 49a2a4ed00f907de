"""What goes into a translation and what comes out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What the session decides. format: of a new table, as in Spark's USING."""

    format: str = "delta"


@dataclass(frozen=True, slots=True)
class Translation:
    """A Spark statement that does the same, and what the user should know of the differences.

    partitions: the range partitions whose rows a DELETE is limited to, for which Spark has no words.
    """

    statement: str
    warnings: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RangeClause:
    """PARTITION BY RANGE as it is written: nothing is filled up or compared yet. at: where it stands in the text."""

    columns: tuple[str, ...]
    partitions: tuple[RangeBounds, ...]
    at: int


@dataclass(frozen=True, slots=True)
class RangeBounds:
    """One PARTITION. lower is None for VALUES LESS THAN. Values are texts, MINVALUE or MAXVALUE. at: its place.

    bucket_keys, buckets: of its own DISTRIBUTED BY, if it has one.
    """

    name: str
    lower: tuple[str, ...] | None
    upper: tuple[str, ...]
    at: int
    bucket_keys: tuple[str, ...] = ()
    buckets: int | None = None
