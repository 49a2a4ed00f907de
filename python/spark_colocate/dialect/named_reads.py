"""`FROM t PARTITION p x`: a read of named range partitions, where Spark's parser does not take Doris' text.

Spark's parser reads `FROM t PARTITION (p)` as an alias of t and of its column, which the driver recognises. With
another alias after it, or without parentheses, this module rewrites it to that form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spark_colocate.dialect import spark_text
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.errors import DialectError

READ = "_colocate_partition"
"""A name of the table that says to the driver: the names behind it are partitions."""

_WORDS = ("PARTITION", "PARTITIONS")
_TABLES_FOLLOW = ("FROM", "JOIN")
_NO_TABLES_FOLLOW = ("SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "SET", "VALUES", "WINDOW")
# Keywords that may follow a table in Spark's grammar, and are not an alias of it.
_NO_NAMES = (
    *("ANTI", "CLUSTER", "CROSS", "DISTRIBUTE", "EXCEPT", "FULL", "GROUP", "HAVING", "INNER", "INSERT", "INTERSECT"),
    *("JOIN", "LATERAL", "LEFT", "LIMIT", "MINUS", "NATURAL", "OFFSET", "ON", "ORDER", "PIVOT", "QUALIFY", "RIGHT"),
    *("SELECT", "SEMI", "SORT", "UNION", "UNPIVOT", "USING", "WHEN", "WHERE", "WINDOW", "WITH"),
)


@dataclass(frozen=True, slots=True)
class _Read:
    """start, end: of the table and the clause in the text. table_end: where the table's name ends."""

    start: int
    table_end: int
    end: int
    names: tuple[str, ...]


def with_named_reads(text: str) -> str:
    """The same text if Spark's parser takes its reads of partitions, or if there are none."""
    if "partition" not in text.lower():
        return text
    try:
        found = list(_reads(Cursor(text)))
    except DialectError:
        return text
    for read in reversed(found):
        table = text[read.start : read.table_end]
        text = f"{text[: read.start]}({table} {READ} ({spark_text.names(read.names)})){text[read.end :]}"
    return text


def _reads(cursor: Cursor) -> Iterator[_Read]:
    tables_follow = [False]
    for place in range(cursor.size):
        _note(cursor, place, tables_follow)
        begins = any(cursor.is_at(place, word) for word in (*_TABLES_FOLLOW, ","))
        if begins and tables_follow[-1] and not (place and cursor.is_at(place - 1, "DELETE")):
            read = _read(cursor, place + 1)
            if read:
                yield read


def _note(cursor: Cursor, place: int, tables_follow: list[bool]) -> None:
    """Whether tables are listed here, for each parenthesis that is open."""
    if cursor.is_at(place, "("):
        tables_follow.append(tables_follow[-1])
    elif cursor.is_at(place, ")") and len(tables_follow) > 1:
        tables_follow.pop()
    elif any(cursor.is_at(place, word) for word in _TABLES_FOLLOW):
        tables_follow[-1] = True
    elif any(cursor.is_at(place, word) for word in _NO_TABLES_FOLLOW):
        tables_follow[-1] = False


def _read(cursor: Cursor, place: int) -> _Read | None:
    """A table and its PARTITION clause from `place` on, if Spark's parser does not take it."""
    start = place
    if not cursor.is_name(place):
        return None
    while cursor.is_at(place + 1, ".") and cursor.is_name(place + 2):
        place += 2
    clause = place + 1
    if not any(cursor.is_at(clause, word) for word in _WORDS):
        return None
    names, after, is_list = _names(cursor, clause + 1)
    if not names or (is_list and not _is_named_again(cursor, after)):
        return None
    return _Read(cursor.start_of(start), cursor.end_of(place), cursor.end_of(after - 1), names)


def _names(cursor: Cursor, place: int) -> tuple[tuple[str, ...], int, bool]:
    """The names, the token behind them, and whether it is a list of names that Spark's parser takes."""
    if not cursor.is_at(place, "("):
        is_one = cursor.is_name_or_text(place) and not cursor.is_at(place, "BY")
        return ((cursor.text_of(place),), place + 1, False) if is_one else ((), place, False)
    found, is_list, place = list[str](), True, place + 1
    while cursor.is_name_or_text(place):
        found.append(cursor.text_of(place))
        is_list = is_list and cursor.is_name(place)
        if cursor.is_at(place + 1, ")"):
            return tuple(found), place + 2, is_list
        if not cursor.is_at(place + 1, ","):
            break
        place += 2
    return (), place, False


def _is_named_again(cursor: Cursor, place: int) -> bool:
    """Whether another name of the table or a sample follows."""
    return cursor.is_name(place) and not any(cursor.is_at(place, word) for word in _NO_NAMES)
