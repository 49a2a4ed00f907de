"""The values that go into the verbs, and those that come out of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from spark_colocate.catalogues.settings import Settings
from spark_colocate.model import AuditEntry, Column, GroupName, TableName, Token
from spark_colocate.store.protocol import Transaction


@dataclass(frozen=True, slots=True)
class Request:
    """What every verb knows about its caller.

    settings: those of the caller's session.
    who: the user's name, as the audit log shows it.
    hosts: those that can hold buckets, in any order, as `host` or `host=capacity`.
    local: the driver runs all tasks itself, so its host counts only while no cluster has others.
    token: the one that the caller has shown. An operator's verb looks again, in its own transaction, whether it is
        valid. None: the caller needs none.
    if_version: the version of the groups that the caller has seen. An operator's verb is refused at another one.
    request_id: a name that the caller gave to this request: repeated, it starts no second job.
    """

    settings: Settings = field(default_factory=lambda: Settings.of({}))
    who: str = ""
    hosts: tuple[str, ...] = ()
    local: bool = False
    token: Token | None = None
    if_version: int | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class OperationContext:
    """What the steps of one operation know: the request, the time, and which drivers have ended.

    now: seconds since the epoch.
    is_gone: whether the owner of a ticket has ended for sure.
    """

    now: float
    request: Request
    is_gone: Callable[[str], bool]

    def log(self, tx: Transaction, verb: str, thing: object, detail: str = "") -> None:
        """Adds a line to the audit log."""
        tx.audit(AuditEntry(self.now, self.request.who, verb, str(thing), detail))


@dataclass(frozen=True, slots=True)
class Declaration:
    """A table as its statement declares it.

    group: the text of the property `colocate_with`; empty for a table in no group.
    format: the provider's name, in any case of letters.
    keys: the bucket keys in order; empty without buckets.
    buckets: their number; 0 without buckets.
    replication: hosts of each bucket, if the statement says so.
    columns: all columns of the table; empty means that its keys are all that is known.
    replace: a table of this name may exist.
    liquid: it uses Delta's liquid clustering.
    bytes: about how much data it will get, if that is known.
    partition_buckets: range partitions with another number of buckets than the table's, and this number.
    ranges: the two table properties of range partitions, if it has them.
    """

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
    partition_buckets: tuple[tuple[str, int], ...] = ()
    ranges: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """The answer of a begin verb: what the statement may do, until it is finished.

    ticket: its id; empty where the statement concerns no group and nothing is to be finished.
    group: the table's group from then on.
    notes: hints for the user.
    """

    ticket: str = ""
    group: GroupName | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplicationChange:
    """A group that has a new replication number, and its members, whose properties are the caller's to set."""

    group: GroupName
    tables: tuple[TableName, ...]


@dataclass(frozen=True, slots=True)
class SequenceChange:
    """A group that has a new bucket sequence, and what the caller should know about it."""

    group: GroupName
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogTables:
    """What a listing of the catalog found.

    members: all tables that name a group now. One with an empty group counts as in none.
    unread: tables that are there but could not be read: nothing is concluded about them.
    databases: those that were listed; None means all.
    names: the only tables that were looked for; None means all.
    version: the version of the groups before the listing began. A table that joined later is not in it for that reason
        alone. None means that nothing joined meanwhile.
    """

    members: tuple[Declaration, ...]
    unread: tuple[TableName, ...] = ()
    databases: frozenset[str] | None = None
    version: int | None = None
    names: frozenset[TableName] | None = None


class Action(StrEnum):
    """What reconcile did with a table."""

    JOINED = "joined"
    MOVED = "moved"
    RELOCATED = "relocated"
    LEFT = "left"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Change:
    """A difference that reconcile has resolved, or one that it can't resolve (`CONFLICT`, with the error in `message`).

    group: the group's full name; of a conflict, the text of the table's property.
    """

    table: TableName
    action: Action
    group: str
    message: str = ""
