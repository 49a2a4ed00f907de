"""The one face of the control plane: every verb, typed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

from spark_colocate import matching
from spark_colocate.errors import ColocateError, StoreError
from spark_colocate.model import AuditEntry, Group, GroupName, Host, Intent, Kind, Outcome, TableName
from spark_colocate.service import declarations, groups, listings, statements
from spark_colocate.service.listings import BucketPlacement, GroupListing, MemberListing, Snapshot
from spark_colocate.service.reconcile import reconcile
from spark_colocate.service.requests import (
    CatalogTables,
    Change,
    Declaration,
    OperationContext,
    ReplicationChange,
    Request,
    Reservation,
)
from spark_colocate.service.statements import LEASE_SECONDS
from spark_colocate.store.protocol import CatalogId, Store, Transaction

__all__ = ["LEASE_SECONDS", "Service"]

T = TypeVar("T")

AUDIT_LINES = 1000


@dataclass
class Service:
    """The verbs over one catalog of a store.

    Each verb raises StoreError where the store can't be used. Without a store, listings are empty, there are no groups,
    and nothing but the begin of a member and `reconcile` makes one. Verbs may be called from several threads.

    owner: the driver that this process serves, as its tickets name it.
    clock: seconds since the epoch.
    is_gone: whether the owner of a ticket has ended for sure.
    running: tickets of unfinished statements of this driver; `renew` keeps their leases alive.
    """

    store: Store
    catalog: CatalogId
    owner: str = ""
    clock: Callable[[], float] = time.time
    is_gone: Callable[[str], bool] = field(default=lambda _owner: False)
    running: set[str] = field(default_factory=set)

    # --- Statements on tables: begin / the catalog's own work / finish ---

    def check_declaration(self, declared: Declaration) -> None:
        """Checks a table's layout without the store. Raises LayoutError or GroupError with the first fault."""
        declarations.check(declared)

    def begin_create(self, declared: Declaration, request: Request) -> Reservation:
        """CREATE, CTAS, REPLACE: checks the table and its group. An empty group leaves the one that it had.

        Raises LayoutError, GroupMismatchError or GroupError where the table can't be in the group.
        """
        self._refuse_early(Kind.CREATE, declared, request)
        with self._write() as tx:
            return self._started(statements.begin_create(tx, declared, self._context(request), self.owner))

    def begin_alter(self, declared: Declaration, request: Request) -> Reservation:
        """SET or UNSET of `colocate_with` or `replication_num`: join, move or leave. Raises as `begin_create` does."""
        self._refuse_without_buckets(declared)
        self._refuse_early(Kind.ALTER, declared, request)
        with self._write() as tx:
            return self._started(statements.begin_alter(tx, declared, self._context(request), self.owner))

    def begin_drop(self, table: TableName, request: Request, purge: bool = False) -> Reservation:
        """DROP of any table. One that is in no group costs a read and gets an empty reservation.

        purge: its group, if this was the last table, ends without a recycle period.
        """
        if not self._is_member(table):
            return Reservation()
        intent = Intent(Kind.DROP, table, purge=purge)
        with self._write() as tx:
            return self._started(statements.reserve(tx, intent, self._context(request), self.owner))

    def begin_rename(self, table: TableName, new_name: TableName, request: Request) -> Reservation:
        """RENAME of any table. Raises GroupError where a group of its database would have to follow into another."""
        if not self._is_member(table):
            return Reservation()
        with self._write() as tx:
            return self._started(statements.begin_rename(tx, table, new_name, self._context(request), self.owner))

    def finish(self, ticket: str, outcome: Outcome, request: Request, location: str | None = None) -> None:
        """The catalog's part has ended. May be repeated, as the answer may be lost.

        location: where the table's files are, if the catalog has chosen that only now.
        Raises RequestError for a commit that the store knows nothing of, GroupMismatchError or GroupError where the
        lease has ended and another table has changed the group meanwhile.
        """
        if not ticket:
            return
        try:
            with self._write() as tx:
                statements.finish(tx, ticket, outcome, location, self._context(request))
        except StoreError:
            raise  # The caller tries again: until then the lease is kept.
        except ColocateError:
            self.running.discard(ticket)
            raise
        self.running.discard(ticket)

    def renew(self) -> None:
        """Extends the leases of the statements that are still running; to be called well within `LEASE_SECONDS`."""
        running = frozenset(self.running)
        if running:
            with self._write() as tx:
                statements.renew(tx, running, self.clock())

    # --- Groups ---

    def set_group_stable(self, group: str, stable: bool, db: str, request: Request) -> GroupName:
        """The operator's flag for a whole group, which is named in full, by its name in `db`, or by its GroupId.

        Raises GroupError for a group that there is not.
        """
        with self._write_to(group) as tx:
            found = groups.find(tx, group, db, self.clock())
            groups.set_stable(tx, found, stable, self._context(request))
            return found.name

    def purge_group(self, group: str, db: str, request: Request) -> GroupName:
        """Ends the recycle period of a group without tables now. Raises GroupError for one with tables, or unknown."""
        with self._write_to(group) as tx:
            found = groups.find(tx, group, db, self.clock())
            groups.purge(tx, found, self._context(request))
            return found.name

    def set_replication(self, group: str, replication: int, db: str, request: Request) -> ReplicationChange:
        """Sets the hosts of each bucket for a group. Raises LayoutError below 1, GroupError for an unknown group."""
        with self._write_to(group) as tx:
            found = groups.find(tx, group, db, self.clock())
            return groups.set_replication(tx, found, replication, db, self._context(request))

    def drop_database(self, db: str, request: Request) -> None:
        """The tables of the database are gone, and its groups end at once."""
        if self.store.exists():
            with self._write() as tx:
                groups.drop_database(tx, db, self._context(request))

    def reconcile(self, found: CatalogTables, request: Request) -> list[Change]:
        """Brings the registry in line with the tables of the catalog; returns what it changed, or could not."""
        if not self.store.exists() and not any(table.group for table in found.members):
            return []
        with self._write() as tx:
            return reconcile(tx, found, self._context(request))

    # --- Listings ---

    def groups(self) -> list[GroupListing]:
        """All groups by id, those in their recycle period too."""
        return self._listed(lambda tx: listings.groups(tx, self.clock()))

    def members(self) -> list[MemberListing]:
        """All members, in the order in which they joined."""
        return self._listed(listings.members)

    def hosts(self) -> list[Host]:
        """The hosts that can hold buckets, by id."""
        return self._listed(lambda tx: list(tx.hosts()))

    def audit(self, limit: int = AUDIT_LINES) -> list[AuditEntry]:
        """The newest lines of the audit log, newest first."""
        return self._listed(lambda tx: list(tx.audit_entries(limit)))

    def placement(self, group_id: str) -> list[BucketPlacement]:
        """The buckets of a group in order, with their hosts. Raises GroupError for an unknown GroupId."""
        self._require_store(group_id)
        with self._read() as tx:
            found = groups.by_id(tx, group_id)
            if found is None or declarations.is_over(found, self.clock()):
                raise groups.unknown(group_id, self._living(tx))
            return listings.placement(tx, found)

    def snapshot(self, since: int | None = None) -> Snapshot | None:
        """What a driver plans with; None while nothing was ever written.

        since: the version that the driver has: it is given what was changed after it, or everything, where that is not
        known any more.
        """
        if not self.store.exists():
            return None
        with self._read() as tx:
            return listings.snapshot(tx, since)

    def version(self) -> int:
        """The version of the catalog's last change; 0 when it has none."""
        return self.store.version(self.catalog) if self.store.exists() else 0

    # --- Life of the catalog ---

    def forget_ended_catalogs(self) -> None:
        """Removes the rows of in-memory catalogs whose drivers have ended."""
        for catalog in self.store.catalogs():
            if catalog.ephemeral and self.is_gone(catalog.owner):
                self.store.forget(catalog)

    def close(self) -> None:
        """The driver has ended, and an in-memory catalog has ended with it."""
        if self.catalog.ephemeral and self.store.exists():
            self.store.forget(self.catalog)
        self.store.close()

    # --- Steps ---

    def _context(self, request: Request) -> OperationContext:
        return OperationContext(self.clock(), request, self.is_gone)

    def _read(self) -> AbstractContextManager[Transaction]:
        return self.store.read(self.catalog)

    def _write(self) -> AbstractContextManager[Transaction]:
        return self.store.write(self.catalog)

    def _write_to(self, group: str) -> AbstractContextManager[Transaction]:
        self._require_store(group)
        return self._write()

    def _require_store(self, group: str) -> None:
        """Without a store there is no group, and asking for one must not make a store."""
        if not self.store.exists():
            raise groups.unknown(group, ())

    def _started(self, reservation: Reservation) -> Reservation:
        self.running.add(reservation.ticket)
        return reservation

    def _refuse_early(self, kind: Kind, declared: Declaration, request: Request) -> None:
        """What is wrong by itself is refused before the first write, which would make a store."""
        declarations.intent(kind, declared, request)

    def _refuse_without_buckets(self, declared: Declaration) -> None:
        """ALTER of a table without buckets: the error carries the statement that rewrites it, so the group is read."""
        group = statements.group_without_buckets(declared) if declared.group else None
        if group is None:
            return
        schema = None
        if self.store.exists():
            with self._read() as tx:
                schema = statements.schema_of(tx, group)
        raise matching.not_bucketed(declared.table, declared.format, group, schema)

    def _is_member(self, table: TableName) -> bool:
        if not self.store.exists():
            return False
        with self._read() as tx:
            return tx.member(table) is not None

    def _living(self, tx: Transaction) -> Sequence[Group]:
        return [group for group in tx.groups() if not declarations.is_over(group, self.clock())]

    def _listed(self, read: Callable[[Transaction], list[T]]) -> list[T]:
        if not self.store.exists():
            return []
        with self._read() as tx:
            return read(tx)
