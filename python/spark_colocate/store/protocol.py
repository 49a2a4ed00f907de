"""The interface of a store for the service, without SQL.

Rows are keyed by the identity of the catalog that they describe. A write transaction of one catalog excludes every
other writer of that catalog; its end bumps the catalog's version when groups, members, hosts or configurations were
changed.

A statement on one table asks for its own rows only: what it costs must not grow with the number of tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from spark_colocate.model import AuditEntry, Group, GroupName, Host, Job, JobStep, Member, TableName, Ticket, Token

FIRST_ID = 10001
"""Ids of databases, groups, tables and backends come from one counter per catalog, as Doris' do."""


@dataclass(frozen=True, slots=True)
class CatalogId:
    """Which catalog the rows describe. An ephemeral one (Spark's in-memory catalog) ends with its `owner`."""

    identity: str
    ephemeral: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes that a reader of an older version lacks. Apply `left` and `ended` first: a name may be used again."""

    groups: Sequence[Group] = ()
    """Groups with members, new or changed."""
    members: Sequence[Member] = ()
    """Members that are new or changed."""
    ended: Sequence[GroupName] = ()
    """Groups that have no member any more."""
    left: Sequence[TableName] = ()
    """Tables that are not members any more, at least not under this name."""


class Transaction(Protocol):
    """One transaction over one catalog. Read methods also serve read-only transactions."""

    def version(self) -> int: ...

    def groups(self) -> Sequence[Group]:
        """All groups, by id; for listings."""

    def group(self, name: GroupName) -> Group | None: ...

    def group_by_id(self, db_id: int, group_id: int) -> Group | None: ...

    def groups_in(self, db: str) -> Sequence[Group]:
        """The groups of a database, by id."""

    def groups_alike(self, name: GroupName) -> Sequence[Group]:
        """Groups of its database, and global ones, whose names differ from this one in case only, itself included."""

    def groups_over(self, now: float) -> Sequence[Group]:
        """Groups whose recycle period has ended."""

    def put_group(self, group: Group) -> None: ...

    def delete_group(self, name: GroupName) -> None: ...

    def members(self) -> Sequence[Member]:
        """All members, in the order in which they joined; for listings."""

    def member(self, name: TableName) -> Member | None: ...

    def members_of(self, group: GroupName) -> Sequence[Member]:
        """The members of a group: the parent first, then its children in the order in which they joined."""

    def members_in(self, db: str) -> Sequence[Member]:
        """The members that are tables of a database."""

    def changes(self, since: int) -> Changes | None:
        """What was changed after the version `since`; None where that is not known any more, or not yet."""

    def put_member(self, member: Member) -> None:
        """Inserts or updates by table id; stamps `changed` with the version that this transaction will have."""

    def delete_member(self, table_id: int) -> None: ...

    def ticket(self, ticket_id: str) -> Ticket | None: ...

    def open_tickets(self) -> Sequence[Ticket]:
        """Tickets of statements that have not been committed, by age."""

    def tickets_of_others(self, owner: str, since: float) -> Sequence[Ticket]:
        """Tickets of other owners whose lease ends then or later; that of a committed ticket ended at its commit."""

    def ticket_owners(self) -> Sequence[str]:
        """The owners of open tickets."""

    def delete_tickets(self, owner: str) -> None:
        """All tickets of an owner."""

    def delete_tickets_before(self, lease_until: float) -> None:
        """Tickets whose lease ended before."""

    def put_ticket(self, ticket: Ticket) -> None: ...

    def delete_ticket(self, ticket_id: str) -> None: ...

    def hosts(self) -> Sequence[Host]: ...

    def put_host(self, host: Host) -> None: ...

    def beat(self, host: Host) -> None:
        """Increments the host's beats. Not a change that drivers must see: the version stays."""

    def next_id(self) -> int: ...

    def database_id(self, name: str) -> int:
        """The id of a database, given out on first use; 0 stands for no database."""

    def config(self) -> Mapping[str, str]:
        """The configurations that were set, by key."""

    def put_config(self, key: str, value: str) -> None: ...

    def audit(self, entry: AuditEntry) -> None: ...

    def audit_entries(self, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """The newest entries, newest first; `before`: of those with a lower number."""

    def tokens(self) -> Sequence[Token]:
        """All tokens by name, also those that have ended."""

    def put_token(self, token: Token) -> None:
        """Inserts or updates by name."""

    def jobs(self) -> Sequence[Job]:
        """All jobs by id, also those that have ended."""

    def open_jobs(self) -> Sequence[Job]:
        """Jobs that have not ended, by id."""

    def job(self, job_id: int) -> Job | None: ...

    def put_job(self, job: Job) -> None:
        """Inserts or updates by id. Not a change that drivers must see: the version stays."""

    def delete_job(self, job_id: int) -> None:
        """A job with its steps."""

    def beat_job(self, job_id: int, owner: str) -> None:
        """Increments the beats of a job that this driver runs."""

    def job_steps(self, job_id: int) -> Sequence[JobStep]: ...

    def put_job_steps(self, job_id: int, steps: Sequence[JobStep]) -> None: ...


class Store(Protocol):
    """A place where catalogs are kept."""

    def exists(self) -> bool:
        """False while nothing was ever written: listings are empty then, and reading creates nothing."""

    def is_shared(self) -> bool:
        """Whether drivers on several hosts can use it."""

    def exposed(self) -> str:
        """Its files that other users of the machine can open, though nobody let them in; empty if there are none."""

    def version(self, catalog: CatalogId) -> int:
        """The version of the catalog's last write; 0 when it has none."""

    def read(self, catalog: CatalogId) -> AbstractContextManager[Transaction]: ...

    def write(self, catalog: CatalogId) -> AbstractContextManager[Transaction]:
        """Commits at the end of the block, rolls back when it raises."""

    def catalogs(self) -> Sequence[CatalogId]: ...

    def forget(self, catalog: CatalogId) -> None:
        """Removes every row of a catalog."""

    def close(self) -> None: ...
