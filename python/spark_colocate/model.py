"""The words of colocation groups as immutable values. Nothing here reads a store, a clock or a JVM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from spark_colocate.quoting import identifier

GLOBAL_PREFIX = "__global__"
BucketSequence = tuple[tuple[int, ...], ...]
"""For each bucket the backend ids of the hosts that hold it, the first choice first."""

BUCKET_COLUMN = "_colocate_bucket"
RANGE_COLUMN = "_colocate_range"


class Format(StrEnum):
    """The table formats whose layout can be proven."""

    DELTA = "delta"
    PARQUET = "parquet"
    ORC = "orc"


class Kind(StrEnum):
    """What a pending statement is going to do."""

    CREATE = "create"
    ALTER = "alter"
    DROP = "drop"
    RENAME = "rename"


class Outcome(StrEnum):
    """How the catalog's part of a statement ended."""

    COMMIT = "commit"
    ABORT = "abort"


class Role(StrEnum):
    """The parent is the oldest member; the others are its children."""

    PARENT = "parent"
    CHILD = "child"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table in its database."""

    db: str
    table: str

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def sql(self) -> str:
        """The name as it can be written in a statement."""
        return identifier(self.db, self.table)


@dataclass(frozen=True, slots=True)
class GroupName:
    """A group: `db.g` in a database, or `__global__g`, which belongs to none (`db` is empty)."""

    db: str
    name: str

    def __str__(self) -> str:
        return f"{self.db}.{self.name}" if self.db else self.name

    @property
    def is_global(self) -> bool:
        return not self.db


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `type` is Spark's simpleString."""

    name: str
    type: str
    generated: bool = False
    identity: bool = False


@dataclass(frozen=True, slots=True)
class GroupSchema:
    """What all members of a group share. Key names, partition columns and partition numbers are free.

    `key_types` are normalised: VARCHAR of any length is `string`.
    """

    key_types: tuple[str, ...]
    buckets: int
    replication: int


@dataclass(frozen=True, slots=True)
class Group:
    """A colocation group as the store holds it.

    sequence: for each bucket the backend ids of its hosts.
    sizes: the bytes of each bucket in all tables, when a job last looked; empty before that.
    """

    db_id: int
    group_id: int
    name: GroupName
    schema: GroupSchema
    sequence: BucketSequence
    layout_stable: bool = True
    placement_stable: bool = True
    created_at: float = 0.0
    expires_at: float | None = None
    sizes: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.db_id}.{self.group_id}"

    @property
    def proc_name(self) -> str:
        """The name that SHOW PROC prints: `dbId_name`, global groups without an id."""
        return self.name.name if self.name.is_global else f"{self.db_id}_{self.name.name}"

    @property
    def is_stable(self) -> bool:
        return self.layout_stable and self.placement_stable


@dataclass(frozen=True, slots=True)
class Member:
    """A table in a group. `joined` orders the members: the lowest is the parent.

    damaged: a check has once found rows in files of other buckets; which files these are is in the table's manifest. It
        stays so after a repair, because older versions of the table have these files.
    rewrites: how often files of a native table were replaced by others with the same rows. Sessions that have listed
        the files before must list them again.
    """

    table_id: int
    name: TableName
    group: GroupName
    format: Format
    keys: tuple[str, ...]
    joined: int
    location: str | None = None
    changed: int = 0
    damaged: bool = False
    rewrites: int = 0


class HostState(StrEnum):
    """Whether buckets may be assigned to a host."""

    ALIVE = "alive"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Host:
    """A host that can hold buckets, under its backend id.

    capacity: how much it can hold, relative to other hosts.
    beats: is counted up while a driver sees the host; see `service/hosts.py`.
    is_lost: no driver has seen it for longer than the grace period.
    """

    backend_id: int
    host: str
    capacity: float = 1.0
    beats: int = 0
    is_lost: bool = False

    @property
    def state(self) -> HostState:
        return HostState.LOST if self.is_lost else HostState.ALIVE


@dataclass(frozen=True, slots=True)
class Intent:
    """What a statement asks for: kept with its ticket until the catalog's part has ended."""

    kind: Kind
    table: TableName
    group: GroupName | None = None
    schema: GroupSchema | None = None
    format: Format = Format.DELTA
    keys: tuple[str, ...] = ()
    location: str | None = None
    replace: bool = False
    purge: bool = False
    new_name: TableName | None = None


@dataclass(frozen=True, slots=True)
class Ticket:
    """A pending statement. It reserves its group schema until its lease ends or its driver is gone."""

    id: str
    intent: Intent
    owner: str
    created_at: float
    lease_until: float
    committed: bool = False


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit log. `entry` numbers the lines; 0 stands for one that is not written yet."""

    at: float
    who: str
    verb: str
    object: str
    detail: str
    entry: int = 0


class AccessRole(StrEnum):
    """What the bearer of a token may do. Each role may also do what those before it may."""

    READER = "READER"
    OPERATOR = "OPERATOR"
    ADMIN = "ADMIN"


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the store holds it. `digest` is the hash of the secret, which is shown once and not kept."""

    name: str
    role: AccessRole
    digest: str
    created_at: float
    expires_at: float
    revoked_at: float | None = None

    def is_valid(self, now: float) -> bool:
        """Neither revoked nor expired. `now` is in seconds since the epoch."""
        return self.revoked_at is None and now < self.expires_at


class JobKind(StrEnum):
    """What a job does to its tables; `jobs/` has a file for each."""

    VERIFY = "verify"
    REPAIR = "repair"
    BALANCE = "balance"


class JobState(StrEnum):
    """Where a job is. The last three are its end."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Wish(StrEnum):
    """What somebody wants of a running job; it is done when the running step ends, or is stopped."""

    NONE = ""
    PAUSE = "pause"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class JobStep:
    """A part of a job that may be repeated.

    label: what it does, for people.
    buckets, bytes: about how many it reads or writes.
    args: what the job's kind needs for it; values of JSON.
    """

    label: str
    buckets: int = 0
    bytes: int = 0
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """A long piece of work on the tables of one group, or on one of them. It survives the end of whoever does it.

    table: the only table that it concerns; None means all of the group.
    options: what the caller asked for beside; values of JSON.
    who: the user that started it.
    owner: the driver that does it; while the job is pending, the one that may begin first.
    beats: is counted up while the owner lives, as those of a host are.
    claim: is counted up when somebody takes the job. Whoever took it before may write nothing of it any more.
    steps: their number; None before they are known.
    done: how many of them are done; the next one is `steps[done]`.
    buckets, bytes: of all steps; those with `_done` are of the steps that are done.
    attempts: failures of the running step, one after another.
    retry_at: not before this time; times are in seconds since the epoch.
    error: the last failure.
    request_id: the name that the caller gave to its request, so that a repeated one starts no second job; may be empty.
    findings: what the steps have found, a line each.
    """

    job_id: int
    kind: JobKind
    group: GroupName
    table: TableName | None
    options: Mapping[str, Any]
    who: str
    created_at: float
    state: JobState = JobState.PENDING
    wish: Wish = Wish.NONE
    owner: str = ""
    beats: int = 0
    claim: int = 0
    steps: int | None = None
    done: int = 0
    buckets: int = 0
    buckets_done: int = 0
    bytes: int = 0
    bytes_done: int = 0
    attempts: int = 0
    retry_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    error: str = ""
    request_id: str = ""
    findings: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        return str(self.table or self.group)
