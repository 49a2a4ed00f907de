"""SHOW CREATE TABLE in Doris' spelling: translates Spark's own SHOW CREATE TABLE."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from spark_colocate.checks.key_models import ROW_TRACKING
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.keys import WORDS
from spark_colocate.dialect.values import Options
from spark_colocate.errors import DialectError

_TYPES = {"DECIMAL(38,0)": "LARGEINT", "BINARY": "VARBINARY"}
_FUNCTIONS = {"LOCALTIMESTAMP": "CURRENT_TIMESTAMP", "CURRENT_DATE": "CURRENT_DATE"}

# Properties that a clause says, and one that a DEFAULT brings.
_KEYS = ("key_model", "key_columns", "value_aggregates")
_RANGES = ("range_partition_by", "range_partitions")
_IMPLIED = (*_KEYS, *_RANGES, "delta.feature.allowColumnDefaults", ROW_TRACKING)


class _NoWords(Exception):
    """Doris has no words for this."""


@dataclass
class _Table:
    name: str
    columns: list[_Shown] = field(default_factory=list)
    bucket_keys: list[str] = field(default_factory=list)
    buckets: int = 0
    comment: str = ""
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Shown:
    name: str
    type: str
    not_null: bool
    default: str
    comment: str


def doris_create(text: str, options: Options) -> str | None:
    """The statement of Doris that makes the table again; None where Doris has no words for what the table has."""
    try:
        return _written(_read(Cursor(text), options))
    except (DialectError, _NoWords):
        return None


# --- Reading ---


def _read(cursor: Cursor, options: Options) -> _Table:
    cursor.expect("CREATE", "TABLE")
    table = _Table(cursor.table()[-1])
    cursor.expect("(")
    table.columns.append(_column(cursor))
    while cursor.takes(","):
        table.columns.append(_column(cursor))
    cursor.expect(")", "USING")
    if cursor.name("a format").lower() != options.format:
        raise _NoWords
    if cursor.takes("CLUSTERED"):
        cursor.expect("BY")
        table.bucket_keys = cursor.names("a key")
        cursor.expect("INTO")
        table.buckets = cursor.number("a number")
        cursor.expect("BUCKETS")
    if cursor.takes("COMMENT"):
        table.comment = cursor.string("a comment")
    if cursor.takes("TBLPROPERTIES"):
        table.properties = _pairs(cursor)
    cursor.end()
    return table


def _pairs(cursor: Cursor) -> dict[str, str]:
    found: dict[str, str] = {}
    cursor.expect("(")
    while not cursor.takes(")"):
        key = cursor.string("a key")
        cursor.expect("=")
        found[key] = cursor.string("a value")
        cursor.takes(",")
    return found


def _column(cursor: Cursor) -> _Shown:
    name = cursor.name("a column")
    kind = _type(cursor.until("NOT", "DEFAULT", "COMMENT", "GENERATED", ",", ")"))
    not_null = cursor.takes("NOT", "NULL")
    default = _default(cursor) if cursor.takes("DEFAULT") else ""
    comment = cursor.string("a comment") if cursor.takes("COMMENT") else ""
    return _Shown(name, kind, not_null, default, comment)


def _type(spark: str) -> str:
    """The type in Doris; none for a moment in the session's time zone, for intervals and for collations."""
    kind = _TYPES.get(spark, re.sub(r"\bTIMESTAMP_NTZ\b", "DATETIME", spark))
    if re.search(r"\b(TIMESTAMP|INTERVAL|COLLATE|TIME)\b", kind):
        raise _NoWords
    return kind


def _default(cursor: Cursor) -> str:
    """A literal as text in quotes, or a function."""
    for spark, doris in _FUNCTIONS.items():
        if cursor.takes(spark, "(", ")"):
            return doris
    if cursor.word() in ("TRUE", "FALSE"):
        return _quoted(cursor.name("a value").lower())
    if cursor.takes("CAST", "("):
        value = cursor.literal("a value")
        cursor.until(")")
        cursor.expect(")")
        return _quoted(value)
    cursor.takes("DATE")
    cursor.takes("TIMESTAMP_NTZ")
    return _quoted(cursor.literal("a value"))


# --- Writing ---


def _written(table: _Table) -> str:
    aggregates = json.loads(table.properties.get("value_aggregates", "{}"))
    columns = ",\n".join(f"  {_column_text(column, aggregates)}" for column in table.columns)
    properties = {key: value for key, value in table.properties.items() if key not in _IMPLIED}
    parts = [
        f"CREATE TABLE {_name(table.name)} (\n{columns}\n) ENGINE=OLAP",
        _key_clause(table.properties),
        f"COMMENT {_quoted(table.comment)}" if table.comment else "",
        _range_clause(table),
        _distributed(table, table.buckets) if table.bucket_keys else "",
        _property_clause(properties),
    ]
    return "\n".join(part for part in parts if part) + ";"


def _column_text(column: _Shown, aggregates: dict[str, str]) -> str:
    parts = [_name(column.name), column.type, aggregates.get(column.name, "")]
    parts.append("NOT NULL" if column.not_null else "NULL")
    parts.append(f"DEFAULT {column.default}" if column.default else "")
    parts.append(f"COMMENT {_quoted(column.comment)}" if column.comment else "")
    return " ".join(part for part in parts if part)


def _key_clause(properties: dict[str, str]) -> str:
    model = properties.get("key_model")
    word = next((word for word, known in WORDS.items() if known == model), None)
    return f"{word} KEY({_names(properties['key_columns'].split(', '))})" if word else ""


def _range_clause(table: _Table) -> str:
    properties = table.properties
    if not all(key in properties for key in _RANGES):
        return ""
    partitions = ",\n".join(_partition(entry, table) for entry in json.loads(properties["range_partitions"]))
    columns = [column.strip() for column in properties["range_partition_by"].split(",")]
    return f"PARTITION BY RANGE({_names(columns)})\n({partitions})"


def _partition(entry: dict[str, Any], table: _Table) -> str:
    upper = _bound(entry["upper"])
    lower = entry.get("lower")
    bounds = f"VALUES LESS THAN {upper}" if lower is None else f"VALUES [{_bound(lower)}, {upper})"
    own = f" {_distributed(table, entry['buckets'])}" if "buckets" in entry else ""
    return f"PARTITION {_name(str(entry['name']))} {bounds}{own}"


def _distributed(table: _Table, buckets: int) -> str:
    return f"DISTRIBUTED BY HASH({_names(table.bucket_keys)}) BUCKETS {buckets}"


def _bound(values: list[str]) -> str:
    return f"({', '.join(value if value in ('MINVALUE', 'MAXVALUE') else _quoted(value) for value in values)})"


def _property_clause(properties: dict[str, str]) -> str:
    if not properties:
        return ""
    pairs = ",\n".join(f"{_quoted(key)} = {_quoted(value)}" for key, value in properties.items())
    return f"PROPERTIES (\n{pairs}\n)"


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _names(names: list[str]) -> str:
    return ", ".join(_name(name) for name in names)


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
