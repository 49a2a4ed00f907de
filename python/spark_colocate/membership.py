"""How tables enter and leave groups, as steps inside one store transaction. No workflow: that is the service's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spark_colocate import matching, placement
from spark_colocate.errors import Code, ColocateError, GroupError
from spark_colocate.model import AuditEntry, Group, GroupName, GroupSchema, Host, Intent, Kind, Member, Ticket
from spark_colocate.store.protocol import Transaction

_KEPT_SECONDS = 3600.0
"""A ticket outlives its lease: a driver that lost its process, or the answer, asks for the same end again."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What a step needs to know about now: the time, who asks, and which owners of tickets are gone."""

    now: float
    who: str
    hosts: Sequence[str]
    recycle_seconds: int
    is_gone: Callable[[str], bool]

    def log(self, tx: Transaction, verb: str, thing: object, detail: str = "") -> None:
        tx.audit(AuditEntry(self.now, self.who, verb, str(thing), detail))


def sweep(tx: Transaction, moment: Moment) -> None:
    """Removes what has ended: tickets of drivers that are gone, groups whose recycle period is over."""
    tx.delete_tickets_before(moment.now - _KEPT_SECONDS)
    for owner in tx.ticket_owners():
        if moment.is_gone(owner):
            tx.delete_tickets(owner)
    for group in tx.groups_over(moment.now):
        tx.delete_group(group.name)
        moment.log(tx, "group_deleted", group.name, "recycle period over")


def is_over(group: Group, now: float) -> bool:
    return group.expires_at is not None and group.expires_at <= now


def _is_live(ticket: Ticket, moment: Moment) -> bool:
    return not ticket.committed and ticket.lease_until > moment.now and not moment.is_gone(ticket.owner)


def admit(tx: Transaction, intent: Intent, moment: Moment, own_ticket: str = "") -> None:
    """Raises unless the table fits the group and every statement that is just building it."""
    if intent.group is None or intent.schema is None:
        return
    group = tx.group(intent.group)
    if group and not is_over(group, moment.now) and not _may_redefine(tx, intent):
        error = matching.differs(intent, intent.schema, intent.group, group.schema)
        if error:
            raise matching.in_recycle(error, group) if group.expires_at is not None else error
    for ticket in tx.open_tickets():
        other = ticket.intent
        rival = ticket.id != own_ticket and other.table != intent.table and other.group == intent.group
        if rival and other.schema and _is_live(ticket, moment):
            error = matching.differs(intent, intent.schema, intent.group, other.schema)
            if error:
                raise matching.busy(error, intent.group, other.table)


def _may_redefine(tx: Transaction, intent: Intent) -> bool:
    """CREATE OR REPLACE of the only member may change the group's schema."""
    if not intent.replace or intent.group is None:
        return False
    return [member.name for member in tx.members_of(intent.group)] == [intent.table]


def join(tx: Transaction, intent: Intent, moment: Moment) -> None:
    """Makes the table a member; makes the group if it is absent; a table of another group moves."""
    assert intent.group is not None
    assert intent.schema is not None
    held = tx.member(intent.table)
    if held and held.group != intent.group:
        _leave(tx, held, moment, recycle=False)
    group = tx.group(intent.group)
    if group is None or is_over(group, moment.now):
        group = new_group(tx, intent.group, intent.schema, moment)
    elif group.schema != intent.schema:
        group = replace(group, schema=intent.schema, sequence=_sequence(tx, intent.schema, moment))
        moment.log(tx, "group_redefined", group.name, describe(intent.schema))
    tx.put_group(replace(group, expires_at=None))
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
        )
    )
    moment.log(tx, "replace" if stays else "join", intent.table, str(intent.group))


def new_group(tx: Transaction, name: GroupName, schema: GroupSchema, moment: Moment) -> Group:
    group = Group(
        db_id=tx.database_id(name.db),
        group_id=tx.next_id(),
        name=name,
        schema=schema,
        sequence=_sequence(tx, schema, moment),
        created_at=moment.now,
    )
    moment.log(tx, "group_created", name, describe(schema))
    return group


def _sequence(tx: Transaction, schema: GroupSchema, moment: Moment) -> tuple[tuple[int, ...], ...]:
    known = {host.host for host in tx.hosts()}
    for name in sorted(set(moment.hosts) - known):
        tx.put_host(Host(tx.next_id(), name))
    return placement.round_robin(tx.hosts(), schema.buckets, schema.replication)


def leave(tx: Transaction, intent: Intent, moment: Moment) -> None:
    """Ends the table's membership, if it has one. Only a dropped table leaves its group in the recycle period."""
    held = tx.member(intent.table)
    if held:
        _leave(tx, held, moment, recycle=intent.kind is Kind.DROP and not intent.purge)


def _leave(tx: Transaction, member: Member, moment: Moment, recycle: bool) -> None:
    in_group = tx.members_of(member.group)
    rest = [m for m in in_group if m.table_id != member.table_id]
    tx.delete_member(member.table_id)
    moment.log(tx, "leave", member.name, str(member.group))
    if rest and in_group[0].table_id == member.table_id:
        moment.log(tx, "parent_changed", member.group, f"{member.name} -> {rest[0].name}")
    if not rest:
        retire(tx, member.group, moment, recycle)


def retire(tx: Transaction, name: GroupName, moment: Moment, recycle: bool) -> None:
    """The group has lost its last table: it is deleted, at once or after the recycle period."""
    group = tx.group(name)
    if group and recycle and moment.recycle_seconds > 0:
        tx.put_group(replace(group, expires_at=moment.now + moment.recycle_seconds))
        moment.log(tx, "group_recycled", name)
    elif group:
        tx.delete_group(name)
        moment.log(tx, "group_deleted", name)


def set_replication(tx: Transaction, group: Group, replication: int, moment: Moment) -> None:
    """The group's number changes for all members at once, and with it the sequence."""
    schema = replace(group.schema, replication=replication)
    tx.put_group(replace(group, schema=schema, sequence=_sequence(tx, schema, moment)))
    moment.log(tx, "set_replication", group.name, str(replication))


def rename(tx: Transaction, intent: Intent, moment: Moment) -> None:
    """The member keeps its id, its place and its group under the new name."""
    held = tx.member(intent.table)
    if held and intent.new_name:
        ghost = tx.member(intent.new_name)
        if ghost:  # The catalog let the name be taken, so its former table is gone.
            _leave(tx, ghost, moment, recycle=False)
        tx.put_member(replace(held, name=intent.new_name, location=intent.location or held.location))
        moment.log(tx, "rename", intent.table, str(intent.new_name))


def describe(schema: GroupSchema) -> str:
    """The schema in one line, for the audit log."""
    return f"({', '.join(schema.key_types)}) into {schema.buckets} buckets, replication {schema.replication}"


def unknown_group(text: str, known: Sequence[Group]) -> ColocateError:
    names = ", ".join(sorted(str(g.name) for g in known)) or "none"
    return GroupError(
        Code.GROUP_UNKNOWN,
        f"There is no group {text} (groups: {names}).",
        "Name an existing group as db.g or __global__g; SHOW PROC '/colocation_group' lists them.",
    )
