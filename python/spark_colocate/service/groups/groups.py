"""Finds groups by their names, and has the operator's changes of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from spark_colocate.checks import table_checks
from spark_colocate.errors import Code, ColocateError, GroupError
from spark_colocate.model import GLOBAL_PREFIX, Group, GroupName, Intent, Kind, TableName
from spark_colocate.service.base.requests import OperationContext, ReplicationChange
from spark_colocate.service.statements import membership
from spark_colocate.service.statements.declarations import is_over, raise_if
from spark_colocate.store.protocol import Transaction
from spark_colocate.support.nearest import nearest

ID_DIGITS = 18
"""No store gives out a longer id, and none can look one up: their integers have 64 bits."""

NAMES_SHOWN = 3
"""How many groups an error names."""


def find(tx: Transaction, text: str, db: str, now: float) -> Group:
    """The group by its full name, by its name in the database `db`, or by its GroupId. Raises GroupError."""
    look_ups = (_by_id, _by_full_name, partial(_by_name_in, db)) if text.isprintable() else ()
    for look_up in look_ups:  # not every store takes other strings
        found = look_up(tx, text)
        if found and not is_over(found, now):
            return found
    raise unknown(text, _living(tx, now))


def find_by_id(tx: Transaction, text: str, now: float) -> Group:
    """The group with a GroupId as SHOW PROC prints it. Raises GroupError."""
    found = _by_id(tx, text)
    if found is None or is_over(found, now):
        raise unknown_id(text, _living(tx, now))
    return found


def _living(tx: Transaction, now: float) -> Sequence[Group]:
    return [group for group in tx.groups() if not is_over(group, now)]


def _by_id(tx: Transaction, text: str) -> Group | None:
    parts = text.split(".")
    if len(parts) != 2 or not all(part.isdecimal() and len(part) <= ID_DIGITS for part in parts):
        return None
    db_id, group_id = map(int, parts)
    return tx.group_by_id(db_id, group_id)


def _by_full_name(tx: Transaction, text: str) -> Group | None:
    if text.startswith(GLOBAL_PREFIX):
        return tx.group(GroupName("", text))
    db, dot, name = text.rpartition(".")
    return tx.group(GroupName(db, name)) if dot else None


def _by_name_in(db: str, tx: Transaction, text: str) -> Group | None:
    return tx.group(GroupName(db, text))


def unknown(text: str, known: Sequence[Group]) -> ColocateError:
    """The error of a group name that there is not."""
    names = [str(group.name) for group in known]
    return GroupError(
        Code.GROUP_UNKNOWN,
        f"There is no group {text} ({_some('groups', text, names)}).",
        "Name an existing group as db.g or __global__g; SHOW PROC '/colocation_group' lists them.",
    )


def unknown_id(text: str, known: Sequence[Group]) -> ColocateError:
    """The error of a GroupId that there is not."""
    ids = [group.id for group in known]
    return GroupError(
        Code.GROUP_UNKNOWN,
        f"There is no group with GroupId {text} ({_some('GroupIds', text, ids)}).",
        "SHOW PROC '/colocation_group' lists the groups with their GroupIds.",
    )


def _some(what: str, text: str, known: Sequence[str]) -> str:
    """All that there are, or of many the nearest few."""
    if len(known) <= NAMES_SHOWN:
        return f"{what}: {', '.join(sorted(known)) or 'none'}"
    return f"nearest of {len(known)} {what}: {', '.join(nearest(text, known, NAMES_SHOWN))}"


def set_stable(tx: Transaction, group: Group, stable: bool, context: OperationContext) -> None:
    """Sets the operator's flag. Nothing is written where it is set already."""
    if group.layout_stable != stable:
        tx.put_group(replace(group, layout_stable=stable))
        context.log(tx, "set_group_stable", group.name, str(stable).lower())


def purge(tx: Transaction, group: Group, context: OperationContext) -> None:
    """Deletes a group without tables. Raises GroupError where it has some."""
    tables = [str(member.name) for member in tx.members_of(group.name)]
    if tables:
        raise GroupError(
            Code.GROUP_HAS_MEMBERS,
            f"Cannot purge group {group.name}: it has {len(tables)} tables ({', '.join(tables)}).",
            "Drop them or let them leave the group first.",
        )
    membership.retire(tx, group.name, context, recycle=False)


def set_replication(
    tx: Transaction, group: Group, replication: int, db: str, context: OperationContext
) -> ReplicationChange:
    """Changes the group's number. Raises LayoutError for one below 1, which names a member or, in `db`, the group."""
    tables = tuple(member.name for member in tx.members_of(group.name))
    named = tables[0] if tables else TableName(db, group.name.name)
    raise_if(table_checks.replication_number(named, replication))
    membership.set_replication(tx, group, replication, context)
    return ReplicationChange(group.name, tables)


def drop_database(tx: Transaction, db: str, context: OperationContext) -> None:
    """The database's tables leave their groups, and its own groups end: there is nothing to recover them for."""
    for member in tx.members_in(db):
        membership.leave(tx, Intent(Kind.DROP, member.name), context)
    for group in tx.groups_in(db):
        membership.retire(tx, group.name, context, recycle=False)
