"""What the doctor looks at, as values: the store's part is read here, the tables' part is sent by the driver."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from spark_colocate.model import AuditEntry, Group, GroupName, Host, Job, JobState, Member, TableName
from spark_colocate.service.base.requests import Declaration, OperationContext
from spark_colocate.store.protocol import Store, Transaction

AUDIT_LINES = 1000


@dataclass(frozen=True, slots=True)
class BucketFiles:
    """The files of one bucket.

    tablets: partitions of the table that have files in it.
    uncompacted: files of a key model that may have several rows for a key.
    """

    bucket: int
    files: int
    bytes: int
    tablets: int = 1
    uncompacted: int = 0


@dataclass(frozen=True, slots=True)
class InspectedTable:
    """A table that has buckets or names a group, as it is now.

    unchecked: files of others that claim a bucket, and whose rows nobody has checked.
    is_plain: CREATE TABLE AS SELECT makes it again without losing anything.
    """

    declared: Declaration
    buckets: tuple[BucketFiles, ...] = ()
    strays: int = 0
    stray_bytes: int = 0
    unchecked: int = 0
    has_key_model: bool = False
    is_plain: bool = True

    @property
    def name(self) -> TableName:
        return self.declared.table

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.buckets)

    @property
    def partitions(self) -> int:
        return max((one.tablets for one in self.buckets), default=1)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A table that a query can't be planned on.

    why: the error's first line.
    is_bucketed: it has buckets or names a group; of others nothing is known.
    readable: the newest version of a Delta table that can be read.
    """

    name: TableName
    why: str
    is_bucketed: bool
    readable: int | None = None


@dataclass(frozen=True, slots=True)
class Leftover:
    """A folder where a table of this name would have its files, but there is no such table.

    modified: in seconds since the epoch.
    """

    name: TableName
    path: str
    files: int
    bytes: int
    modified: float


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a look at the catalog's tables has found.

    unread: tables that are there but could not be read: nothing is concluded about them.
    databases: those that were looked at; None means all.
    version: of the groups before the look began; a table that joined later may be missing. None: nothing joined.
    """

    tables: tuple[InspectedTable, ...]
    unread: tuple[TableName, ...] = ()
    databases: frozenset[str] | None = None
    version: int | None = None
    unreadable: tuple[Unreadable, ...] = ()
    leftovers: tuple[Leftover, ...] = ()

    def looked_for(self, member: Member) -> bool:
        """Whether the member would be among the tables, if it is there."""
        listed = self.databases is None or member.name.db in self.databases
        return listed and (self.version is None or member.changed <= self.version)


@dataclass(frozen=True)
class StoreFacts:
    """What the store knows.

    jobs: those that have not ended.
    abandoned: ids of those whose driver has ended.
    failed: of each group and kind, the last job, if it has failed.
    pending: tables of statements that have not ended.
    unstable_since: when a group was marked as unstable, in seconds since the epoch; missing where that is long ago.
    store_is_shared: drivers on other hosts can use it too.
    store_exposed: its files that other users of the machine can use.
    min_age: for how many seconds a state must last before it is a finding.
    verify_age: for how many seconds a table may go without a verify.
    """

    now: float
    min_age: float
    verify_age: float = math.inf
    store_is_shared: bool = True
    store_exposed: str = ""
    groups: tuple[Group, ...] = ()
    members: tuple[Member, ...] = ()
    hosts: tuple[Host, ...] = ()
    jobs: tuple[Job, ...] = ()
    abandoned: frozenset[int] = frozenset()
    failed: tuple[Job, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)
    pending: frozenset[TableName] = frozenset()
    unstable_since: Mapping[GroupName, float] = field(default_factory=dict)

    @cached_property
    def member(self) -> dict[TableName, Member]:
        """Keyed by name: there may be thousands, and as many tables are looked up."""
        return {member.name: member for member in self.members}

    @cached_property
    def group(self) -> dict[GroupName, Group]:
        """Keyed by name."""
        return {group.name: group for group in self.groups}

    @cached_property
    def job(self) -> dict[GroupName, Job]:
        """Keyed by group, which has one at a time."""
        # Of one that makes another table a member, only where the group has no job of its own.
        return {job.group: job for job in sorted(self.jobs, key=lambda job: not job.kind.is_of_newcomer)}

    def members_of(self, group: GroupName) -> list[Member]:
        return self._members_by_group.get(group, [])

    @cached_property
    def _members_by_group(self) -> dict[GroupName, list[Member]]:
        found: dict[GroupName, list[Member]] = {}
        for member in self.members:
            found.setdefault(member.group, []).append(member)
        return found

    def is_old(self, since: float | None) -> bool:
        """Whether a state has lasted long enough. None: it began longer ago than anybody remembers."""
        return since is None or self.now - since >= self.min_age


def without_store(context: OperationContext) -> StoreFacts:
    """There are no groups yet."""
    return StoreFacts(context.now, context.request.settings.doctor_min_age)


def of_store(
    tx: Transaction, store: Store, context: OperationContext, is_abandoned: Callable[[Job], bool]
) -> StoreFacts:
    """Reads the store's part. Groups in their recycle period are not looked at."""
    jobs = tx.jobs()
    open_jobs = tuple(job for job in jobs if not job.state.is_end)
    groups = tuple(group for group in tx.groups() if group.expires_at is None)
    return StoreFacts(
        groups=groups,
        members=tuple(tx.members()),
        hosts=tuple(tx.hosts()),
        jobs=open_jobs,
        abandoned=frozenset(job.job_id for job in open_jobs if is_abandoned(job)),
        failed=_failed(jobs),
        config=tx.config(),
        pending=frozenset(ticket.intent.table for ticket in tx.open_tickets()),
        unstable_since=_unstable_since(groups, tx.audit_entries(AUDIT_LINES)),
        store_is_shared=store.is_shared(),
        store_exposed=store.exposed(),
        now=context.now,
        min_age=context.request.settings.doctor_min_age,
        verify_age=context.request.settings.doctor_verify_age,
    )


def _failed(oldest_first: Sequence[Job]) -> tuple[Job, ...]:
    """A later job of the same kind and target has done what the failed one was to do; a cancelled one has not."""
    last: dict[tuple[str, str], Job] = {}
    for job in oldest_first:
        if job.state is not JobState.CANCELLED:
            last[job.kind, job.target] = job
    return tuple(job for job in last.values() if job.state is JobState.FAILED)


def _unstable_since(groups: Sequence[Group], newest_first: Sequence[AuditEntry]) -> dict[GroupName, float]:
    names = {str(group.name): group.name for group in groups}
    found: dict[GroupName, float] = {}
    for line in newest_first:
        if line.verb == "set_group_stable" and line.object in names:
            found.setdefault(names[line.object], line.at)
    return found


def instant(seconds: float) -> str:
    """A time as findings show it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
