"""CREATE TABLE: its clauses are read and checked, and written as Spark's CREATE TABLE."""

from __future__ import annotations

from spark_colocate.checks import advice, table_checks
from spark_colocate.checks.advice import TableFacts
from spark_colocate.dialect import keys, properties, ranges, spark_text
from spark_colocate.dialect.buckets import AUTO
from spark_colocate.dialect.clauses import Clauses, read_clauses
from spark_colocate.dialect.columns import Columns, column_list
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.keys import KeyModel
from spark_colocate.dialect.values import Options, RangeBounds, Translation
from spark_colocate.errors import Code

MAX_ROW_BYTES = 100 * 1024
"""The largest size of all columns together, as in Doris."""

_DEFAULTS = "delta.feature.allowColumnDefaults"


def create_table(cursor: Cursor, options: Options) -> Translation:
    """Reads what follows CREATE. Raises DialectError with the place of the first fault."""
    if cursor.word() in ("EXTERNAL", "TEMPORARY"):
        cursor.unsupported(f"CREATE {cursor.word()} TABLE is not translated", "Write it as Spark does.")
    cursor.expect("TABLE")
    only_new = cursor.takes("IF")
    if only_new:
        cursor.expect("NOT", "EXISTS")
    table = cursor.table()
    columns = column_list(cursor) if cursor.comes("(") else Columns((), ())
    clauses = read_clauses(cursor)
    chosen = _choose_buckets(clauses, table, options)
    if not columns.columns and not clauses.query:
        cursor.unexpected("columns in parentheses", "AS SELECT")
    model = keys.key_model(cursor, columns, clauses.keys)
    _check_buckets(cursor, columns, clauses, model)
    range_properties = ranges.table_properties(cursor, clauses.partitions, columns, model, clauses.bucket_keys)
    keys.check_model(cursor, columns, model, clauses.bucket_keys, options.format)
    kept = properties.table_properties(cursor, clauses.properties)
    _check_group(cursor, clauses, kept.kept)
    table_properties = {
        **_features(columns, options),
        **model.properties(),
        **range_properties,
        **kept.kept,
    }
    head = f"CREATE TABLE {'IF NOT EXISTS ' if only_new else ''}{spark_text.name(*table)}"
    ignored = [*columns.ignored, *clauses.ignored, *_of_partitions(clauses)]
    warnings = [f"Without a meaning in Spark, and left out: {', '.join(ignored)}."] if ignored else []
    warnings += chosen + _long_rows(columns)
    warnings += advice.hints(_facts(columns, clauses))
    return Translation(_statement(head, columns, clauses, table_properties, options), (*kept.warnings, *warnings))


def _statement(
    head: str, columns: Columns, clauses: Clauses, table_properties: dict[str, str], options: Options
) -> str:
    parts = [head]
    if columns.columns:
        parts.append(f"({', '.join(column.spark() for column in columns.columns)})")
    parts.append(f"USING {options.format}")
    if clauses.bucket_keys:
        parts.append(f"CLUSTERED BY ({spark_text.names(clauses.bucket_keys)}) INTO {clauses.buckets} BUCKETS")
    if clauses.comment:
        parts.append(f"COMMENT {spark_text.text(clauses.comment)}")
    if table_properties:
        parts.append(f"TBLPROPERTIES {spark_text.properties(table_properties)}")
    if clauses.query:
        parts.append(f"AS {clauses.query}")
    return " ".join(parts)


def _choose_buckets(clauses: Clauses, table: tuple[str, ...], options: Options) -> list[str]:
    """BUCKETS AUTO, or without BUCKETS: as many as the group has, else as a table of unknown size should have."""
    if clauses.buckets != AUTO:
        return []
    given = {one.key.strip().lower(): one.value.strip() for one in clauses.properties}
    group = given.get(properties.GROUP, "")
    of_group = options.group_buckets(group, table[-2] if len(table) > 1 else "") if group else None
    clauses.buckets = of_group or advice.division(0).most
    why = f"as the group {group} has" if of_group else "which suit a table of up to 500 MB"
    return [
        f"BUCKETS is left to us: {clauses.buckets} buckets, {why}. docs/how-to/doris.md says how many suit which size."
    ]


def _of_partitions(clauses: Clauses) -> list[str]:
    listed = clauses.partitions.partitions if clauses.partitions else ()
    names = [name for one in listed if isinstance(one, RangeBounds) for name in one.ignored]
    return list(dict.fromkeys(names))


def _facts(columns: Columns, clauses: Clauses) -> TableFacts:
    partitions = len(clauses.partitions.partitions) if clauses.partitions else 1
    found = [columns.find(key) for key in clauses.bucket_keys]
    return TableFacts(clauses.buckets, partitions, key_types=tuple(c.type.spark for c in found if c))


def _features(columns: Columns, options: Options) -> dict[str, str]:
    """Delta takes DEFAULT only where the table says so."""
    defaults = any(column.default is not None for column in columns.columns)
    return {_DEFAULTS: "supported"} if defaults and options.format == "delta" else {}


def _check_buckets(cursor: Cursor, columns: Columns, clauses: Clauses, model: KeyModel) -> None:
    at = clauses.places.get("DISTRIBUTED", 0)
    if clauses.bucket_keys and not 1 <= clauses.buckets <= table_checks.MAX_BUCKETS:
        cursor.fail(
            clauses.buckets_at,
            f"BUCKETS is {clauses.buckets}, and a table has 1 to {table_checks.MAX_BUCKETS}",
            "Write such a number.",
            Code.BUCKETS_INVALID,
        )
    for key in clauses.bucket_keys if columns.columns else ():
        if columns.find(key) is None:
            known = ", ".join(column.name for column in columns.columns)
            what = f"DISTRIBUTED BY HASH names {key}, and the table has no such column (columns: {known})"
            cursor.fail(at, what, "Name columns of the table.", Code.KEY_ABSENT)
        if model.model in keys.MODELS_OF_KEYS and not model.has(key):
            what = f"DISTRIBUTED BY HASH names {key}, which is a value column (key: {', '.join(model.keys)})"
            cursor.fail(at, what, "Distribute by key columns, or add the column to the key.", Code.DORIS_TABLE)


def _check_group(cursor: Cursor, clauses: Clauses, kept: dict[str, str]) -> None:
    group = kept.get(properties.GROUP, "").strip()
    if group and not clauses.bucket_keys:
        cursor.fail(
            clauses.places.get("PROPERTIES", 0),
            f"the table names the group {group} and has no DISTRIBUTED BY, and the tables of a group have buckets",
            f"Add DISTRIBUTED BY HASH(key, ...) BUCKETS n, or leave out {properties.GROUP}.",
            Code.CLUSTERED_BY_MISSING,
        )


def _long_rows(columns: Columns) -> list[str]:
    """Doris refuses such a table; StarRocks and Spark take it."""
    size = sum(column.type.bytes for column in columns.columns)
    if size <= MAX_ROW_BYTES:
        return []
    return [f"The columns together may take {size} bytes; in Doris a row has at most {MAX_ROW_BYTES} (100 KB)."]
