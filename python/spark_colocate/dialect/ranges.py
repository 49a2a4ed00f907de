"""PARTITION BY RANGE and the bounds of one partition, as they are written."""

from __future__ import annotations

from dataclasses import replace

from spark_colocate import range_values
from spark_colocate.dialect.buckets import distribution
from spark_colocate.dialect.columns import Columns
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.keys import MODELS_OF_KEYS, KeyModel
from spark_colocate.dialect.values import RangeBounds, RangeClause
from spark_colocate.errors import Code, ColocateError
from spark_colocate.range_partitions import RangePartitions, Spec

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
    """Reads PARTITION p VALUES ... and its own DISTRIBUTED BY, if it has one."""
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
        return _with_buckets(cursor, RangeBounds(name, None, upper, at))
    if not cursor.takes("["):
        cursor.unexpected("LESS THAN", "'['")
    lower = _tuple(cursor)
    cursor.expect(",")
    upper = _tuple(cursor)
    cursor.expect(")")
    return _with_buckets(cursor, RangeBounds(name, lower, upper, at))


def _with_buckets(cursor: Cursor, bounds: RangeBounds) -> RangeBounds:
    if not cursor.takes("DISTRIBUTED"):
        return bounds
    cursor.expect("BY")
    keys, buckets, _ = distribution(cursor)
    return replace(bounds, bucket_keys=keys, buckets=buckets)


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


def table_properties(
    cursor: Cursor, clause: RangeClause | None, columns: Columns, model: KeyModel, bucket_keys: tuple[str, ...]
) -> dict[str, str]:
    """The ranges as properties of the table, checked. bucket_keys: the table's."""
    if clause is None:
        return {}
    kinds = tuple(_kind(cursor, clause, name, columns, model) for name in clause.columns)
    made = RangePartitions(clause.columns, kinds, ())
    for one in clause.partitions:
        _check_bucket_keys(cursor, one, bucket_keys)
        added = made.add(Spec(one.name, one.upper, one.lower, one.buckets))
        if isinstance(added, ColocateError):
            cursor.fail(one.at, added.headline.removesuffix("."), added.cure, added.code)
        made = added
    if not made.partitions:
        cursor.fail(clause.at, "a table needs a partition", "Name one or more partitions.", Code.RANGE_LAST_PARTITION)
    return {"range_partition_by": ", ".join(clause.columns), "range_partitions": made.to_json()}


def _check_bucket_keys(cursor: Cursor, one: RangeBounds, held: tuple[str, ...]) -> None:
    if one.buckets is not None and [key.lower() for key in one.bucket_keys] != [key.lower() for key in held]:
        own = ", ".join(one.bucket_keys)
        what = f"partition {one.name} has the bucket key ({own}), and the table ({', '.join(held)})"
        cursor.fail(one.at, what, "Write the table's key for each partition.", Code.RANGE_BUCKET_KEYS)


def _kind(cursor: Cursor, clause: RangeClause, name: str, columns: Columns, model: KeyModel) -> str:
    """The type of a range column, as Spark's simpleString."""
    column = columns.find(name)
    if column is None:
        known = ", ".join(column.name for column in columns.columns)
        what = f"PARTITION BY RANGE names {name}, and the table has no such column (columns: {known})"
        cursor.fail(clause.at, what, "Name columns of the table.", Code.KEY_ABSENT)
    if model.model in MODELS_OF_KEYS and not model.has(name):
        what = f"PARTITION BY RANGE names {name}, which is a value column (key: {', '.join(model.keys)})"
        cursor.fail(clause.at, what, "Name key columns.", Code.DORIS_TABLE)
    kind = column.type.spark.lower()
    if kind not in range_values.TYPES:
        what = f"PARTITION BY RANGE names {name}, whose type is {column.type.spark}"
        cursor.unsupported(what, "Name a column of type DATE, DATETIME or of an integer type.", clause.at)
    return kind
