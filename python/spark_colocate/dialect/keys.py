"""AGGREGATE KEY, UNIQUE KEY and DUPLICATE KEY: which columns are keys, and how the others are aggregated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from spark_colocate.checks import key_models
from spark_colocate.checks.key_models import AGGREGATE, AGGREGATIONS, DUPLICATE, UNIQUE
from spark_colocate.dialect.columns import Columns, DorisColumn
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.errors import Code

WORDS = {"AGGREGATE": AGGREGATE, "UNIQUE": UNIQUE, "DUPLICATE": DUPLICATE, "PRIMARY": UNIQUE}

MODELS_OF_KEYS = frozenset({AGGREGATE, UNIQUE})
"""Models whose key names a row: buckets and ranges are made of key columns."""


@dataclass(frozen=True, slots=True)
class KeyModel:
    """model: empty where the statement has none. keys: in the order of the columns. at: where the model is said."""

    model: str = ""
    keys: tuple[str, ...] = ()
    aggregations: tuple[tuple[str, str], ...] = ()
    at: int = 0

    def properties(self) -> dict[str, str]:
        if not self.model:
            return {}
        found = {"key_model": self.model, "key_columns": ", ".join(self.keys)}
        if self.aggregations:
            found["value_aggregates"] = json.dumps(dict(self.aggregations), separators=(",", ":"))
        return found

    def has(self, column: str) -> bool:
        return column.lower() in [key.lower() for key in self.keys]


@dataclass(frozen=True, slots=True)
class KeyClause:
    """AGGREGATE, UNIQUE or DUPLICATE KEY as it is written. at: where it stands in the text."""

    model: str
    columns: tuple[str, ...]
    at: int


def key_model(cursor: Cursor, columns: Columns, written: KeyClause | None) -> KeyModel:
    """The model that the clause and the columns' aggregations give, checked. Without a clause, SUM makes one."""
    clause = written or _implied(columns)
    if clause is None:
        return KeyModel()
    names = tuple(column.name for column in columns.columns[: len(clause.columns)]) or clause.columns
    if not columns.columns and clause.model == AGGREGATE:
        what = "CREATE TABLE AS SELECT with AGGREGATE KEY says nothing of the aggregations of value columns"
        cursor.unsupported(what, "Create the table with its columns, then INSERT INTO it SELECT ....", clause.at)
    aggregations = tuple((column.name, column.aggregation) for column in columns.columns if column.aggregation)
    model = KeyModel(clause.model, names, aggregations, clause.at)
    if columns.columns:
        _check_keys(cursor, columns, clause)
    for column in columns.columns:
        _check_value(cursor, column, model)
    return model


def _implied(columns: Columns) -> KeyClause | None:
    aggregated = [column for column in columns.columns if column.aggregation]
    if not aggregated:
        return None
    return KeyClause(AGGREGATE, tuple(c.name for c in columns.columns if not c.aggregation), aggregated[0].at)


def check_model(
    cursor: Cursor, columns: Columns, model: KeyModel, bucket_keys: Sequence[str], file_format: str
) -> None:
    """What CREATE TABLE checks again for every spelling, told here with its place in the text."""
    if model.model not in MODELS_OF_KEYS:
        return
    if file_format != "delta":
        cursor.fail(
            model.at,
            f"tables with {model.model.upper()} KEY are Delta tables, and this one is written as {file_format.upper()}",
            "SET spark.colocate.dialect.format = delta, or write DUPLICATE KEY.",
            Code.DORIS_UNSUPPORTED,
        )
    if not bucket_keys:
        cursor.fail(
            model.at,
            f"the table has {model.model.upper()} KEY and no buckets",
            "Add DISTRIBUTED BY HASH(key, ...) BUCKETS n.",
            Code.CLUSTERED_BY_MISSING,
        )
    for column in columns.columns:
        wrong = key_models.refused_type(column.type.spark, column.aggregation if not model.has(column.name) else "KEY")
        if wrong:
            cursor.fail(column.at, f"column {column.name} has the type {column.type.spark}, {wrong[0]}", wrong[1],
                        Code.DORIS_TABLE)  # fmt: skip


def _check_keys(cursor: Cursor, columns: Columns, clause: KeyClause) -> None:
    for key in clause.columns:
        if columns.find(key) is None:
            cursor.fail(
                clause.at,
                f"the table has no key column {key} (columns: {', '.join(c.name for c in columns.columns)})",
                "Name columns of the table as its key.",
                Code.KEY_ABSENT,
            )
    first = [column.name for column in columns.columns[: len(clause.columns)]]
    if [key.lower() for key in clause.columns] != [name.lower() for name in first]:
        cursor.fail(
            clause.at,
            f"key columns come first and in the order of the table (key: {', '.join(clause.columns)}; "
            f"first columns: {', '.join(first)})",
            "Move the key columns to the front.",
            Code.DORIS_TABLE,
        )


def _check_value(cursor: Cursor, column: DorisColumn, model: KeyModel) -> None:
    is_key = model.has(column.name)
    if is_key and column.aggregation:
        cursor.fail(
            column.at,
            f"the key column {column.name} has the aggregation {column.aggregation}",
            f"Leave out {column.aggregation}, or take {column.name} out of the key.",
            Code.DORIS_TABLE,
        )
    if not is_key and model.model == AGGREGATE and not column.aggregation:
        cursor.fail(
            column.at,
            f"the value column {column.name} of a table with AGGREGATE KEY has no aggregation",
            f"Write one of {', '.join(AGGREGATIONS)} after its type, or make it a key column.",
            Code.DORIS_TABLE,
        )
    if column.aggregation and model.model != AGGREGATE:
        cursor.fail(
            column.at,
            f"the column {column.name} has the aggregation {column.aggregation}, and the table has "
            f"{model.model.upper()} KEY, which keeps rows as they are",
            f"Leave out {column.aggregation}, or write AGGREGATE KEY.",
            Code.DORIS_TABLE,
        )
