"""PARTITION BY RANGE and the bounds of one partition, as they are written."""

from __future__ import annotations

from spark_colocate.dialect.columns import Columns
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.values import RangeBounds, RangeClause

MAXVALUE, MINVALUE = "MAXVALUE", "MINVALUE"


def range_clause(cursor: Cursor) -> RangeClause:
    """Reads what follows PARTITION BY."""
    at = cursor.at
    if cursor.word() == "LIST":
        cursor.unsupported("PARTITION BY LIST is not translated", "Write PARTITION BY RANGE.")
    cursor.expect("RANGE")
    columns = cursor.names("the name of a column")
    cursor.expect("(")
    partitions: list[RangeBounds] = []
    while not cursor.takes(")"):
        partitions.append(partition(cursor))
        if not cursor.takes(",") and cursor.word() != "PARTITION":
            if not cursor.takes(")"):
                cursor.unexpected("','", "')'")
            break
    return RangeClause(tuple(columns), tuple(partitions), at)


def partition(cursor: Cursor) -> RangeBounds:
    """Reads PARTITION p VALUES ..."""
    at = cursor.at
    if cursor.word() in ("FROM", "START"):
        cursor.unsupported("partitions by a step are not translated", "Write each PARTITION.")
    cursor.expect("PARTITION")
    if cursor.takes("IF"):
        cursor.expect("NOT", "EXISTS")
    name = cursor.name("the name of a partition")
    cursor.expect("VALUES")
    if cursor.takes("LESS"):
        cursor.expect("THAN")
        upper = (MAXVALUE,) if cursor.takes(MAXVALUE) else _tuple(cursor)
        return RangeBounds(name, None, upper, at)
    if not cursor.takes("["):
        cursor.unexpected("LESS THAN", "'['")
    lower = _tuple(cursor)
    cursor.expect(",")
    upper = _tuple(cursor)
    cursor.expect(")")
    return RangeBounds(name, lower, upper, at)


def _tuple(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("(")
    values = [_value(cursor)]
    while cursor.takes(","):
        values.append(_value(cursor))
    cursor.expect(")")
    return tuple(values)


def _value(cursor: Cursor) -> str:
    if cursor.takes(MAXVALUE):
        return MAXVALUE
    if cursor.takes(MINVALUE) or cursor.takes("MIN_VALUE"):
        return MINVALUE
    return cursor.literal("a value in quotes, or MAXVALUE")


def table_properties(cursor: Cursor, clause: RangeClause | None, _columns: Columns) -> dict[str, str]:
    """The ranges as properties of the table."""
    if clause is None:
        return {}
    cursor.unsupported(
        "PARTITION BY RANGE is not there yet", "Leave it out, or write PARTITIONED BY as Spark does.", clause.at
    )
