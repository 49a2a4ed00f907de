"""DISTRIBUTED BY, of a table or of one of its partitions."""

from __future__ import annotations

from spark_colocate.dialect.cursor import Cursor


def distribution(cursor: Cursor) -> tuple[tuple[str, ...], int, int]:
    """Reads HASH(key, ...) BUCKETS n: the keys, the number, and where the number stands."""
    cursor.expect("HASH")
    keys_found = tuple(cursor.names("the name of a column"))
    cursor.expect("BUCKETS")
    if cursor.word() == "AUTO":
        cursor.unsupported("BUCKETS AUTO is not translated", "Write a number; docs/how-to/doris.md says how many.")
    at = cursor.at
    sign = -1 if cursor.takes("-") else 1
    return keys_found, sign * cursor.number("a number of buckets"), at
