"""The store seam: what the service needs, and nothing about SQL.

Rows are keyed by the identity of the catalog that they describe. A write transaction of one catalog excludes every
other writer of that catalog; its end bumps the catalog's version when groups, members or hosts were changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from spark_colocate.model import AuditEntry, Group, GroupName, Host, Member, TableName, Ticket

FIRST_ID = 10001
"""Ids of databases, groups, tables and backends come from one counter per catalog, as Doris' do."""


@dataclass(frozen=True, slots=True)
class CatalogId:
    """Which catalog the rows describe. An ephemeral one (Spark's in-memory catalog) ends with its `owner`."""

    identity: str
    ephemeral: bool = False
    owner: str = ""


class Transaction(Protocol):
    """One transaction over one catalog. Read methods also serve read-only transactions."""

    def version(self) -> int: ...

    def groups(self) -> Sequence[Group]: ...

    def group(self, name: GroupName) -> Group | None: ...

    def put_group(self, group: Group) -> None: ...

    def delete_group(self, name: GroupName) -> None: ...

    def members(self) -> Sequence[Member]: ...

    def member(self, name: TableName) -> Member | None: ...

    def put_member(self, member: Member) -> None:
        """Inserts or updates by table id; stamps `changed` with the version that this transaction will have."""

    def delete_member(self, table_id: int) -> None: ...

    def tickets(self) -> Sequence[Ticket]: ...

    def put_ticket(self, ticket: Ticket) -> None: ...

    def delete_ticket(self, ticket_id: str) -> None: ...

    def hosts(self) -> Sequence[Host]: ...

    def put_host(self, host: Host) -> None: ...

    def next_id(self) -> int: ...

    def database_id(self, name: str) -> int:
        """The id of a database, given out on first use; 0 stands for no database."""

    def audit(self, entry: AuditEntry) -> None: ...

    def audit_entries(self, limit: int) -> Sequence[AuditEntry]:
        """The newest entries, newest first."""


class Store(Protocol):
    """A place where catalogs are kept."""

    def exists(self) -> bool:
        """False while nothing was ever written: listings are empty then, and reading creates nothing."""

    def version(self, catalog: CatalogId) -> int:
        """The version of the catalog's last write; 0 when it has none."""

    def read(self, catalog: CatalogId) -> AbstractContextManager[Transaction]: ...

    def write(self, catalog: CatalogId) -> AbstractContextManager[Transaction]:
        """Commits at the end of the block, rolls back when it raises."""

    def catalogs(self) -> Sequence[CatalogId]: ...

    def forget(self, catalog: CatalogId) -> None:
        """Removes every row of a catalog."""

    def close(self) -> None: ...
