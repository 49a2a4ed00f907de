"""ALTER TABLE and DROP TABLE."""

from __future__ import annotations

import json

from spark_colocate.dialect import properties, ranges, spark_text, steps
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
    if cursor.takes("PARTITIONS"):
        return _add_steps(cursor, table)
    only_new = cursor.comes("PARTITION", "IF", "NOT", "EXISTS")
    bounds = ranges.partition(cursor)
    cursor.end("DISTRIBUTED BY HASH")
    lower = None if bounds.lower is None else _bound(bounds.lower)
    upper = _bound(bounds.upper)
    name = ".".join(table)
    more: dict[str, str | bool] = {"keys": spark_text.names(bounds.bucket_keys)} if bounds.bucket_keys else {}
    if only_new:
        more["if_not_exists"] = True
    call = spark_text.call(
        "add_partition", table=name, partition=bounds.name, lower=lower, upper=upper, buckets=bounds.buckets, **more
    )
    left = f"Without a meaning in Spark, and left out: {', '.join(bounds.ignored)}."
    return Translation(call, (left,) if bounds.ignored else ())


def _add_steps(cursor: Cursor, table: tuple[str, ...]) -> Translation:
    """ADD PARTITIONS FROM ... TO ... INTERVAL, or START ... END ... EVERY: the session knows the column's type."""
    only_new = cursor.takes("IF", "NOT", "EXISTS")
    if cursor.word() not in ("FROM", "START"):
        cursor.unexpected("FROM", "START")
    found = steps.steps(cursor)
    left = ""
    if cursor.comes("(") or cursor.word() in ("PROPERTIES", "DISTRIBUTED"):
        left = cursor.rest()
    cursor.end()
    each = ranges.listed(cursor, found)
    warning = f"All partitions have the table's buckets and properties; left out: {left}."
    call = spark_text.call("add_partitions", table=".".join(table), partitions=each, if_not_exists=only_new)
    return Translation(call, (warning,) if left else ())


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
