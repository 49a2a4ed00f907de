"""The in-memory twin of the SQL store: same seam, same ids, same isolation; for tests and for reading the seam."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from spark_colocate.model import AuditEntry, Group, GroupName, Host, Member, TableName, Ticket
from spark_colocate.store.seam import FIRST_ID, CatalogId


@dataclass
class _Rows:
    """All rows of one catalog."""

    catalog: CatalogId
    version: int
    next_id: int = FIRST_ID
    groups: dict[GroupName, Group] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    hosts: dict[int, Host] = field(default_factory=dict)
    databases: dict[str, int] = field(default_factory=dict)
    audit: list[AuditEntry] = field(default_factory=list)


class MemoryTransaction:
    """Works on a private copy of the rows."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows
        self.touched = False

    def version(self) -> int:
        return self.rows.version

    def groups(self) -> Sequence[Group]:
        return sorted(self.rows.groups.values(), key=lambda g: g.group_id)

    def group(self, name: GroupName) -> Group | None:
        return self.rows.groups.get(name)

    def put_group(self, group: Group) -> None:
        self.touched = True
        self.rows.groups[group.name] = group

    def delete_group(self, name: GroupName) -> None:
        self.touched = self.rows.groups.pop(name, None) is not None or self.touched

    def members(self) -> Sequence[Member]:
        return sorted(self.rows.members.values(), key=lambda m: m.joined)

    def member(self, name: TableName) -> Member | None:
        return next((m for m in self.rows.members.values() if m.name == name), None)

    def put_member(self, member: Member) -> None:
        self.touched = True
        self.rows.members[member.table_id] = replace(member, changed=self.rows.version + 1)

    def delete_member(self, table_id: int) -> None:
        self.touched = self.rows.members.pop(table_id, None) is not None or self.touched

    def tickets(self) -> Sequence[Ticket]:
        return sorted(self.rows.tickets.values(), key=lambda t: (t.created_at, t.id))

    def put_ticket(self, ticket: Ticket) -> None:
        self.rows.tickets[ticket.id] = ticket

    def delete_ticket(self, ticket_id: str) -> None:
        self.rows.tickets.pop(ticket_id, None)

    def hosts(self) -> Sequence[Host]:
        return sorted(self.rows.hosts.values(), key=lambda h: h.backend_id)

    def put_host(self, host: Host) -> None:
        self.touched = True
        self.rows.hosts[host.backend_id] = host

    def next_id(self) -> int:
        self.rows.next_id += 1
        return self.rows.next_id - 1

    def database_id(self, name: str) -> int:
        if not name:
            return 0
        if name not in self.rows.databases:
            self.rows.databases[name] = self.next_id()
        return self.rows.databases[name]

    def audit(self, entry: AuditEntry) -> None:
        self.rows.audit.append(entry)

    def audit_entries(self, limit: int) -> Sequence[AuditEntry]:
        return self.rows.audit[::-1][:limit]


class MemoryStore:
    """Catalogs in a dictionary behind one lock."""

    def __init__(self) -> None:
        self._rows: dict[str, _Rows] = {}
        self._lock = threading.RLock()

    def exists(self) -> bool:
        return bool(self._rows)

    def version(self, catalog: CatalogId) -> int:
        held = self._rows.get(catalog.identity)
        return held.version if held else 0

    @contextmanager
    def read(self, catalog: CatalogId) -> Iterator[MemoryTransaction]:
        with self._lock:
            rows = self._rows.get(catalog.identity, _Rows(catalog, 0))
            yield MemoryTransaction(copy.deepcopy(rows))

    @contextmanager
    def write(self, catalog: CatalogId) -> Iterator[MemoryTransaction]:
        with self._lock:
            held = self._rows.get(catalog.identity) or _Rows(catalog, time.time_ns() // 1_000_000)
            transaction = MemoryTransaction(copy.deepcopy(held))
            yield transaction
            transaction.rows.version += transaction.touched
            self._rows[catalog.identity] = transaction.rows

    def catalogs(self) -> Sequence[CatalogId]:
        return [rows.catalog for rows in self._rows.values()]

    def forget(self, catalog: CatalogId) -> None:
        with self._lock:
            self._rows.pop(catalog.identity, None)

    def close(self) -> None:
        self._rows.clear()
