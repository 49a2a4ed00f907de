"""Turns what a statement declares into a request to the groups: all checks that need no store."""

from __future__ import annotations

from dataclasses import replace

from spark_colocate.checks import table_checks
from spark_colocate.errors import ColocateError
from spark_colocate.model import Format, Group, GroupName, GroupSchema, Intent, Kind
from spark_colocate.service.base.requests import Declaration, OperationContext, Request
from spark_colocate.service.statements import range_layouts
from spark_colocate.store.protocol import Transaction


def check(declared: Declaration) -> GroupName | None:
    """The group that the table names, if any. Raises LayoutError or GroupError with the first fault of its layout."""
    table, keys = declared.table, [column.name for column in declared.keys]
    group = table_checks.group_name(declared.group, table.db) if declared.group else None
    if isinstance(group, ColocateError):
        raise group
    raise_if(table_checks.table_format(table, declared.format))
    if group:
        raise_if(table_checks.liquid(table, str(group), declared.liquid))
        raise_if(table_checks.clustered(table, str(group), keys))
        raise_if(range_layouts.one_number(declared, group))
    if keys:
        columns = declared.columns or declared.keys
        raise_if(table_checks.layout(table, declared.format, keys, declared.buckets, columns))
    return group


def intent(kind: Kind, declared: Declaration, request: Request) -> Intent:
    """What the statement asks for. Raises LayoutError or GroupError; a table that names no group is not looked at."""
    table = declared.table
    group = check(declared) if declared.group else None
    if group is None:
        return Intent(kind, table, replace=declared.replace)
    replication = request.settings.replication if declared.replication is None else declared.replication
    raise_if(table_checks.replication_number(table, replication))
    types = tuple(table_checks.normalise(column.type) for column in declared.keys)
    return Intent(
        kind,
        table,
        group,
        GroupSchema(types, declared.buckets, replication),
        Format(declared.format.lower()),
        tuple(column.name for column in declared.keys),
        declared.location,
        declared.replace,
    )


def intent_in_group(tx: Transaction, kind: Kind, declared: Declaration, context: OperationContext) -> Intent:
    """As `intent`; a table that names no replication number takes that of its group."""
    wanted = intent(kind, declared, context.request)
    group = tx.group(wanted.group) if wanted.group else None
    if declared.replication is not None or group is None or is_over(group, context.now):
        return wanted
    return intent(kind, replace(declared, replication=group.schema.replication), context.request)


def is_over(group: Group, now: float) -> bool:
    """Whether the group's recycle period has ended: then its name is free, though its row is still there."""
    return group.expires_at is not None and group.expires_at <= now


def raise_if(error: ColocateError | None) -> None:
    """Raises what a check has returned."""
    if error:
        raise error
