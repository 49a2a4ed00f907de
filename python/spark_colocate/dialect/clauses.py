"""The clauses after the columns of a CREATE TABLE: each at most once, in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from spark_colocate.dialect import keys, ranges
from spark_colocate.dialect.buckets import distribution
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.keys import KeyClause
from spark_colocate.dialect.properties import Property, property_list
from spark_colocate.dialect.values import RangeClause
from spark_colocate.errors import Code


@dataclass
class Clauses:
    """places: where each clause starts, by its first word. query: what follows AS."""

    keys: KeyClause | None = None
    comment: str = ""
    partitions: RangeClause | None = None
    bucket_keys: tuple[str, ...] = ()
    buckets: int = 0
    buckets_at: int = 0
    properties: list[Property] = field(default_factory=list)
    query: str = ""
    ignored: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)


def read_clauses(cursor: Cursor) -> Clauses:
    """Reads to the end of the text."""
    found = Clauses()
    while True:
        cursor.takes(";")
        if cursor.at_end():
            return found
        word, at = cursor.word(), cursor.at
        read = _READERS.get(word)
        if read is None:
            cursor.unexpected(*(w for w in _SHOWN if w not in found.places), "the end")
        if word in found.places:
            cursor.fail(at, f"there are two clauses {word}", "Write each clause once.", Code.DORIS_SYNTAX)
        found.places[word] = at
        cursor.takes(word)
        read(cursor, found)


def _engine(cursor: Cursor, _found: Clauses) -> None:
    cursor.takes("=")
    at = cursor.at
    engine = cursor.name("olap")
    if engine.upper() != "OLAP":
        cursor.fail(
            at, f"ENGINE is {engine}, and only olap is translated", "Write it as Spark does.", Code.DORIS_UNSUPPORTED
        )


def _key(model: str) -> Callable[[Cursor, Clauses], None]:
    def read(cursor: Cursor, found: Clauses) -> None:
        at = cursor.before
        cursor.expect("KEY")
        if found.keys:
            cursor.fail(at, "the table has two kinds of KEY", "Write one of them.", Code.DORIS_TABLE)
        found.keys = KeyClause(model, tuple(cursor.names("the name of a column")), at)

    return read


def _comment(cursor: Cursor, found: Clauses) -> None:
    found.comment = cursor.string("a comment")


def _partition(cursor: Cursor, found: Clauses) -> None:
    cursor.expect("BY")
    found.partitions = ranges.range_clause(cursor)


def _auto(cursor: Cursor, _found: Clauses) -> None:
    ranges.refuse_auto(cursor)


def _distributed(cursor: Cursor, found: Clauses) -> None:
    cursor.expect("BY")
    if cursor.word() == "RANDOM":
        cursor.unsupported("DISTRIBUTED BY RANDOM has no buckets that a join could use", "Write HASH(key, ...).")
    found.bucket_keys, found.buckets, found.buckets_at = distribution(cursor)


def _properties(cursor: Cursor, found: Clauses) -> None:
    found.properties = property_list(cursor)


def _order(cursor: Cursor, found: Clauses) -> None:
    cursor.expect("BY")
    found.ignored.append(f"ORDER BY ({', '.join(cursor.names('the name of a column'))})")


def _rollup(cursor: Cursor, _found: Clauses) -> None:
    cursor.unsupported(
        "there are no rollups that a query would use by itself",
        "Leave ROLLUP out; CREATE TABLE ... AS SELECT makes a second table of the sums.",
        cursor.before,
    )


def _query(cursor: Cursor, found: Clauses) -> None:
    found.query = cursor.rest()


_READERS: dict[str, Callable[[Cursor, Clauses], None]] = {
    "ENGINE": _engine,
    **{word: _key(model) for word, model in keys.WORDS.items()},
    "COMMENT": _comment,
    "PARTITION": _partition,
    "AUTO": _auto,
    "DISTRIBUTED": _distributed,
    "ORDER": _order,
    "ROLLUP": _rollup,
    "PROPERTIES": _properties,
    "AS": _query,
}

# In the order of the statement, as errors name them.
_SHOWN = ("ENGINE", "AGGREGATE", "UNIQUE", "DUPLICATE", "COMMENT", "PARTITION", "DISTRIBUTED", "PROPERTIES", "AS")
