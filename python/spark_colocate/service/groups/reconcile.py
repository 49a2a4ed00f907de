"""Reconcile: the tables' properties are the truth, the registry follows them.

Follows the changes of other sessions: a table dropped or made by a session without the extension, a clone that
brought the property along, a driver that died between the catalog's commit and the registry's.
"""

from __future__ import annotations

from spark_colocate.errors import ColocateError
from spark_colocate.model import Intent, Kind, Member
from spark_colocate.service.base.requests import Action, CatalogTables, Change, Declaration, OperationContext
from spark_colocate.service.statements import membership
from spark_colocate.service.statements.declarations import intent_in_group
from spark_colocate.store.protocol import Transaction


def reconcile(tx: Transaction, found: CatalogTables, context: OperationContext) -> list[Change]:
    """Brings the registry in line with what the catalog holds.

    Tables of unfinished statements are left alone, unless they were looked for by name: whoever ends a statement last
    looks last.
    """
    membership.sweep(tx, context)
    declared = [table for table in found.members if table.group]
    pending = set() if found.names else {ticket.intent.table for ticket in tx.open_tickets()}
    seen = {table.table for table in declared} | set(found.unread) | pending
    gone = [member for member in tx.members() if member.name not in seen and _was_listed(member, found)]
    # These first: a group that loses its last table is free for another schema.
    forgotten = [_forget(tx, member, context) for member in gone]
    changes = [_change(tx, table, context) for table in declared if table.table not in pending]
    return forgotten + [change for change in changes if change]


def _was_listed(member: Member, found: CatalogTables) -> bool:
    in_database = found.databases is None or member.name.db in found.databases
    is_named = found.names is None or member.name in found.names
    return in_database and is_named and (found.version is None or member.changed <= found.version)


def _forget(tx: Transaction, member: Member, context: OperationContext) -> Change:
    membership.leave(tx, Intent(Kind.DROP, member.name), context)
    return Change(member.name, Action.LEFT, str(member.group))


def _change(tx: Transaction, declared: Declaration, context: OperationContext) -> Change | None:
    held = tx.member(declared.table)
    try:
        intent = intent_in_group(tx, Kind.ALTER, declared, context)
        if held and (held.group, held.keys, held.format) == (intent.group, intent.keys, intent.format):
            return _relocate(tx, held, intent, context)
        membership.admit(tx, intent, context)
    except ColocateError as error:
        if held:
            membership.leave(tx, Intent(Kind.ALTER, held.name), context)
        return Change(declared.table, Action.CONFLICT, declared.group, str(error))
    membership.join(tx, intent, context)
    return Change(declared.table, Action.MOVED if held else Action.JOINED, str(intent.group))


def _relocate(tx: Transaction, held: Member, intent: Intent, context: OperationContext) -> Change | None:
    if intent.location in (None, held.location):
        return None
    membership.join(tx, intent, context)
    return Change(held.name, Action.RELOCATED, str(held.group))
