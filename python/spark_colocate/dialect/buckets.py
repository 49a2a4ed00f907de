"""DISTRIBUTED BY, of a table or of one of its partitions."""

from __future__ import annotations

from spark_colocate.dialect.cursor import Cursor

AUTO = -(1 << 40)
"""The number is left to us: no number that could be written."""


def distribution(cursor: Cursor) -> tuple[tuple[str, ...], int, int]:
    """Reads HASH(key, ...) [BUCKETS n | AUTO]: the keys, the number or AUTO, and where the number stands."""
    cursor.expect("HASH")
    keys_found = tuple(cursor.names("the name of a column"))
    if not cursor.takes("BUCKETS") or cursor.takes("AUTO"):
        return keys_found, AUTO, cursor.before
    at = cursor.at
    sign = -1 if cursor.takes("-") else 1
    return keys_found, sign * cursor.number("a number of buckets"), at
