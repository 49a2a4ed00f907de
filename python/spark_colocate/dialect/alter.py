"""ALTER TABLE and DROP TABLE."""

from __future__ import annotations

import json

from spark_colocate.dialect import properties, ranges, spark_text
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.partitions import refuse_temporary
from spark_colocate.dialect.properties import property_list
from spark_colocate.dialect.values import Options, Translation


def alter_table(cursor: Cursor, _options: Options) -> Translation:
    """SET ("key" = "value"), ADD PARTITION, DROP PARTITION."""
    cursor.expect("TABLE")
    table = cursor.table()
    if cursor.takes("SET"):
        return _set(cursor, table)
    if cursor.takes("ADD"):
        return _add_partition(cursor, table)
    if cursor.takes("DROP"):
        return _drop_partition(cursor, table)
    cursor.unexpected("SET", "ADD PARTITION", "DROP PARTITION")


def _set(cursor: Cursor, table: tuple[str, ...]) -> Translation:
    given = property_list(cursor)
    cursor.end()
    kept = properties.table_properties(cursor, given)
    if not kept.kept:
        names = ", ".join(one.key for one in given)
        cursor.unsupported(f"none of the properties {names} has a meaning in Spark", "Set colocate_with.", given[0].at)
    statement = f"ALTER TABLE {spark_text.name(*table)} SET TBLPROPERTIES {spark_text.properties(kept.kept)}"
    return Translation(statement, kept.warnings)


def _add_partition(cursor: Cursor, table: tuple[str, ...]) -> Translation:
    refuse_temporary(cursor)
    bounds = ranges.partition(cursor)
    if cursor.comes("(") or cursor.word() == "PROPERTIES":
        cursor.takes("PROPERTIES")
        property_list(cursor)
    cursor.end("DISTRIBUTED BY HASH")
    lower = None if bounds.lower is None else _bound(bounds.lower)
    upper = _bound(bounds.upper)
    name = ".".join(table)
    keys = {"keys": spark_text.names(bounds.bucket_keys)} if bounds.bucket_keys else {}
    call = spark_text.call(
        "add_partition", table=name, partition=bounds.name, lower=lower, upper=upper, buckets=bounds.buckets, **keys
    )
    return Translation(call)


def _drop_partition(cursor: Cursor, table: tuple[str, ...]) -> Translation:
    refuse_temporary(cursor)
    cursor.expect("PARTITION")
    only_old = cursor.takes("IF")
    if only_old:
        cursor.expect("EXISTS")
    partition = cursor.name("the name of a partition")
    cursor.takes("FORCE")
    cursor.end()
    return Translation(
        spark_text.call("drop_partition", table=".".join(table), partition=partition, if_exists=only_old)
    )


def _bound(values: tuple[str, ...]) -> str:
    """One value as it is, several as a JSON array."""
    return values[0] if len(values) == 1 else json.dumps(list(values), separators=(",", ":"))


def drop_table(cursor: Cursor, _options: Options) -> Translation | None:
    """DROP TABLE t FORCE: without a recycle period. None without FORCE."""
    cursor.expect("TABLE")
    head = "DROP TABLE "
    if cursor.takes("IF"):
        cursor.expect("EXISTS")
        head += "IF EXISTS "
    table = cursor.table()
    if not cursor.takes("FORCE"):
        return None
    cursor.end()
    return Translation(f"{head}{spark_text.name(*table)} PURGE")
