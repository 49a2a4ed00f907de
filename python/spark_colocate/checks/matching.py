"""Does a table fit its group? Pure comparisons of two group schemas, and the statement that cures a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from spark_colocate.errors import Code, ColocateError, GroupError, GroupMismatchError
from spark_colocate.model import Format, Group, GroupName, GroupSchema, Intent, Kind, TableName


def differs(intent: Intent, wanted: GroupSchema, group: GroupName, held: GroupSchema) -> ColocateError | None:
    """The first difference between the table's schema and the group's: keys, buckets, replication."""
    return (
        _keys(intent, wanted, group, held)
        or _buckets(intent, wanted, group, held)
        or _replication(intent, wanted, group, held)
    )


def _keys(intent: Intent, wanted: GroupSchema, group: GroupName, held: GroupSchema) -> ColocateError | None:
    if wanted.key_types == held.key_types:
        return None
    sides = f"(table: {', '.join(wanted.key_types)}; group: {', '.join(held.key_types)})"
    if len(wanted.key_types) != len(held.key_types):
        code, what = Code.KEY_COUNT_DIFFERS, "numbers of bucket keys differ"
    elif sorted(wanted.key_types) == sorted(held.key_types):
        code, what = Code.KEY_ORDER_DIFFERS, "orders of key types differ"
    else:
        code, what = Code.KEY_TYPES_DIFFER, "key types differ"
    cure = f"Recreate {intent.table} with keys of the types ({', '.join(held.key_types)}) in this order"
    return GroupMismatchError(
        code,
        f"Cannot colocate {intent.table} with group {group}: {what} {sides}.",
        f"{cure}, or choose another group.",
    )


def _buckets(intent: Intent, wanted: GroupSchema, group: GroupName, held: GroupSchema) -> ColocateError | None:
    if wanted.buckets == held.buckets:
        return None
    cure = f"Recreate {intent.table} with {held.buckets} buckets"
    if intent.kind is Kind.ALTER:
        cure = f"Rewrite it with: {rewrite(intent, group, held)}"
    return GroupMismatchError(
        Code.BUCKETS_DIFFER,
        f"Cannot colocate {intent.table} with group {group}: bucket counts differ "
        f"(table: {wanted.buckets}, group: {held.buckets}).",
        f"{cure}, or choose another group.",
    )


def _replication(intent: Intent, wanted: GroupSchema, group: GroupName, held: GroupSchema) -> ColocateError | None:
    if wanted.replication == held.replication:
        return None
    return GroupMismatchError(
        Code.REPLICATION_DIFFERS,
        f"Cannot colocate {intent.table} with group {group}: replication numbers differ "
        f"(table: {wanted.replication}, group: {held.replication}).",
        f"Set 'replication_num'='{held.replication}' in the table's properties, or choose another group.",
    )


def rewrite(intent: Intent, group: GroupName | None, held: GroupSchema) -> str:
    """The exact statement that gives the table the group's layout; without a group, this one."""
    properties = {"colocate_with": group.name, "replication_num": str(held.replication)} if group else {}
    return rewritten(intent.table, intent.format, intent.keys, held.buckets, properties)


def rewritten(
    table: TableName, table_format: Format, keys: Sequence[str], buckets: int, properties: Mapping[str, str]
) -> str:
    """The statement that rewrites a table in these buckets and with these properties."""
    columns = ", ".join(f"`{key}`" for key in keys)
    pairs = ", ".join(f"'{key}'='{value}'" for key, value in properties.items())
    tail = (
        f"USING {table_format} CLUSTERED BY ({columns}) INTO {buckets} BUCKETS "
        + (f"TBLPROPERTIES ({pairs}) " if pairs else "")
        + f"AS SELECT * FROM {table.sql}"
    )
    old, new = table.sql, TableName(table.db, f"{table.table}_new").sql
    if table_format is Format.DELTA:
        return f"CREATE OR REPLACE TABLE {old} {tail}"
    return f"CREATE TABLE {new} {tail}; DROP TABLE {old}; ALTER TABLE {new} RENAME TO {old}"


def not_bucketed(table: TableName, table_format: str, group: GroupName, held: GroupSchema | None) -> ColocateError:
    """ALTER can't give a table buckets; the statement that can, with the group's numbers where they are known."""
    buckets = str(held.buckets) if held else "n"
    types = f" with keys of the types ({', '.join(held.key_types)})" if held else ""
    target = table if table_format.lower() == Format.DELTA else f"{table}_new"
    verb = "CREATE OR REPLACE TABLE" if target == table else "CREATE TABLE"
    return GroupMismatchError(
        Code.CLUSTERED_BY_MISSING,
        f"Cannot colocate {table} with group {group}: the table is not bucketed, and the group's tables are.",
        f"Rewrite it{types}: {verb} {target} USING {table_format} CLUSTERED BY (key, ...) INTO {buckets} BUCKETS "
        f"TBLPROPERTIES ('colocate_with'='{group.name}') AS SELECT * FROM {table}.",
    )


def in_recycle(error: ColocateError, group: Group) -> ColocateError:
    """A group without members keeps its schema for a while: says until when, and how to end it now."""
    assert group.expires_at is not None
    until = datetime.fromtimestamp(group.expires_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return GroupError(
        Code.GROUP_IN_RECYCLE,
        f"{error.headline} The group has no table any more, but keeps its schema until {until}.",
        f"Use the group's schema, or end it now: CALL system.purge_group(group => '{group.name}').",
    )


def busy(error: ColocateError, group: GroupName, other: TableName) -> ColocateError:
    """Another statement is just making the group, with another schema."""
    return GroupError(
        Code.GROUP_BUSY,
        f"{error.headline} Group {group} is just being changed by a statement on {other}.",
        "Try again when that statement has ended, or choose another group.",
    )


def replication_fixed(table: TableName, group: Group, asked: int) -> ColocateError:
    """A member's replication number is the group's."""
    return GroupMismatchError(
        Code.REPLICATION_FIXED,
        f"Cannot set replication_num of {table} to {asked}: it is a member of group {group.name}, "
        f"whose replication number is {group.schema.replication}.",
        f"Change all members at once: CALL system.set_replication(group => '{group.name}', n => {asked}).",
    )


def rename_leaves_database(table: TableName, new_name: TableName, group: GroupName) -> ColocateError:
    """A database's group can't follow a table into another database."""
    return GroupError(
        Code.RENAME_LEAVES_DATABASE,
        f"Cannot rename {table} to {new_name}: its group {group} belongs to database {group.db}.",
        f"Leave the group first: ALTER TABLE {table} SET TBLPROPERTIES ('colocate_with'=''), "
        "or use a __global__ group.",
    )
