"""How tables enter and leave groups, as steps inside one store transaction. The facade calls them."""

from __future__ import annotations

from dataclasses import replace

from spark_colocate.checks import matching
from spark_colocate.model import BucketSequence, Group, GroupName, GroupSchema, Intent, Kind, Member, Ticket
from spark_colocate.service.base.requests import OperationContext
from spark_colocate.service.placement import assignment, hosts
from spark_colocate.service.statements.declarations import is_over
from spark_colocate.store.protocol import Transaction

_KEPT_SECONDS = 3600.0
"""A ticket outlives its lease: a driver that lost its process, or the answer, asks for the same end again."""


def sweep(tx: Transaction, context: OperationContext) -> None:
    """Removes what has ended: tickets of drivers that are gone, groups whose recycle period is over."""
    tx.delete_tickets_before(context.now - _KEPT_SECONDS)
    for owner in tx.ticket_owners():
        if context.is_gone(owner):
            tx.delete_tickets(owner)
    for group in tx.groups_over(context.now):
        tx.delete_group(group.name)
        context.log(tx, "group_deleted", group.name, "recycle period over")


def admit(tx: Transaction, intent: Intent, context: OperationContext, own_ticket: str = "") -> None:
    """Raises unless the table fits its group, and every unfinished statement that makes or changes that group.

    Raises GroupMismatchError for the group as it is, GroupError where it is in its recycle period or being changed.
    """
    if intent.group is None or intent.schema is None:
        return
    group = tx.group(intent.group)
    if group and not is_over(group, context.now) and not _may_redefine(tx, intent):
        error = matching.differs(intent, intent.schema, intent.group, group.schema)
        if error:
            raise matching.in_recycle(error, group) if group.expires_at is not None else error
    for ticket in tx.open_tickets():
        other = ticket.intent
        is_rival = ticket.id != own_ticket and other.table != intent.table and other.group == intent.group
        if is_rival and other.schema and _is_live(ticket, context):
            error = matching.differs(intent, intent.schema, intent.group, other.schema)
            if error:
                raise matching.busy(error, intent.group, other.table)


def _is_live(ticket: Ticket, context: OperationContext) -> bool:
    return not ticket.committed and ticket.lease_until > context.now and not context.is_gone(ticket.owner)


def _may_redefine(tx: Transaction, intent: Intent) -> bool:
    """CREATE OR REPLACE of the only member may change the group's schema."""
    if not intent.replace or intent.group is None:
        return False
    return [member.name for member in tx.members_of(intent.group)] == [intent.table]


def join(tx: Transaction, intent: Intent, context: OperationContext) -> None:
    """Makes the table a member; makes the group if it is absent; a table of another group moves."""
    assert intent.group is not None
    assert intent.schema is not None
    held = tx.member(intent.table)
    if held and held.group != intent.group:
        _leave(tx, held, context, recycle=False)
    tx.put_group(replace(_group_for(tx, intent.group, intent.schema, context), expires_at=None))
    stays = held is not None and held.group == intent.group
    tx.put_member(
        Member(
            table_id=held.table_id if held else tx.next_id(),
            name=intent.table,
            group=intent.group,
            format=intent.format,
            keys=intent.keys,
            joined=held.joined if held and stays else tx.next_id(),
            location=intent.location,
            damaged=held is not None and held.damaged and held.location == intent.location,
            rewrites=held.rewrites if held else 0,
            joined_at=context.now,
        )
    )
    context.log(tx, "replace" if stays else "join", intent.table, str(intent.group))


def _group_for(tx: Transaction, name: GroupName, schema: GroupSchema, context: OperationContext) -> Group:
    """The group as its next member finds it: a new one, the one that there is, or that one with another schema."""
    group = tx.group(name)
    if group is None or is_over(group, context.now):
        return _new_group(tx, name, schema, context)
    if group.schema == schema:
        return group
    context.log(tx, "group_redefined", name, _describe(schema))
    return replace(group, schema=schema, sequence=_sequence(tx, schema, context))


def _new_group(tx: Transaction, name: GroupName, schema: GroupSchema, context: OperationContext) -> Group:
    group = Group(
        db_id=tx.database_id(name.db),
        group_id=tx.next_id(),
        name=name,
        schema=schema,
        sequence=_sequence(tx, schema, context),
        created_at=context.now,
    )
    context.log(tx, "group_created", name, _describe(schema))
    return group


def _sequence(tx: Transaction, schema: GroupSchema, context: OperationContext) -> BucketSequence:
    if hosts.seen(tx, context):
        hosts.reassign(tx, context)
    return assignment.round_robin(hosts.living(tx), schema.buckets, schema.replication)


def leave(tx: Transaction, intent: Intent, context: OperationContext) -> None:
    """Ends the table's membership, if it has one. Only a dropped table leaves its group in the recycle period."""
    held = tx.member(intent.table)
    if held:
        _leave(tx, held, context, recycle=intent.kind is Kind.DROP and not intent.purge)


def _leave(tx: Transaction, member: Member, context: OperationContext, recycle: bool) -> None:
    in_group = tx.members_of(member.group)
    rest = [m for m in in_group if m.table_id != member.table_id]
    tx.delete_member(member.table_id)
    context.log(tx, "leave", member.name, str(member.group))
    if rest and in_group[0].table_id == member.table_id:
        context.log(tx, "parent_changed", member.group, f"{member.name} -> {rest[0].name}")
    if not rest:
        retire(tx, member.group, context, recycle)


def retire(tx: Transaction, name: GroupName, context: OperationContext, recycle: bool) -> None:
    """The group has lost its last table: it is deleted, at once or after the recycle period."""
    group = tx.group(name)
    period = context.request.settings.recycle_seconds
    if group and recycle and period > 0:
        tx.put_group(replace(group, expires_at=context.now + period))
        context.log(tx, "group_recycled", name)
    elif group:
        tx.delete_group(name)
        context.log(tx, "group_deleted", name)


def set_replication(tx: Transaction, group: Group, replication: int, context: OperationContext) -> None:
    """The group's number changes for all members at once. Buckets keep the hosts that they have, as far as it goes."""
    hosts.seen(tx, context)
    living = hosts.living(tx)
    moves = assignment.repaired(group.sequence, living, replication)
    sequence = assignment.moved(group.sequence, moves, replication)
    schema = replace(group.schema, replication=replication)
    changed = hosts.placed(replace(group, schema=schema), sequence, living)
    if changed != group:
        tx.put_group(changed)
    context.log(tx, "set_replication", group.name, str(replication))


def rename(tx: Transaction, intent: Intent, context: OperationContext) -> None:
    """The member keeps its id, its rank in the group and the group under the new name."""
    held = tx.member(intent.table)
    if held and intent.new_name:
        former = tx.member(intent.new_name)
        if former:  # The catalog let the name be taken, so its former table is gone.
            _leave(tx, former, context, recycle=False)
        tx.put_member(replace(held, name=intent.new_name, location=intent.location or held.location))
        context.log(tx, "rename", intent.table, str(intent.new_name))


def _describe(schema: GroupSchema) -> str:
    """The schema in one line, for the audit log."""
    return f"({', '.join(schema.key_types)}) into {schema.buckets} buckets, replication {schema.replication}"
