"""Reconcile: the tables' properties are the truth, the registry follows them.

Heals what other sessions did without us: a table dropped or made by a session without the extension, a clone that
brought the property along, a driver that died between the catalog's commit and the registry's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_colocate import membership
from spark_colocate.errors import ColocateError
from spark_colocate.membership import Moment
from spark_colocate.model import Intent, Kind, Member, TableName
from spark_colocate.service import Declaration, Request, Service
from spark_colocate.store.protocol import Transaction


@dataclass(frozen=True, slots=True)
class Change:
    """One healed difference, or one that can't be healed (`conflict`, with the reason)."""

    table: TableName
    action: str
    group: str
    message: str = ""


def reconcile(
    service: Service,
    tables: Sequence[Declaration],
    request: Request,
    databases: Sequence[str] | None = None,
    version: int | None = None,
    unread: Sequence[TableName] = (),
) -> list[Change]:
    """Brings the registry in line with `tables`, all that have the property now.

    `databases` limits the comparison to those that were listed; `version` is the snapshot's before the listing began:
    a table that joined later is not in the list for that reason alone, and stays. So do the `unread`, which are there
    but could not be looked at.
    """
    tables = [declared for declared in tables if declared.group]
    if not tables and not service.store.exists():
        return []
    moment = service.moment(request)
    with service.store.write(service.catalog) as tx:
        membership.sweep(tx, moment)
        pending = {ticket.intent.table for ticket in tx.open_tickets()}
        listed = {declared.table for declared in tables} | set(unread)
        ghosts = [m for m in tx.members() if m.name not in listed | pending and _was_listed(m, databases, version)]
        return [
            *(_forget(tx, ghost, moment) for ghost in ghosts),
            *(c for d in tables if d.table not in pending and (c := _adopt(service, tx, d, request, moment))),
        ]


def _was_listed(member: Member, databases: Sequence[str] | None, version: int | None) -> bool:
    return (databases is None or member.name.db in databases) and (version is None or member.changed <= version)


def _forget(tx: Transaction, ghost: Member, moment: Moment) -> Change:
    membership.leave(tx, Intent(Kind.DROP, ghost.name), moment)
    return Change(ghost.name, "left", str(ghost.group))


def _adopt(service: Service, tx: Transaction, declared: Declaration, request: Request, moment: Moment) -> Change | None:
    held = tx.member(declared.table)
    try:
        intent = service.joining(tx, Kind.ALTER, declared, request)
        if held and (held.group, held.keys, held.format) == (intent.group, intent.keys, intent.format):
            return _moved(tx, held, intent, moment)
        membership.admit(tx, intent, moment)
    except ColocateError as error:
        if held:
            membership.leave(tx, Intent(Kind.ALTER, held.name), moment)
        return Change(declared.table, "conflict", declared.group, str(error))
    membership.join(tx, intent, moment)
    return Change(declared.table, "moved" if held else "joined", str(intent.group))


def _moved(tx: Transaction, held: Member, intent: Intent, moment: Moment) -> Change | None:
    if intent.location in (None, held.location):
        return None
    membership.join(tx, intent, moment)
    return Change(held.name, "relocated", str(held.group))
