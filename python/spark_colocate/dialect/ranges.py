"""PARTITION BY RANGE and the bounds of one partition, as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

from spark_colocate.checks import range_values
from spark_colocate.checks.range_partitions import RangePartitions, Spec
from spark_colocate.dialect.buckets import AUTO, distribution
from spark_colocate.dialect.columns import Columns
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.keys import MODELS_OF_KEYS, KeyModel
from spark_colocate.dialect.properties import property_list
from spark_colocate.dialect.properties import table_properties as of_table
from spark_colocate.dialect.steps import ranges as of_steps
from spark_colocate.dialect.steps import steps
from spark_colocate.dialect.values import RangeBounds, RangeClause, Steps
from spark_colocate.errors import Code, ColocateError

MAXVALUE, MINVALUE = "MAXVALUE", "MINVALUE"
_STEPS = ("FROM", "START")
_ON_LOAD = "makes partitions while rows are loaded, and here they are there before"
_BY_HAND = (
    'Write PARTITION BY RANGE(c) (FROM ("2024-01-01") TO ("2025-01-01") INTERVAL 1 MONTH), and ALTER TABLE t ADD '
    "PARTITION from a scheduler."
)


def range_clause(cursor: Cursor) -> RangeClause:
    """Reads what follows PARTITION BY."""
    at = cursor.at
    _refuse_other_kinds(cursor)
    cursor.expect("RANGE")
    columns = cursor.names("the name of a column")
    cursor.expect("(")
    partitions: list[RangeBounds | Steps] = []
    while not cursor.takes(")"):
        partitions.append(steps(cursor) if cursor.word() in _STEPS else partition(cursor))
        if not cursor.takes(",") and cursor.word() not in ("PARTITION", *_STEPS):
            if not cursor.takes(")"):
                cursor.unexpected("','", "')'")
            break
    return RangeClause(tuple(columns), tuple(partitions), at)


def _refuse_other_kinds(cursor: Cursor) -> None:
    """PARTITION BY LIST(c), and of StarRocks PARTITION BY (c), PARTITION BY c and PARTITION BY date_trunc('day', c)."""
    own = (
        "Leave it out, and create the table in Spark's spelling with PARTITIONED BY (c) for a partition of each value."
    )
    if cursor.word() == "LIST":
        cursor.unsupported("PARTITION BY LIST names the values of each partition, and partitions are ranges", own)
    if cursor.word() == "RANGE":
        if cursor.is_name_in_parentheses(1) and cursor.comes_at(3, "("):
            cursor.unsupported(f"PARTITION BY RANGE of an expression {_ON_LOAD}", _BY_HAND)
        return
    if cursor.comes("(") or not cursor.comes_at(1, "("):
        cursor.unsupported(f"PARTITION BY columns {_ON_LOAD}", own)
    cursor.unsupported(f"PARTITION BY an expression {_ON_LOAD}", _BY_HAND)


def refuse_auto(cursor: Cursor) -> NoReturn:
    """AUTO PARTITION BY RANGE(date_trunc(c, 'month')) (), or LIST(c)."""
    cursor.unsupported(f"AUTO PARTITION {_ON_LOAD}", _BY_HAND, cursor.before)


def partition(cursor: Cursor) -> RangeBounds:
    """Reads PARTITION p VALUES ..., its properties, and its own DISTRIBUTED BY, if it has one."""
    at = cursor.at
    cursor.expect("PARTITION")
    if cursor.takes("IF"):
        cursor.expect("NOT", "EXISTS")
    name = cursor.name("the name of a partition")
    cursor.expect("VALUES")
    if cursor.takes("LESS"):
        cursor.expect("THAN")
        upper = (MAXVALUE,) if cursor.takes(MAXVALUE) else _tuple(cursor)
        return _with_rest(cursor, RangeBounds(name, None, upper, at))
    if cursor.word() == "IN":
        cursor.unsupported("VALUES IN lists values, and partitions are ranges", "Write VALUES [(...), (...)).")
    if not cursor.takes("["):
        cursor.unexpected("LESS THAN", "'['")
    lower = _tuple(cursor)
    cursor.expect(",")
    upper = _tuple(cursor)
    cursor.expect(")")
    return _with_rest(cursor, RangeBounds(name, lower, upper, at))


def _with_rest(cursor: Cursor, bounds: RangeBounds) -> RangeBounds:
    """Properties and DISTRIBUTED BY, in any order."""
    while cursor.comes("(") or cursor.word() in ("PROPERTIES", "DISTRIBUTED"):
        if cursor.takes("DISTRIBUTED"):
            cursor.expect("BY")
            keys, buckets, _ = distribution(cursor)
            bounds = replace(bounds, bucket_keys=keys, buckets=None if buckets == AUTO else buckets)
        else:
            cursor.takes("PROPERTIES")
            given = property_list(cursor)
            of_table(cursor, given)
            bounds = replace(bounds, ignored=(*bounds.ignored, *(one.key for one in given)))
    return bounds


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
    if not columns.columns:
        return {"range_partition_by": ", ".join(clause.columns), "range_partitions": _unchecked(cursor, clause)}
    kinds = tuple(_kind(cursor, clause, name, columns, model) for name in clause.columns)
    made = RangePartitions(clause.columns, kinds, ())
    for one in _each(cursor, clause, kinds[0]):
        _check_bucket_keys(cursor, one, bucket_keys)
        lower = None if one.lower is None else _least_as_minvalue(one.lower, kinds)
        added = made.add(Spec(one.name, _least_as_minvalue(one.upper, kinds), lower, one.buckets))
        if isinstance(added, ColocateError):
            cursor.fail(one.at, added.headline.removesuffix("."), added.cure, added.code)
        made = added
    if not made.partitions:
        cursor.fail(clause.at, "a table needs a partition", "Name one or more partitions.", Code.RANGE_LAST_PARTITION)
    return {"range_partition_by": ", ".join(clause.columns), "range_partitions": made.to_json()}


def _each(cursor: Cursor, clause: RangeClause, kind: str) -> Iterator[RangeBounds]:
    for one in clause.partitions:
        if isinstance(one, RangeBounds):
            yield one
            continue
        if len(clause.columns) > 1:
            cursor.fail(one.at, "steps are of one column", "Write each PARTITION.", Code.RANGE_VALUE_COUNT)
        yield from of_steps(cursor, one, kind)


def _unchecked(cursor: Cursor, clause: RangeClause) -> str:
    """The partitions of CREATE TABLE AS SELECT: its query decides the types, so the session checks them."""
    found = []
    for one in _each(cursor, clause, ""):
        entry: dict[str, object] = {"name": one.name, "upper": list(one.upper)}
        entry |= {"lower": list(one.lower)} if one.lower is not None else {}
        entry |= {"buckets": one.buckets} if one.buckets is not None else {}
        found.append(entry)
    return json.dumps(found, separators=(",", ":"))


def listed(cursor: Cursor, found: Steps) -> str:
    """The partitions of ALTER TABLE ADD PARTITIONS, whose bounds are written so that they fit a DATE and a DATETIME."""
    kind = "date" if found.unit not in ("", "HOUR") else "timestamp_ntz" if found.unit else "bigint"
    made = [{"name": one.name, "lower": (one.lower or ("",))[0], "upper": one.upper[0]}
            for one in of_steps(cursor, found, kind)]  # fmt: skip
    return json.dumps(made, separators=(",", ":"))


def _least_as_minvalue(values: tuple[str, ...], kinds: tuple[str, ...]) -> tuple[str, ...]:
    """What SHOW CREATE TABLE of Doris and StarRocks prints of a bound that was not written: '0000-01-01'."""
    given = zip(values, kinds, strict=False)
    shown = tuple(MINVALUE if range_values.least(value, kind) else value for value, kind in given)
    return (*shown, *values[len(kinds) :])


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
        cure = "Name a column of type DATE, DATETIME, TINYINT, SMALLINT, INT or BIGINT"
        cure += ", or declare it BIGINT: Spark has no integer of 128 bits." if kind == "decimal(38,0)" else "."
        cursor.unsupported(what, cure, clause.at)
    return kind
