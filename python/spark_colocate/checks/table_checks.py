"""The checks of a table's declaration. Each is pure: it returns the error, or None when all is well.

The comparison of a table with its group is in `matching`; this module needs only the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from spark_colocate.errors import Code, ColocateError, GroupError, LayoutError
from spark_colocate.model import BUCKET_COLUMN, GLOBAL_PREFIX, RANGE_COLUMN, Column, Format, GroupName, TableName

MAX_BUCKETS = 100_000
"""Spark's own limit for a bucket spec (spark.sql.sources.bucketing.maxBuckets)."""

ALLOWED_KEYS = (
    "boolean", "tinyint", "smallint", "int", "bigint", "decimal(p,s)", "string", "varchar(n)", "binary", "date",
    "timestamp", "timestamp_ntz",
)  # fmt: skip

_PLAIN_KEYS = frozenset(ALLOWED_KEYS) - {"decimal(p,s)", "varchar(n)"}
_DECIMAL = re.compile(r"decimal\(\d+,-?\d+\)")
_TEXT = re.compile(r"(string|varchar\(\d+\))(?: collate (?:system\.builtin\.)?(\S+))?")
_GROUP = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]{0,127}")
_RESERVED = {BUCKET_COLUMN: "the bucket id", RANGE_COLUMN: "the range partition"}
_REFUSED = (
    ("float", "-0.0 and NaN have several bit patterns, so equal values could lie in different buckets"),
    ("double", "-0.0 and NaN have several bit patterns, so equal values could lie in different buckets"),
    ("char", "Spark pads CHAR on every read, so the value that is read is not the one that was hashed"),
    ("interval", "intervals have no stable hash across writers"),
    ("variant", "equal variants can be stored in different bytes"),
    ("time", "other writers do not know the type TIME"),
)


def normalise(key_type: str) -> str:
    """The type as groups compare it: VARCHAR of any length and STRING are one key type."""
    plain = " ".join(key_type.lower().split()).replace(", ", ",")
    text = _TEXT.fullmatch(plain)
    return "string" if text and (text[2] or "utf8_binary") == "utf8_binary" else plain


def refused_type(table: TableName, column: Column) -> ColocateError | None:
    """Refuses types whose equal values need not hash alike, or that other writers treat differently."""
    name = normalise(column.type)
    if name in _PLAIN_KEYS or _DECIMAL.fullmatch(name):
        return None
    return LayoutError(
        Code.KEY_TYPE_REFUSED,
        f"Cannot cluster {table} by {column.name}: type {column.type.upper()} is refused as a bucket key, "
        f"because {_why_refused(name)}.",
        f"Cluster by a column of one of these types: {', '.join(ALLOWED_KEYS)}.",
    )


def _why_refused(name: str) -> str:
    if _TEXT.fullmatch(name):
        return "a collation other than UTF8_BINARY makes different bytes equal"
    word = re.split(r"[^a-z]", name, maxsplit=1)[0]
    return dict(_REFUSED).get(word, "only plain values with one binary form are hashed alike by every writer")


def key_column(table: TableName, key: str, columns: Sequence[Column]) -> ColocateError | None:
    """The key exists, is neither generated nor an identity, and has a type that can be a key."""
    found = next((c for c in columns if c.name.lower() == key.lower()), None)
    if found is None:
        return LayoutError(
            Code.KEY_ABSENT,
            f"Cannot cluster {table} by {key}: the table has no such column "
            f"(columns: {', '.join(c.name for c in columns)}).",
            "Name an existing column in CLUSTERED BY.",
        )
    if found.identity:
        return _computed(table, key, Code.KEY_IDENTITY, "an IDENTITY column")
    if found.generated:
        return _computed(table, key, Code.KEY_GENERATED, "a generated column")
    return refused_type(table, found)


def _computed(table: TableName, key: str, code: Code, what: str) -> ColocateError:
    return LayoutError(
        code,
        f"Cannot cluster {table} by {key}: it is {what}, and its value is not known when the bucket is computed.",
        "Cluster by a column that the writer gives.",
    )


def duplicate_key(table: TableName, keys: Sequence[str]) -> ColocateError | None:
    """Names each key once; names are compared as Spark does, without case."""
    seen: set[str] = set()
    for key in keys:
        if key.lower() in seen:
            return LayoutError(
                Code.KEY_DUPLICATE,
                f"Cannot cluster {table} by ({', '.join(keys)}): {key} is named twice.",
                "Name each key column once in CLUSTERED BY.",
            )
        seen.add(key.lower())
    return None


def bucket_count(table: TableName, buckets: int) -> ColocateError | None:
    """Requires a number of buckets between 1 and Spark's own limit."""
    if 1 <= buckets <= MAX_BUCKETS:
        return None
    return LayoutError(
        Code.BUCKETS_INVALID,
        f"Cannot cluster {table} into {buckets} buckets: the number must be between 1 and {MAX_BUCKETS}.",
        "Write CLUSTERED BY (...) INTO n BUCKETS with such an n.",
    )


def reserved_column(table: TableName, columns: Iterable[Column]) -> ColocateError | None:
    """The names of the hidden columns belong to us, in any case of letters."""
    clash = next((c.name for c in columns if c.name.lower() in _RESERVED), None)
    if clash is None:
        return None
    return LayoutError(
        Code.COLUMN_RESERVED,
        f"Cannot cluster {table}: its column {clash} clashes with {clash.lower()}, which holds "
        f"{_RESERVED[clash.lower()]}.",
        f"Rename the column {clash}.",
    )


def table_format(table: TableName, name: str) -> ColocateError | None:
    """Requires a format whose files carry or declare their bucket."""
    if name.lower() in list(Format):
        return None
    return LayoutError(
        Code.FORMAT_REFUSED,
        f"Cannot colocate {table}: format {name.upper()} has no bucket layout that can be proven "
        f"(supported: {', '.join(f.upper() for f in Format)}).",
        f"Create {table} with USING delta, USING parquet or USING orc.",
    )


def clustered(table: TableName, group: str, keys: Sequence[str]) -> ColocateError | None:
    """A member needs a bucket layout."""
    if keys:
        return None
    return LayoutError(
        Code.CLUSTERED_BY_MISSING,
        f"Cannot colocate {table} with group {group}: the table is not bucketed, and the group's tables are.",
        "Add CLUSTERED BY (key, ...) INTO n BUCKETS to the statement, or leave out 'colocate_with'.",
    )


def liquid(table: TableName, group: str, uses_liquid: bool) -> ColocateError | None:
    """Delta's liquid clustering moves rows between files; a bucket layout pins them."""
    if not uses_liquid:
        return None
    return LayoutError(
        Code.LIQUID_CLUSTERING,
        f"Cannot colocate {table} with group {group}: it uses liquid clustering (CLUSTER BY), which moves rows "
        "between files, and a group needs buckets (CLUSTERED BY).",
        "Write CLUSTERED BY (key, ...) INTO n BUCKETS instead of CLUSTER BY, or leave out 'colocate_with'.",
    )


def replication_number(table: TableName, replication: int) -> ColocateError | None:
    """Requires at least one host per bucket."""
    if replication >= 1:
        return None
    return LayoutError(
        Code.REPLICATION_INVALID,
        f"Cannot colocate {table}: replication_num is {replication}, and a bucket needs at least 1 host.",
        "Set 'replication_num' to 1 or more.",
    )


def group_name(text: str, db: str) -> GroupName | ColocateError:
    """The full name that the property's text stands for in a table of database `db`."""
    bare = text.removeprefix(GLOBAL_PREFIX)
    if _GROUP.fullmatch(bare) and bare != "_":
        return GroupName("" if text.startswith(GLOBAL_PREFIX) else db, text)
    return GroupError(
        Code.GROUP_NAME_INVALID,
        f"Cannot use '{text}' as a group name in database {db}: a name is a letter or _, then up to 127 letters, "
        f"digits, _ or -, and a group belongs to its table's database.",
        f"Write 'colocate_with'='g', or 'colocate_with'='{GLOBAL_PREFIX}g' for a group that every database can use.",
    )


def layout(
    table: TableName, format_name: str, keys: Sequence[str], buckets: int, columns: Sequence[Column]
) -> ColocateError | None:
    """All checks of a bucketed table's own declaration, the most useful one first."""
    checks: list[ColocateError | None] = [
        table_format(table, format_name),
        bucket_count(table, buckets),
        reserved_column(table, columns),
        duplicate_key(table, keys),
        *(key_column(table, key, columns) for key in keys),
    ]
    return next((error for error in checks if error), None)
