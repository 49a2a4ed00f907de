"""AGGREGATE KEY and UNIQUE KEY: which columns are the key, and how the values of rows with equal keys are combined.

A table keeps its model in three properties. This module checks a declaration, without the store.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from spark_colocate.errors import Code, LayoutError
from spark_colocate.model import Column, TableName

AGGREGATE, UNIQUE, DUPLICATE = "aggregate", "unique", "duplicate"

AGGREGATIONS = ("SUM", "MIN", "MAX", "REPLACE", "REPLACE_IF_NOT_NULL")

ROW_TRACKING = "delta.enableRowTracking"
"""Delta's property with which it numbers rows in the order of the commits. REPLACE needs it."""

_NUMBER = re.compile(r"tinyint|smallint|int|bigint|float|double|decimal\(.*\)")
_NO_KEY = re.compile(r"(float|double|map|array|struct|variant|interval|void)\b.*")
_NO_ORDER = re.compile(r"(map|variant|interval|void)\b.*")


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """A Delta table and the properties that declare its key model.

    keys: the key columns' names, separated by commas. aggregates: JSON, from value columns to aggregations.
    partitioned_by: the columns of PARTITIONED BY and of the ranges.
    """

    name: TableName
    columns: tuple[Column, ...]
    bucket_keys: tuple[str, ...]
    partitioned_by: tuple[str, ...]
    model: str
    keys: str
    aggregates: str = ""


def properties(table: KeyedTable) -> dict[str, str]:
    """The properties that the table keeps, with names as its columns spell them. Raises LayoutError."""
    if table.model not in (AGGREGATE, UNIQUE, DUPLICATE):
        _fail(table, f"'{table.model}' is not a key model", f"Write {AGGREGATE}, {UNIQUE} or {DUPLICATE}.")
    keys = [_column(table, name.strip().strip("`"), "key_columns") for name in table.keys.split(",") if name.strip()]
    if not keys:
        _fail(table, "'key_columns' names no column", "Name the key columns, separated by commas.")
    names = [key.name for key in keys]
    kept = {"key_model": table.model, "key_columns": ", ".join(names)}
    if table.model == DUPLICATE:
        return kept
    _check_keys(table, keys)
    if table.model == UNIQUE:
        if table.aggregates.strip():
            _fail(table, "it has 'value_aggregates'", "Leave them out: the row that is loaded last has all values.")
        return {**kept, ROW_TRACKING: "true"}
    functions = _functions(table, names)
    kept["value_aggregates"] = json.dumps(functions, separators=(",", ":"))
    return {**kept, ROW_TRACKING: "true"} if any(f.startswith("REPLACE") for f in functions.values()) else kept


def _check_keys(table: KeyedTable, keys: list[Column]) -> None:
    names = [key.name for key in keys]
    if len({name.lower() for name in names}) < len(names):
        _fail(table, f"a column is named twice in its key ({', '.join(names)})", "Name each column once.")
    for key in keys:
        if "," in key.name or "`" in key.name:
            _fail(table, f"the name of key column {key.name} has a comma or a backtick", "Choose another name.")
        _check_type(table, key, "KEY")
    if not table.bucket_keys:
        _fail(table, "it has no buckets", "Add CLUSTERED BY (...) INTO n BUCKETS, with key columns.")
    for what, columns in (("CLUSTERED BY", table.bucket_keys), ("partition columns", table.partitioned_by)):
        other = next((c for c in columns if c.lower() not in [name.lower() for name in names]), None)
        if other is not None:
            _fail(
                table,
                f"{what} has {other}, which is not a key column (key: {', '.join(names)}); rows of one key could then "
                "lie in several places",
                "Name key columns only, or add the column to the key.",
            )


def _functions(table: KeyedTable, keys: list[str]) -> dict[str, str]:
    given = {_column(table, name, "value_aggregates").name: word.upper() for name, word in _parsed(table).items()}
    for name, function in given.items():
        if name in keys:
            _fail(table, f"key column {name} has the aggregation {function}", "Leave it out.")
        if function not in AGGREGATIONS:
            _fail(table, f"column {name} has the unknown aggregation {function}", f"Use {', '.join(AGGREGATIONS)}.")
        _check_type(table, _column(table, name, "value_aggregates"), function)
    missing = next((c.name for c in table.columns if c.name not in keys and c.name not in given), None)
    if missing is not None:
        _fail(
            table,
            f"value column {missing} has no aggregation",
            f"Give it one of {', '.join(AGGREGATIONS)} in 'value_aggregates', or make it a key column.",
        )
    return given


def refused_type(data_type: str, use: str) -> tuple[str, str] | None:
    """Why a column of this type can't be a key (use: KEY) or have an aggregation, and the cure; None if it can."""
    plain = data_type.lower()
    if use == "KEY" and _NO_KEY.fullmatch(plain):
        return "whose equal values are not always found equal", "Use an integer, DECIMAL, date, time or text as a key."
    if use == "KEY" and plain.startswith("char("):
        return (
            "which Spark pads when it reads it, so equal values may be stored as two keys",
            "Use VARCHAR(n) or STRING.",
        )
    if use == "SUM" and not _NUMBER.fullmatch(plain):
        return "and SUM needs numbers", "Use MIN, MAX or REPLACE, or a type of numbers."
    if use in ("MIN", "MAX") and _NO_ORDER.fullmatch(plain):
        return f"and {use} needs values with an order", "Use REPLACE, which takes every type."
    return None


def _check_type(table: KeyedTable, column: Column, use: str) -> None:
    wrong = refused_type(column.type, use)
    if wrong:
        _fail(table, f"column {column.name} has the type {column.type.upper()}, {wrong[0]}", wrong[1])


def _parsed(table: KeyedTable) -> dict[str, str]:
    try:
        found = json.loads(table.aggregates or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        _fail(table, f"'value_aggregates' is {table.aggregates}", 'Write JSON such as {"v":"SUM"}.')
    return found


def _column(table: KeyedTable, name: str, where: str) -> Column:
    found = next((c for c in table.columns if c.name.lower() == name.lower()), None)
    if found is None:
        _fail(
            table,
            f"'{where}' names {name}, and the table has no such column "
            f"(columns: {', '.join(c.name for c in table.columns)})",
            "Name columns of the table.",
        )
    return found


def _fail(table: KeyedTable, why: str, cure: str) -> NoReturn:
    model = table.model.upper() if table.model else "a"
    raise LayoutError(Code.KEY_MODEL_INVALID, f"Cannot make {table.name} a table with {model} KEY: {why}.", cure)
