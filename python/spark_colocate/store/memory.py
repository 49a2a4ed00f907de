"""A store in memory that behaves as the SQL one does: same protocol, same ids, same isolation. For tests."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from spark_colocate.model import AuditEntry, Group, GroupName, Host, Job, JobStep, Member, TableName, Ticket, Token
from spark_colocate.store.protocol import FIRST_ID, CatalogId, Changes


@dataclass
class _Rows:
    """All rows of one catalog."""

    catalog: CatalogId
    version: int
    changes_since: int = 0
    next_id: int = FIRST_ID
    groups: dict[GroupName, Group] = field(default_factory=dict)
    changed: dict[GroupName, int] = field(default_factory=dict)
    ended: list[tuple[int, GroupName]] = field(default_factory=list)
    left: list[tuple[int, TableName]] = field(default_factory=list)
    members: dict[int, Member] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    hosts: dict[int, Host] = field(default_factory=dict)
    databases: dict[str, int] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)
    audit: list[AuditEntry] = field(default_factory=list)
    tokens: dict[str, Token] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    job_steps: dict[int, Sequence[JobStep]] = field(default_factory=dict)


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

    def group_by_id(self, db_id: int, group_id: int) -> Group | None:
        return next((g for g in self.groups() if (g.db_id, g.group_id) == (db_id, group_id)), None)

    def groups_in(self, db: str) -> Sequence[Group]:
        return [group for group in self.groups() if group.name.db == db]

    def groups_alike(self, name: GroupName) -> Sequence[Group]:
        wanted = name.name.lower()
        return [g for g in self.groups() if g.name.db in (name.db, "") and g.name.name.lower() == wanted]

    def groups_over(self, now: float) -> Sequence[Group]:
        return [group for group in self.groups() if group.expires_at is not None and group.expires_at <= now]

    def put_group(self, group: Group) -> None:
        self.touched = True
        self.rows.groups[group.name] = group
        self.rows.changed[group.name] = self.rows.version + 1

    def delete_group(self, name: GroupName) -> None:
        if self.rows.groups.pop(name, None) is not None:
            self.touched = True
            self.rows.ended.append((self.rows.version + 1, name))

    def members(self) -> Sequence[Member]:
        return sorted(self.rows.members.values(), key=lambda m: m.joined)

    def members_of(self, group: GroupName) -> Sequence[Member]:
        return [member for member in self.members() if member.group == group]

    def members_in(self, db: str) -> Sequence[Member]:
        return [member for member in self.members() if member.name.db == db]

    def member(self, name: TableName) -> Member | None:
        return next((m for m in self.rows.members.values() if m.name == name), None)

    def put_member(self, member: Member) -> None:
        self.touched = True
        held = self.rows.members.get(member.table_id)
        if held and held.name != member.name:
            self.rows.left.append((self.rows.version + 1, held.name))
        self.rows.members[member.table_id] = replace(member, changed=self.rows.version + 1)

    def delete_member(self, table_id: int) -> None:
        held = self.rows.members.pop(table_id, None)
        if held:
            self.touched = True
            self.rows.left.append((self.rows.version + 1, held.name))

    def changes(self, since: int) -> Changes | None:
        if not self.rows.changes_since <= since <= self.rows.version:
            return None
        living = {member.group for member in self.members()}
        changed = [group for group in self.groups() if self.rows.changed[group.name] > since]
        return Changes(
            groups=[group for group in changed if group.name in living],
            members=[member for member in self.members() if member.changed > since],
            ended=[
                *(name for version, name in self.rows.ended if version > since),
                *(group.name for group in changed if group.name not in living),
            ],
            left=[name for version, name in self.rows.left if version > since],
        )

    def tickets(self) -> Sequence[Ticket]:
        return sorted(self.rows.tickets.values(), key=lambda t: (t.created_at, t.id))

    def ticket(self, ticket_id: str) -> Ticket | None:
        return self.rows.tickets.get(ticket_id)

    def open_tickets(self) -> Sequence[Ticket]:
        return [ticket for ticket in self.tickets() if not ticket.committed]

    def ticket_owners(self) -> Sequence[str]:
        return sorted({ticket.owner for ticket in self.open_tickets()})

    def delete_tickets(self, owner: str) -> None:
        self.rows.tickets = {id_: t for id_, t in self.rows.tickets.items() if t.owner != owner}

    def delete_tickets_before(self, lease_until: float) -> None:
        self.rows.tickets = {id_: t for id_, t in self.rows.tickets.items() if t.lease_until >= lease_until}

    def put_ticket(self, ticket: Ticket) -> None:
        self.rows.tickets[ticket.id] = ticket

    def delete_ticket(self, ticket_id: str) -> None:
        self.rows.tickets.pop(ticket_id, None)

    def hosts(self) -> Sequence[Host]:
        return sorted(self.rows.hosts.values(), key=lambda h: h.backend_id)

    def put_host(self, host: Host) -> None:
        self.touched = True
        self.rows.hosts[host.backend_id] = host

    def beat(self, host: Host) -> None:
        held = self.rows.hosts[host.backend_id]
        self.rows.hosts[host.backend_id] = replace(held, beats=held.beats + 1)

    def next_id(self) -> int:
        self.rows.next_id += 1
        return self.rows.next_id - 1

    def database_id(self, name: str) -> int:
        if not name:
            return 0
        if name not in self.rows.databases:
            self.rows.databases[name] = self.next_id()
        return self.rows.databases[name]

    def config(self) -> Mapping[str, str]:
        return dict(sorted(self.rows.config.items()))

    def put_config(self, key: str, value: str) -> None:
        self.touched = True
        self.rows.config[key] = value

    def audit(self, entry: AuditEntry) -> None:
        self.rows.audit.append(replace(entry, entry=len(self.rows.audit) + 1))

    def audit_entries(self, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        older = self.rows.audit if before is None else [e for e in self.rows.audit if e.entry < before]
        return older[::-1][:limit]

    def tokens(self) -> Sequence[Token]:
        return [self.rows.tokens[name] for name in sorted(self.rows.tokens)]

    def put_token(self, token: Token) -> None:
        self.rows.tokens[token.name] = token

    def jobs(self) -> Sequence[Job]:
        return [self.rows.jobs[job_id] for job_id in sorted(self.rows.jobs)]

    def open_jobs(self) -> Sequence[Job]:
        return [job for job in self.jobs() if not job.state.is_end]

    def job(self, job_id: int) -> Job | None:
        return self.rows.jobs.get(job_id)

    def put_job(self, job: Job) -> None:
        self.rows.jobs[job.job_id] = job

    def delete_job(self, job_id: int) -> None:
        self.rows.jobs.pop(job_id, None)
        self.rows.job_steps.pop(job_id, None)

    def beat_job(self, job_id: int, owner: str) -> None:
        held = self.rows.jobs.get(job_id)
        if held and held.owner == owner:
            self.rows.jobs[job_id] = replace(held, beats=held.beats + 1)

    def job_steps(self, job_id: int) -> Sequence[JobStep]:
        return self.rows.job_steps.get(job_id, ())

    def put_job_steps(self, job_id: int, steps: Sequence[JobStep]) -> None:
        self.rows.job_steps[job_id] = tuple(steps)


class MemoryStore:
    """Catalogs in a dictionary behind one lock."""

    def __init__(self) -> None:
        self._rows: dict[str, _Rows] = {}
        self._lock = threading.RLock()

    def exists(self) -> bool:
        return bool(self._rows)

    def is_shared(self) -> bool:
        return False

    def version(self, catalog: CatalogId) -> int:
        held = self._rows.get(catalog.identity)
        return held.version if held else 0

    @contextmanager
    def read(self, catalog: CatalogId) -> Iterator[MemoryTransaction]:
        with self._lock:
            rows = self._rows.get(catalog.identity, _Rows(catalog, version=0, changes_since=1))
            yield MemoryTransaction(copy.deepcopy(rows))

    @contextmanager
    def write(self, catalog: CatalogId) -> Iterator[MemoryTransaction]:
        with self._lock:
            now = time.time_ns() // 1_000_000
            held = self._rows.get(catalog.identity) or _Rows(catalog, version=now, changes_since=now)
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
