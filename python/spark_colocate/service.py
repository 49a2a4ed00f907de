"""The verbs of the control plane: all policy lives behind them, every face is thin.

A statement is begin / the catalog's own work / finish. Begin checks everything and reserves the group schema with a
ticket, a row of its own: so a statement that fails, or a driver that dies in between, leaves no group behind.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from spark_colocate import matching, membership, table_checks
from spark_colocate.errors import Code, ColocateError, GroupError, RequestError, StoreError
from spark_colocate.membership import Moment
from spark_colocate.model import (
    GLOBAL_PREFIX,
    Column,
    Format,
    Group,
    GroupName,
    GroupSchema,
    Intent,
    Kind,
    Outcome,
    TableName,
    Ticket,
)
from spark_colocate.settings import Settings
from spark_colocate.store.protocol import CatalogId, Store, Transaction

LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Request:
    """What every verb knows about its caller."""

    settings: Settings
    who: str = ""
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """A table as its statement declares it. `group` is the property's text; empty means: in no group."""

    table: TableName
    group: str
    format: str
    keys: tuple[Column, ...]
    buckets: int
    replication: int | None = None
    columns: tuple[Column, ...] = ()
    location: str | None = None
    replace: bool = False
    liquid: bool = False
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """The answer of a begin verb: the ticket, the full group name, and hints for the user."""

    ticket: str
    group: str | None
    notes: tuple[str, ...] = ()


@dataclass
class Service:
    """The verbs over one catalog of a store. `is_gone` tells whether a ticket's owner has ended for sure."""

    store: Store
    catalog: CatalogId
    owner: str = ""
    clock: Callable[[], float] = time.time
    is_gone: Callable[[str], bool] = field(default=lambda _owner: False)
    running: set[str] = field(default_factory=set)
    """Tickets of statements whose catalog part is under way: their leases are kept alive."""

    def begin_create(self, declared: Declaration, request: Request) -> Begun:
        """CREATE, CTAS, REPLACE: checks the table and its group. An empty group leaves the one it had."""
        self.intent(Kind.CREATE, declared, request)
        with self.store.write(self.catalog) as tx:
            intent = self.joining(tx, Kind.CREATE, declared, request)
            return self._reserve(tx, intent, request, self._notes(tx, intent, declared))

    def begin_alter(self, declared: Declaration, request: Request) -> Begun:
        """SET or UNSET of `colocate_with` or `replication_num`: join, move or leave."""
        if declared.group:
            self._bucketed(declared)
        self.intent(Kind.ALTER, declared, request)
        with self.store.write(self.catalog) as tx:
            held = tx.member(declared.table)
            group = tx.group(held.group) if held else None
            if group and declared.replication is None and not self._moves(declared, group):
                declared = replace(declared, replication=group.schema.replication)
            intent = self.joining(tx, Kind.ALTER, declared, request)
            asked = declared.replication
            if group and asked is not None and intent.group == group.name and asked != group.schema.replication:
                raise matching.replication_fixed(declared.table, group, asked)
            return self._reserve(tx, intent, request, self._notes(tx, intent, declared))

    def begin_drop(self, table: TableName, request: Request, purge: bool = False) -> Begun:
        """DROP of any table. One that is in no group costs a read and gets the empty ticket."""
        if not self._is_member(table):
            return Begun("", None)
        with self.store.write(self.catalog) as tx:
            return self._reserve(tx, Intent(Kind.DROP, table, purge=purge), request)

    def begin_rename(self, table: TableName, new_name: TableName, request: Request) -> Begun:
        """RENAME of any table; a database's group does not follow into another database."""
        if not self._is_member(table):
            return Begun("", None)
        with self.store.write(self.catalog) as tx:
            held = tx.member(table)
            if held and new_name.db != table.db and not held.group.is_global:
                raise matching.rename_leaves_database(table, new_name, held.group)
            return self._reserve(tx, Intent(Kind.RENAME, table, new_name=new_name), request)

    def finish(self, ticket_id: str, outcome: Outcome, request: Request, location: str | None = None) -> None:
        """The catalog's part has ended. May be repeated: a lost answer is asked for again."""
        if not ticket_id:
            return
        try:
            with self.store.write(self.catalog) as tx:
                self._end(tx, ticket_id, outcome, request, location)
        except StoreError:
            raise  # The outcome will be told again: until then the lease is kept.
        except ColocateError:
            self.running.discard(ticket_id)
            raise
        self.running.discard(ticket_id)

    def _end(self, tx: Transaction, ticket_id: str, outcome: Outcome, request: Request, location: str | None) -> None:
        ticket = tx.ticket(ticket_id)
        if ticket is None and outcome is Outcome.COMMIT:
            raise RequestError(
                Code.TICKET_UNKNOWN,
                f"Cannot commit statement {ticket_id}: the store holds no such ticket.",
                "The store was replaced meanwhile; CALL system.reconcile() reads the tables' properties again.",
            )
        if ticket is None or ticket.committed:
            return
        if outcome is Outcome.COMMIT:
            self._commit(tx, ticket, request, location)
        else:
            tx.delete_ticket(ticket.id)

    def _commit(self, tx: Transaction, ticket: Ticket, request: Request, location: str | None) -> None:
        moment = self.moment(request)
        intent = replace(ticket.intent, location=location or ticket.intent.location)
        if intent.kind is Kind.RENAME:
            membership.rename(tx, intent, moment)
        elif intent.group:
            # Checked again: the lease may have ended while the catalog worked, and another table came first.
            membership.admit(tx, intent, moment, own_ticket=ticket.id)
            membership.join(tx, intent, moment)
        else:
            membership.leave(tx, intent, moment)
        tx.put_ticket(replace(ticket, committed=True, lease_until=self.clock()))

    def renew(self) -> None:
        """Extends the leases of statements that are still running."""
        running = frozenset(self.running)
        if not running:
            return
        with self.store.write(self.catalog) as tx:
            for ticket in tx.open_tickets():
                if ticket.id in running:
                    tx.put_ticket(replace(ticket, lease_until=self.clock() + LEASE_SECONDS))

    def drop_database(self, db: str, request: Request) -> None:
        """The tables of the database are gone, and its groups end with it: there is nothing to recover them for."""
        if not self.store.exists():
            return
        moment = self.moment(request)
        with self.store.write(self.catalog) as tx:
            for member in tx.members_in(db):
                membership.leave(tx, Intent(Kind.DROP, member.name), moment)
            for group in tx.groups_in(db):
                membership.retire(tx, group.name, moment, recycle=False)

    def set_group_stable(self, group: str, stable: bool, db: str, request: Request) -> str:
        """The operator's flag: it counts for the whole group."""
        self._known(group)
        with self.store.write(self.catalog) as tx:
            held = self.find_group(tx, group, db)
            if held.layout_stable != stable:
                tx.put_group(replace(held, layout_stable=stable))
                self.moment(request).log(tx, "set_group_stable", held.name, str(stable).lower())
            return str(held.name)

    def purge_group(self, group: str, db: str, request: Request) -> str:
        """Ends the recycle period of a group without tables now."""
        self._known(group)
        with self.store.write(self.catalog) as tx:
            held = self.find_group(tx, group, db)
            tables = [str(member.name) for member in tx.members_of(held.name)]
            if tables:
                raise GroupError(
                    Code.GROUP_HAS_MEMBERS,
                    f"Cannot purge group {held.name}: it has {len(tables)} tables ({', '.join(tables)}).",
                    "Drop them or let them leave the group first.",
                )
            membership.retire(tx, held.name, self.moment(request), recycle=False)
            return str(held.name)

    def set_replication(self, group: str, replication: int, db: str, request: Request) -> tuple[str, list[TableName]]:
        """Changes the number for the group; its members' properties are the caller's to set."""
        self._known(group)
        with self.store.write(self.catalog) as tx:
            held = self.find_group(tx, group, db)
            tables = [member.name for member in tx.members_of(held.name)]
            _raise(table_checks.replication_number(tables[0] if tables else TableName(db, group), replication))
            membership.set_replication(tx, held, replication, self.moment(request))
            return str(held.name), tables

    @staticmethod
    def _moves(declared: Declaration, held: Group) -> bool:
        return table_checks.group_name(declared.group, declared.table.db) != held.name

    def _bucketed(self, declared: Declaration) -> None:
        """ALTER of a table without buckets: the error carries the statement that rewrites it, so the group is read."""
        table, name = declared.table, table_checks.group_name(declared.group, declared.table.db)
        if declared.keys or not isinstance(name, GroupName) or table_checks.table_format(table, declared.format):
            return
        raise matching.not_bucketed(table, declared.format, name, self._schema_of(name))

    def _schema_of(self, name: GroupName) -> GroupSchema | None:
        if not self.store.exists():
            return None
        with self.store.read(self.catalog) as tx:
            group = tx.group(name)
            return group.schema if group else None

    def _is_member(self, table: TableName) -> bool:
        if not self.store.exists():
            return False
        with self.store.read(self.catalog) as tx:
            return tx.member(table) is not None

    def _known(self, group: str) -> None:
        """Without a store there is no group, and asking for one must not make a store."""
        if not self.store.exists():
            raise membership.unknown_group(group, ())

    def find_group(self, tx: Transaction, text: str, db: str) -> Group:
        """By full name, by name in the database `db`, or by GroupId."""
        for find in (_by_id, _by_full_name, partial(_by_name_in, db)):
            found = find(tx, text)
            if found and not membership.is_over(found, self.clock()):
                return found
        raise membership.unknown_group(text, [g for g in tx.groups() if not membership.is_over(g, self.clock())])

    def intent(self, kind: Kind, declared: Declaration, request: Request) -> Intent:
        table = declared.table
        keys = tuple(column.name for column in declared.keys)
        if not declared.group:
            return Intent(kind, table, replace=declared.replace)
        group = self._check(declared, keys)
        replication = request.settings.replication if declared.replication is None else declared.replication
        _raise(table_checks.replication_number(table, replication))
        types = tuple(table_checks.normalise(column.type) for column in declared.keys)
        return Intent(
            kind,
            table,
            group,
            GroupSchema(types, declared.buckets, replication),
            Format(declared.format.lower()),
            keys,
            declared.location,
            declared.replace,
        )

    def joining(self, tx: Transaction, kind: Kind, declared: Declaration, request: Request) -> Intent:
        """The intent of a table that may name no replication number: then it takes its group's."""
        intent = self.intent(kind, declared, request)
        group = tx.group(intent.group) if intent.group else None
        if declared.replication is not None or group is None or membership.is_over(group, self.clock()):
            return intent
        return self.intent(kind, replace(declared, replication=group.schema.replication), request)

    def _check(self, declared: Declaration, keys: Sequence[str]) -> GroupName:
        table, columns = declared.table, declared.columns or declared.keys
        group = table_checks.group_name(declared.group, table.db)
        if isinstance(group, ColocateError):
            raise group
        _raise(table_checks.table_format(table, declared.format))
        _raise(table_checks.liquid(table, str(group), declared.liquid))
        _raise(table_checks.clustered(table, str(group), keys))
        _raise(table_checks.layout(table, declared.format, keys, declared.buckets, columns))
        return group

    def _reserve(self, tx: Transaction, intent: Intent, request: Request, notes: tuple[str, ...] = ()) -> Begun:
        moment = self.moment(request)
        membership.sweep(tx, moment)
        membership.admit(tx, intent, moment)
        lease = moment.now + LEASE_SECONDS
        ticket = Ticket(uuid.uuid4().hex, intent, self.owner, moment.now, lease)
        tx.put_ticket(ticket)
        self.running.add(ticket.id)
        return Begun(ticket.id, str(intent.group) if intent.group else None, notes)

    def _notes(self, tx: Transaction, intent: Intent, declared: Declaration) -> tuple[str, ...]:
        notes = [matching.bucket_hint(declared.buckets, declared.bytes)] if declared.bytes else []
        if intent.group and not tx.group(intent.group):
            alike = tx.groups_alike(intent.group)
            notes += [f"Group {intent.group} is new; {group.name} differs from it in case only." for group in alike]
        return tuple(note for note in notes if note)

    def moment(self, request: Request) -> Moment:
        return Moment(self.clock(), request.who, request.hosts, request.settings.recycle_seconds, self.is_gone)


def _by_id(tx: Transaction, text: str) -> Group | None:
    """A GroupId as SHOW PROC prints it."""
    db_id, _, group_id = text.partition(".")
    return tx.group_by_id(int(db_id), int(group_id)) if db_id.isdecimal() and group_id.isdecimal() else None


def _by_full_name(tx: Transaction, text: str) -> Group | None:
    if text.startswith(GLOBAL_PREFIX):
        return tx.group(GroupName("", text))
    db, dot, name = text.rpartition(".")
    return tx.group(GroupName(db, name)) if dot else None


def _by_name_in(db: str, tx: Transaction, text: str) -> Group | None:
    return tx.group(GroupName(db, text))


def _raise(error: ColocateError | None) -> None:
    if error:
        raise error
