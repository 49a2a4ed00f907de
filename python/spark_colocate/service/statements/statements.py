"""The begin and the finish of statements on tables, each inside one store transaction.

The begin checks the table against its group, and writes a ticket: a row that reserves the group with these key types,
buckets and replication number. The group itself is written by the finish, so a statement that fails, or a driver that
dies in between, leaves no group behind.
"""

from __future__ import annotations

import uuid
from dataclasses import replace

from spark_colocate.checks import advice, matching, table_checks
from spark_colocate.errors import Code, RequestError
from spark_colocate.model import Group, GroupName, GroupSchema, Intent, Kind, Outcome, TableName, Ticket
from spark_colocate.service.base.requests import Declaration, OperationContext, Reservation
from spark_colocate.service.statements import membership
from spark_colocate.service.statements.declarations import intent_in_group
from spark_colocate.store.protocol import Transaction

LEASE_SECONDS = 30.0
"""How long a reservation is valid after its begin, or after the driver's last `renew`."""

_CLOCKS_DIFFER_SECONDS = 60.0
"""How far apart the clocks of two drivers may be."""


def begin_create(tx: Transaction, declared: Declaration, context: OperationContext, owner: str) -> Reservation:
    """Reserves the group of a table that is created or replaced."""
    intent = intent_in_group(tx, Kind.CREATE, declared, context)
    return reserve(tx, intent, context, owner, _notes(tx, intent, declared))


def begin_alter(tx: Transaction, declared: Declaration, context: OperationContext, owner: str) -> Reservation:
    """Reserves the group that a table joins, moves to or leaves.

    A member that stays in its group has the group's replication number; raises for another one.
    """
    held = tx.member(declared.table)
    group = tx.group(held.group) if held else None
    if group and declared.replication is None and not _moves(declared, group):
        declared = replace(declared, replication=group.schema.replication)
    intent = intent_in_group(tx, Kind.ALTER, declared, context)
    wanted = declared.replication
    if group and wanted is not None and intent.group == group.name and wanted != group.schema.replication:
        raise matching.replication_fixed(declared.table, group, wanted)
    return reserve(tx, intent, context, owner, _notes(tx, intent, declared))


def _moves(declared: Declaration, held: Group) -> bool:
    return table_checks.group_name(declared.group, declared.table.db) != held.name


def group_without_buckets(declared: Declaration) -> GroupName | None:
    """The group that ALTER names for a table without buckets.

    None if the table has buckets, names no valid group, or has a format that can't be in a group.
    """
    name = table_checks.group_name(declared.group, declared.table.db)
    if declared.keys or not isinstance(name, GroupName) or table_checks.table_format(declared.table, declared.format):
        return None
    return name


def schema_of(tx: Transaction, name: GroupName) -> GroupSchema | None:
    """The key types, buckets and replication number of a group; None if there is no group of this name."""
    group = tx.group(name)
    return group.schema if group else None


def begin_rename(
    tx: Transaction, table: TableName, new_name: TableName, context: OperationContext, owner: str
) -> Reservation:
    """Reserves the new name. Raises GroupError for a new database, if the table's group belongs to the old one."""
    held = tx.member(table)
    if held and new_name.db != table.db and not held.group.is_global:
        raise matching.rename_leaves_database(table, new_name, held.group)
    return reserve(tx, Intent(Kind.RENAME, table, new_name=new_name), context, owner)


def reserve(
    tx: Transaction, intent: Intent, context: OperationContext, owner: str, notes: tuple[str, ...] = ()
) -> Reservation:
    """Writes a ticket with a lease. Raises ColocateError if the table does not fit its group."""
    membership.sweep(tx, context)
    membership.admit(tx, intent, context)
    ticket = Ticket(uuid.uuid4().hex, intent, owner, context.now, context.now + LEASE_SECONDS)
    tx.put_ticket(ticket)
    return Reservation(ticket.id, intent.group, notes)


def _notes(tx: Transaction, intent: Intent, declared: Declaration) -> tuple[str, ...]:
    notes = list(advice.hints(_facts(declared))) if declared.bytes else []
    if intent.group and not tx.group(intent.group):
        alike = tx.groups_alike(intent.group)
        notes += [f"Group {intent.group} is new; {group.name} differs from it in case only." for group in alike]
    return tuple(notes)


def _facts(declared: Declaration) -> advice.TableFacts:
    types = tuple(column.type for column in declared.keys)
    return advice.TableFacts(declared.buckets, bytes=declared.bytes, key_types=types)


def finish(tx: Transaction, ticket_id: str, outcome: Outcome, location: str | None, context: OperationContext) -> bool:
    """Commits or aborts a statement. Does nothing if it was committed before, or is aborted without a ticket.

    Returns whether the registry has the statement's outcome. False after a commit while another driver had a statement
    on the same table: only the catalog knows which of them it did last, so the caller has to reconcile the table.
    Raises RequestError for a commit without a ticket.
    """
    if outcome is Outcome.ABORT:
        _abort(tx, ticket_id)
        return True
    ticket = _known(tx, ticket_id)
    is_alone = _is_alone(tx, ticket)
    if not ticket.committed:
        if is_alone:
            _commit(tx, ticket, location, context)
        tx.put_ticket(replace(ticket, committed=True, lease_until=context.now))
    return is_alone


def hold(tx: Transaction, ticket_id: str, context: OperationContext) -> None:
    """Checks once more, just before the catalog makes the table, that it fits its group: the lease may have ended.

    Raises RequestError without a ticket, GroupMismatchError or GroupError if the group has changed meanwhile.
    """
    ticket = _known(tx, ticket_id)
    membership.admit(tx, ticket.intent, context, own_ticket=ticket.id)
    if not ticket.committed:
        tx.put_ticket(replace(ticket, lease_until=context.now + LEASE_SECONDS))


def _known(tx: Transaction, ticket_id: str) -> Ticket:
    ticket = tx.ticket(ticket_id)
    if ticket is None:
        raise RequestError(
            Code.TICKET_UNKNOWN,
            f"Cannot commit statement {ticket_id}: the store holds no such ticket.",
            "The store was replaced meanwhile, or the statement stood still for an hour; CALL system.reconcile() reads "
            "the tables' properties again.",
        )
    return ticket


def _abort(tx: Transaction, ticket_id: str) -> None:
    ticket = tx.ticket(ticket_id)
    if ticket and not ticket.committed:
        tx.delete_ticket(ticket.id)


def _is_alone(tx: Transaction, ticket: Ticket) -> bool:
    """Had no other driver a statement on the same table at the same time, finished or not?"""
    since = ticket.created_at - _CLOCKS_DIFFER_SECONDS
    unfinished = [other for other in tx.open_tickets() if other.owner != ticket.owner]
    others = [*unfinished, *tx.tickets_of_others(ticket.owner, since)]
    return not any(_names(other.intent) & _names(ticket.intent) for other in others)


def _names(intent: Intent) -> set[TableName]:
    return {intent.table} | ({intent.new_name} if intent.new_name else set())


def _commit(tx: Transaction, ticket: Ticket, location: str | None, context: OperationContext) -> None:
    intent = replace(ticket.intent, location=location or ticket.intent.location)
    if intent.kind is Kind.RENAME:
        membership.rename(tx, intent, context)
    elif intent.group:
        # Checked again: if the lease has ended meanwhile, another table may have created or changed the group.
        membership.admit(tx, intent, context, own_ticket=ticket.id)
        membership.join(tx, intent, context)
    else:
        membership.leave(tx, intent, context)


def renew(tx: Transaction, tickets: frozenset[str], now: float) -> None:
    """Extends the leases of those of these tickets that are not finished."""
    for ticket in tx.open_tickets():
        if ticket.id in tickets:
            tx.put_ticket(replace(ticket, lease_until=now + LEASE_SECONDS))
