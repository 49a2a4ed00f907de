"""The columns of a CREATE TABLE: type, aggregation, NOT NULL, DEFAULT, COMMENT."""

from __future__ import annotations

from dataclasses import dataclass

from spark_colocate.checks.key_models import AGGREGATIONS
from spark_colocate.dialect import spark_text, types
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.types import ColumnType
from spark_colocate.errors import Code

# What ALTER TABLE writes behind a column.
_BEHIND = ("FIRST", "AFTER", "TO", "PROPERTIES")

_REFUSED_AGGREGATIONS = ("HLL_UNION", "BITMAP_UNION", "QUANTILE_UNION", "GENERIC")


@dataclass(frozen=True, slots=True)
class DorisColumn:
    """A column as it is written. default: a literal of Spark, or None. at: where it stands in the text."""

    name: str
    type: ColumnType
    aggregation: str
    is_key: bool
    not_null: bool
    default: str | None
    comment: str
    at: int

    def spark(self) -> str:
        """As Spark's CREATE TABLE has it."""
        parts = [spark_text.name(self.name), self.type.spark]
        if self.not_null:
            parts.append("NOT NULL")
        if self.default is not None:
            parts.append(f"DEFAULT {self.default}")
        if self.comment:
            parts.append(f"COMMENT {spark_text.text(self.comment)}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Columns:
    """The list in parentheses. ignored: what stands there beside columns and has no meaning in Spark."""

    columns: tuple[DorisColumn, ...]
    ignored: tuple[str, ...]

    def find(self, name: str) -> DorisColumn | None:
        return next((column for column in self.columns if column.name.lower() == name.lower()), None)


def column_list(cursor: Cursor) -> Columns:
    """Reads columns and index definitions, with the parentheses around them."""
    columns: list[DorisColumn] = []
    ignored: list[str] = []
    cursor.expect("(")
    while True:
        if _is_index(cursor):
            ignored.append(_index(cursor))
        else:
            columns.append(_new(cursor, columns))
        if cursor.takes(")"):
            return Columns(tuple(columns), tuple(ignored))
        if not cursor.takes(","):
            cursor.unexpected("','", "')'")


def _is_index(cursor: Cursor) -> bool:
    """INDEX i (c). A column may be named `index`, too: a type follows then."""
    if cursor.word() != "INDEX":
        return False
    return cursor.comes("INDEX", "IF") or cursor.word(1) not in types.table() or cursor.is_name_in_parentheses(2)


def _new(cursor: Cursor, before: list[DorisColumn]) -> DorisColumn:
    column = column_of(cursor)
    if any(column.name.lower() == other.name.lower() for other in before):
        cursor.fail(column.at, f"the column {column.name} is named twice", "Name each column once.", Code.DORIS_TABLE)
    return column


def column_of(cursor: Cursor) -> DorisColumn:
    """Reads a column's name, type and what stands behind them."""
    at = cursor.at
    name = cursor.name("the name of a column")
    kind = types.column_type(cursor)
    aggregation, is_key, not_null, comment = "", False, False, ""
    default: str | None = None
    while not _ends(cursor):
        if cursor.takes("KEY"):
            is_key = True
        elif cursor.takes("NOT"):
            cursor.expect("NULL")
            not_null = True
        elif cursor.takes("NULL"):
            not_null = False
        elif cursor.takes("DEFAULT"):
            default = _default(cursor, name, kind)
        elif cursor.takes("COMMENT"):
            comment = cursor.string("a comment")
        else:
            aggregation = _aggregation(cursor)
    return DorisColumn(name, kind, aggregation, is_key, not_null, default, comment, at)


def _ends(cursor: Cursor) -> bool:
    return not cursor.word() or cursor.word() in _BEHIND


def _aggregation(cursor: Cursor) -> str:
    word = cursor.word()
    if word in AGGREGATIONS:
        cursor.takes(word)
        return word
    if word in _REFUSED_AGGREGATIONS:
        cursor.fail(
            cursor.at,
            f"the aggregation {word} is refused, because Spark has no columns of its type",
            f"Use one of {', '.join(AGGREGATIONS)}.",
            Code.DORIS_UNSUPPORTED,
        )
    if word in ("AUTO_INCREMENT", "AS", "GENERATED"):
        cursor.fail(
            cursor.at,
            f"{word} is not translated",
            "Write the table in Spark's spelling, with GENERATED ALWAYS AS ... and USING delta.",
            Code.DORIS_UNSUPPORTED,
        )
    cursor.unexpected(*AGGREGATIONS, "NULL", "NOT NULL", "DEFAULT", "COMMENT", "','", "')'")


def _default(cursor: Cursor, name: str, kind: ColumnType) -> str | None:
    at = cursor.at
    if cursor.takes("NULL"):
        return None
    if cursor.takes("CURRENT_TIMESTAMP"):
        if cursor.takes("("):
            cursor.literal("a number of digits")
            cursor.expect(")")
        return "localtimestamp()" if kind.word == "TIMESTAMP_NTZ" else "current_timestamp()"
    if cursor.takes("CURRENT_DATE"):
        return "current_date()"
    if cursor.word() in ("TRUE", "FALSE"):
        value = cursor.name("a value")
    else:
        value = cursor.literal("a value in quotes, NULL, CURRENT_TIMESTAMP or CURRENT_DATE")
    literal = types.literal(value, kind)
    if literal is None:
        cursor.fail(
            at,
            f"the default {spark_text.text(value)} of column {name} is not a value of its type {kind.spark}",
            "Write a value of the column's type, in quotes.",
            Code.DORIS_TABLE,
        )
    return literal


def _index(cursor: Cursor) -> str:
    cursor.expect("INDEX")
    cursor.takes("IF", "NOT", "EXISTS")
    name = cursor.name("the name of an index")
    cursor.names("the name of a column")
    if cursor.takes("USING"):
        cursor.name("a kind of index")
    if cursor.word() == "PROPERTIES":
        from spark_colocate.dialect.properties import property_list

        cursor.takes("PROPERTIES")
        property_list(cursor)
    if cursor.takes("COMMENT"):
        cursor.string("a comment")
    return f"INDEX {name}"
