"""All operations of the control plane (its verbs), as methods of one class."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from spark_colocate.catalogues.findings import Finding
from spark_colocate.checks import key_models, matching
from spark_colocate.checks.adoption import FoundTable
from spark_colocate.checks.key_models import KeyedTable
from spark_colocate.checks.range_partitions import RangePartitions, Spec
from spark_colocate.errors import ColocateError, StoreError
from spark_colocate.model import AccessRole, AuditEntry, GroupName, Host, Intent, Kind, Outcome, TableName, Token
from spark_colocate.service.base import access, config
from spark_colocate.service.base.access import DEFAULT_DAYS, NewToken
from spark_colocate.service.base.config import ConfigEntry
from spark_colocate.service.base.requests import (
    CatalogTables,
    Change,
    Declaration,
    ReplicationChange,
    Request,
    Reservation,
    SequenceChange,
)
from spark_colocate.service.base.transactions import Transactions
from spark_colocate.service.doctor import facts, report, tables
from spark_colocate.service.doctor.facts import Inspection, Leftover, StoreFacts
from spark_colocate.service.groups import groups, listings
from spark_colocate.service.groups.listings import BucketPlacement, GroupListing, MemberListing, Snapshot
from spark_colocate.service.groups.reconcile import reconcile
from spark_colocate.service.jobs.verbs import Jobs
from spark_colocate.service.placement import hosts, sequences
from spark_colocate.service.placement.assignment import Move
from spark_colocate.service.placement.hosts import HostWatch
from spark_colocate.service.statements import adoption, declarations, ranges, statements
from spark_colocate.service.statements.adoption import AdoptionPlan
from spark_colocate.service.statements.ranges import RangedTable
from spark_colocate.service.statements.statements import LEASE_SECONDS
from spark_colocate.store.protocol import Transaction

__all__ = ["LEASE_SECONDS", "Service"]

T = TypeVar("T")

AUDIT_LINES = 1000


@dataclass
class Service(Transactions):
    """The verbs, for the groups of one catalog in a store (the registry's database).

    Each verb raises StoreError if the store can't be used. The store may not exist yet: then there are no groups, and
    listings are empty. It is created by the first statement that puts a table into a group, or by `reconcile` if it
    finds such a table. Verbs may be called from several threads.

    running: ids of the tickets of this driver's unfinished statements; `renew` extends their leases.
    host_watch: what this process has seen of the hosts.
    jobs: the verbs on jobs.
    """

    running: set[str] = field(default_factory=set)
    host_watch: HostWatch = field(default_factory=HostWatch)
    jobs: Jobs = field(init=False)

    def __post_init__(self) -> None:
        self.jobs = Jobs(self)

    # --- Statements on tables: `begin_...`, then the catalog does its work, then `finish` ---

    def check_declaration(self, declared: Declaration) -> None:
        """Checks a table's buckets and group name, without the store. Raises LayoutError or GroupError."""
        declarations.check(declared)

    def create_ranges(self, table: RangedTable) -> RangePartitions:
        """The range partitions of a new table, from its properties. Raises LayoutError."""
        return ranges.created(table)

    def add_ranges(self, table: RangedTable, specs: Sequence[Spec], only_new: bool = False) -> RangePartitions:
        """The table's range partitions with more. only_new: those that are there are left out. Raises LayoutError."""
        return ranges.added(table, specs, only_new)

    def drop_range(self, table: RangedTable, name: str, if_exists: bool = False) -> RangePartitions:
        """The table's range partitions without one. Raises LayoutError."""
        return ranges.dropped(table, name, if_exists)

    def named_ranges(self, table: RangedTable, names: Sequence[str]) -> list[str]:
        """The names of range partitions as the table spells them. Raises LayoutError for an unknown one."""
        return ranges.named(table, names)

    def create_key_model(self, table: KeyedTable) -> dict[str, str]:
        """The properties of a new table with a key model. Raises LayoutError."""
        return key_models.properties(table)

    def begin_create(self, declared: Declaration, request: Request) -> Reservation:
        """CREATE, CTAS or REPLACE: checks the table against its group, and reserves its place in it.

        If `declared.group` is empty, a replaced table leaves its group. Raises LayoutError, GroupMismatchError or
        GroupError if the table can't be in the group.
        """
        self._refuse_early(Kind.CREATE, declared, request)
        with self.creating() as tx:
            return self._started(statements.begin_create(tx, declared, self.context(request), self.owner))

    def begin_alter(self, declared: Declaration, request: Request) -> Reservation:
        """SET or UNSET of `colocate_with` or `replication_num`: the table joins, changes or leaves a group.

        Raises the same errors as `begin_create`.
        """
        self._refuse_without_buckets(declared)
        self._refuse_early(Kind.ALTER, declared, request)
        with self.creating() as tx:
            return self._started(statements.begin_alter(tx, declared, self.context(request), self.owner))

    def plan_adoption(
        self, table: FoundTable, group: GroupName, keys: Sequence[str], buckets: int, replication: int | None
    ) -> AdoptionPlan:
        """What an adoption would make of a table, as a driver has found it. Nothing is written.

        buckets: 0 for the group's number, or for an advised one where there is no such group. replication: the number
        of hosts for each bucket of a new group; None for the default.
        Raises LayoutError, GroupError, GroupMismatchError or RequestError if the table can't be adopted so.
        """
        if not self.store.exists():
            return adoption.plan(None, table, group, keys, buckets, replication, self.clock())
        with self.reading() as tx:
            return adoption.plan(tx, table, group, keys, buckets, replication, self.clock())

    def begin_drop(self, table: TableName, request: Request, purge: bool = False) -> Reservation:
        """DROP of any table. For a table in no group the reservation is empty, and nothing is written.

        purge: if this is the group's last table, delete the group at once, without a recycle period.
        """
        if not self._is_member(table):
            return Reservation()
        intent = Intent(Kind.DROP, table, purge=purge)
        with self.writing_unasked() as tx:
            return self._started(statements.reserve(tx, intent, self.context(request), self.owner))

    def begin_rename(self, table: TableName, new_name: TableName, request: Request) -> Reservation:
        """RENAME of any table. Raises GroupError for a new database, if the table's group belongs to the old one."""
        if not self._is_member(table):
            return Reservation()
        with self.writing_unasked() as tx:
            return self._started(statements.begin_rename(tx, table, new_name, self.context(request), self.owner))

    def finish(self, ticket: str, outcome: Outcome, request: Request, location: str | None = None) -> bool:
        """Commits or aborts a statement, when the catalog's work is done. May be called again if the answer was lost.

        location: the folder of the table's files, if the catalog has chosen it only during its work.
        Returns whether the registry has the outcome. If not, another driver had a statement on the same table at the
        same time, and the caller calls `reconcile` with what the catalog has now.
        Raises RequestError for a commit without a ticket in the store. Raises GroupMismatchError or GroupError if the
        lease has ended and another table has changed the group meanwhile.
        """
        if not ticket:
            return True
        try:
            with self.writing_unasked() as tx:
                follows = statements.finish(tx, ticket, outcome, location, self.context(request))
        except StoreError:
            raise  # The caller will try again, so the ticket stays in `running` and its lease is renewed.
        except ColocateError:
            self.running.discard(ticket)
            raise
        self.running.discard(ticket)
        return follows

    def hold(self, ticket: str, request: Request) -> None:
        """Checks just before the catalog makes a table that it still fits its group; the lease may have ended.

        Raises RequestError without a ticket in the store, GroupMismatchError or GroupError if the group has changed.
        """
        if ticket:
            with self.writing_unasked() as tx:
                statements.hold(tx, ticket, self.context(request))

    def renew(self) -> None:
        """Extends the leases of this driver's unfinished statements; call it more often than every `LEASE_SECONDS`."""
        running = frozenset(self.running)
        if running:
            with self.writing_unasked() as tx:
                statements.renew(tx, running, self.clock())

    # --- Groups ---

    def set_group_stable(self, group: str, stable: bool, db: str, request: Request) -> GroupName:
        """Sets the stable flag of a group.

        group: its full name, its name in the database `db`, or its GroupId.
        Raises GroupError if there is no such group.
        """
        with self._write_to(group, request) as tx:
            found = groups.find(tx, group, db, self.clock())
            groups.set_stable(tx, found, stable, self.context(request))
            return found.name

    def purge_group(self, group: str, db: str, request: Request) -> GroupName:
        """Deletes a group in its recycle period at once. Raises GroupError if it has tables, or does not exist."""
        with self._write_to(group, request) as tx:
            found = groups.find(tx, group, db, self.clock())
            groups.purge(tx, found, self.context(request))
            return found.name

    def set_replication(self, group: str, replication: int, db: str, request: Request) -> ReplicationChange:
        """Sets a group's number of hosts for each bucket.

        Raises LayoutError if it is below 1, GroupError if there is no such group.
        """
        with self._write_to(group, request) as tx:
            found = groups.find(tx, group, db, self.clock())
            return groups.set_replication(tx, found, replication, db, self.context(request))

    def set_sequence(self, group: str, sequence: sequences.BucketHosts, db: str, request: Request) -> SequenceChange:
        """Sets the hosts of a group's buckets, as lists of backend ids.

        Raises GroupError if there is no such group, or the sequence does not fit it.
        """
        with self._write_to(group, request) as tx:
            found = groups.find(tx, group, db, self.clock())
            return sequences.set_sequence(tx, found, sequence, self.context(request))

    def drop_database(self, db: str, request: Request) -> None:
        """After DROP DATABASE: its tables leave their groups, and its groups are deleted without a recycle period."""
        if self.store.exists():
            with self.writing_unasked() as tx:
                groups.drop_database(tx, db, self.context(request))

    def reconcile(self, found: CatalogTables, request: Request) -> list[Change]:
        """Updates the registry to the tables that the catalog has; returns what it changed, and what it could not."""
        if not self.store.exists() and not any(table.group for table in found.members):
            return []
        with self.creating() as tx:
            return reconcile(tx, found, self.context(request))

    # --- Hosts ---

    def see_hosts(self, request: Request) -> None:
        """The driver sees the hosts of the request now; call it more often than every `host_watch.beat_seconds`.

        Buckets of hosts that no driver has seen for the grace period go to others, and new hosts get their share,
        unless `disable_colocate_relocate` or `disable_colocate_balance` forbids it.
        """
        if not self.version():
            return  # This catalog has had no group.
        known, now = self.hosts(), self.steady()
        silent = self.host_watch.silent(known, now)
        if not silent and self.host_watch.are_fresh(request, known, now):
            return
        context = self.context(request)
        with self.writing_unasked() as tx:
            has_new = hosts.seen(tx, context)
            if hosts.lose(tx, silent, context) or has_new:
                hosts.reassign(tx, context)

    # --- What jobs change ---

    def mark_moving(self, group: GroupName) -> None:
        """Buckets of a group are going to move: its placement is not stable before the job ends."""
        with self.writing_unasked() as tx:
            sequences.mark_moving(tx, group)

    def note_sizes(self, group: GroupName, sizes: Sequence[int]) -> None:
        """The bytes of each bucket of a group in all its tables, by which buckets are spread over hosts from now on."""
        with self.writing_unasked() as tx:
            held = tx.group(group)
            if held and len(sizes) == held.schema.buckets and held.sizes != tuple(sizes):
                tx.put_group(replace(held, sizes=tuple(sizes)))

    def move_bucket(self, group: GroupName, move: Move, request: Request) -> bool:
        """Gives a copy of a bucket to another host. False if the sequence or the hosts have changed meanwhile."""
        with self.writing_unasked() as tx:
            return sequences.move(tx, group, move, self.context(request))

    def note_damage(self, table: TableName) -> None:
        """Files of a table are known to have rows of other buckets; its manifest says which."""
        with self.writing_unasked() as tx:
            held = tx.member(table)
            if held and not held.damaged:
                tx.put_member(replace(held, damaged=True))

    def note_verified(self, table: TableName, mode: str, since: float) -> None:
        """A verify has ended that began at this time. A table that has joined, or was made anew, since then was not
        looked at."""
        with self.writing_unasked() as tx:
            held = tx.member(table)
            if held and (held.joined_at is None or held.joined_at <= since):
                tx.put_member(replace(held, verified_at=self.clock(), verified_mode=mode))

    def note_rewriting(self, table: TableName) -> None:
        """A repair begins to replace files of a native table. If its driver ends meanwhile, sessions must know."""
        with self.writing_unasked() as tx:
            held = tx.member(table)
            if held and not held.rewriting:
                tx.put_member(replace(held, rewriting=True))

    def note_rewrite(self, table: TableName) -> None:
        """Files of a native table were replaced by others with the same rows; sessions list them again."""
        with self.writing_unasked() as tx:
            held = tx.member(table)
            if held:
                tx.put_member(replace(held, rewrites=held.rewrites + 1, rewriting=False))

    # --- Configurations ---

    def set_config(self, key: str, value: str, request: Request) -> ConfigEntry:
        """ADMIN SET FRONTEND CONFIG. Raises RequestError for an unknown key or a wrong value."""
        key, value = config.checked(key, value)
        with self.writing(request) as tx:
            config.store(tx, key, value, self.context(request))
            if value == "false":  # What had to wait may be done now.
                hosts.reassign(tx, self.context(request))
        return next(entry for entry in config.entries({key: value}) if entry.key == key)

    def config(self) -> list[ConfigEntry]:
        """All configurations; those that nobody has set have their default."""
        if not self.store.exists():
            return config.entries({})
        with self.reading() as tx:
            return config.entries(tx.config())

    # --- Access over the network ---

    def create_token(self, name: str, role: AccessRole, request: Request, days: int = DEFAULT_DAYS) -> NewToken:
        """Makes a token, and shows its secret this once. Raises RequestError for a name that is taken or can't be."""
        with self.writing(request) as tx:
            return access.create(tx, name, role, days, self.context(request))

    def revoke_token(self, name: str, request: Request) -> Token:
        """Ends a token at once. Raises RequestError for an unknown one."""
        with self.writing(request) as tx:
            return access.revoke(tx, name, self.context(request))

    def tokens(self) -> list[Token]:
        """All tokens by name, also those that have ended."""
        return self.listed(lambda tx: list(tx.tokens()))

    def authenticate(self, secret: str, verb: str) -> Token:
        """The caller's token. Raises AccessError for one that is unknown, has ended, or may not call the verb."""
        token = access.authenticate(self.tokens(), secret, self.clock())
        access.allow(token, verb)
        return token

    # --- Listings ---

    def groups(self) -> list[GroupListing]:
        """All groups, also those in their recycle period, sorted by id."""
        return self.listed(lambda tx: listings.groups(tx, self.clock()))

    def group(self, group: str, db: str = "") -> GroupListing:
        """One group, named as for `set_group_stable`. Raises GroupError if there is no such group."""
        if not self.store.exists():
            raise groups.unknown(group, ())
        with self.reading() as tx:
            return listings.group(tx, groups.find(tx, group, db, self.clock()))

    def members(self) -> list[MemberListing]:
        """All members, in the order in which they joined."""
        return self.listed(listings.members)

    def hosts(self) -> list[Host]:
        """The hosts that buckets can be assigned to, sorted by id."""
        return self.listed(lambda tx: list(tx.hosts()))

    def audit(self, limit: int = AUDIT_LINES, before: int | None = None) -> list[AuditEntry]:
        """The last `limit` lines of the audit log, newest first; `before`: of those with a lower number."""
        return self.listed(lambda tx: list(tx.audit_entries(limit, before)))

    def placement(self, group_id: str) -> list[BucketPlacement]:
        """The buckets of a group in order, with their hosts. Raises GroupError for an unknown GroupId."""
        if not self.store.exists():
            raise groups.unknown_id(group_id, ())
        with self.reading() as tx:
            return listings.placement(tx, groups.find_by_id(tx, group_id, self.clock()))

    def doctor(self, request: Request, db: str = "", found: Inspection | None = None) -> list[Finding]:
        """What is wrong or wasteful, the worst first, each with the statement that fixes it.

        db: only the groups and tables of this database, and global groups.
        found: what the driver has seen of the tables; None looks at what the store knows.
        """
        return report.findings(self._facts(request), db, found)

    def leftovers(self, found: Sequence[Leftover], request: Request) -> list[Leftover]:
        """Which of these folders of no table may be removed: no statement is making their tables."""
        return tables.leftovers(self._facts(request), found)

    def _facts(self, request: Request) -> StoreFacts:
        context = self.context(request)
        if not self.store.exists():
            return facts.without_store(context)
        with self.reading() as tx:
            return facts.of_store(tx, self.store, context, self.jobs.is_abandoned)

    def snapshot(self, since: int | None = None) -> Snapshot | None:
        """The state of the groups, which the driver keeps for planning; None if there is no store.

        since: the version that the driver has already. The answer then has only later changes, or everything if these
        are not known any more.
        """
        if not self.store.exists():
            return None
        with self.reading() as tx:
            return listings.snapshot(tx, since)

    def version(self) -> int:
        """The version of the last change to this catalog's groups; 0 if there was none."""
        return self.store.version(self.catalog) if self.store.exists() else 0

    # --- Removing catalogs ---

    def forget_ended_catalogs(self) -> None:
        """Removes from the store the groups of in-memory catalogs whose drivers have ended."""
        for catalog in self.store.catalogs():
            if catalog.ephemeral and self.is_gone(catalog.owner):
                self.store.forget(catalog)

    def close(self) -> None:
        """The driver has ended: removes the groups of an in-memory catalog, and closes the store."""
        if self.catalog.ephemeral:
            with suppress(StoreError):  # A later driver on this store forgets the groups of drivers that have ended.
                if self.store.exists():
                    self.store.forget(self.catalog)
        self.store.close()

    # --- Helpers ---

    def _write_to(self, group: str, request: Request) -> AbstractContextManager[Transaction]:
        """Raises GroupError if there is no store, because `writing` would create one."""
        if not self.store.exists():
            raise groups.unknown(group, ())
        return self.writing(request)

    def _started(self, reservation: Reservation) -> Reservation:
        self.running.add(reservation.ticket)
        return reservation

    def _refuse_early(self, kind: Kind, declared: Declaration, request: Request) -> None:
        """Checks what needs no store before `creating`, so that a wrong statement does not create a store."""
        declarations.intent(kind, declared, request)

    def _refuse_without_buckets(self, declared: Declaration) -> None:
        """Raises for ALTER of a table without buckets. The error shows how to rewrite it, so the group is read."""
        group = statements.group_without_buckets(declared) if declared.group else None
        if group is None:
            return
        schema = None
        if self.store.exists():
            with self.reading() as tx:
                schema = statements.schema_of(tx, group)
        raise matching.not_bucketed(declared.table, declared.format, group, schema)

    def _is_member(self, table: TableName) -> bool:
        if not self.store.exists():
            return False
        with self.reading() as tx:
            return tx.member(table) is not None
