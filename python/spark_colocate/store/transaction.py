"""One SQL transaction over the rows of one catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, exists, func, insert, select, update

from spark_colocate.model import (
    AuditEntry,
    Group,
    GroupName,
    Host,
    Job,
    JobState,
    JobStep,
    Member,
    TableName,
    Ticket,
    Token,
)
from spark_colocate.store import codec, schema
from spark_colocate.store.protocol import FIRST_ID, Changes

KEPT_REMOVALS = 10_000
"""How many removed names are kept; a driver that has not looked for longer is sent everything."""

_GROUP, _MEMBER = "group", "member"


class SqlTransaction:
    """Reads and writes rows of the catalog with `catalog_id`; None reads as a catalog without rows."""

    def __init__(self, connection: Connection, catalog_id: int | None) -> None:
        self._connection = connection
        self._catalog_id = catalog_id
        self.touched = False
        self._removes = False

    def version(self) -> int:
        row = self._one(schema.catalogs)
        return int(row.version) if row else 0

    def groups(self) -> Sequence[Group]:
        return [codec.group(row) for row in self._rows(schema.groups, schema.groups.c.group_id)]

    def group(self, name: GroupName) -> Group | None:
        row = self._one(schema.groups, schema.groups.c.db == name.db, schema.groups.c.name == name.name)
        return codec.group(row) if row else None

    def group_by_id(self, db_id: int, group_id: int) -> Group | None:
        row = self._one(schema.groups, schema.groups.c.db_id == db_id, schema.groups.c.group_id == group_id)
        return codec.group(row) if row else None

    def groups_in(self, db: str) -> Sequence[Group]:
        return self._groups(schema.groups.c.db == db)

    def groups_alike(self, name: GroupName) -> Sequence[Group]:
        table = schema.groups.c
        return self._groups(table.db.in_((name.db, "")), func.lower(table.name) == name.name.lower())

    def groups_over(self, now: float) -> Sequence[Group]:
        return self._groups(schema.groups.c.expires_at <= now)

    def _groups(self, *conditions: ColumnElement[bool]) -> Sequence[Group]:
        return [codec.group(row) for row in self._rows(schema.groups, schema.groups.c.group_id, *conditions)]

    def put_group(self, group: Group) -> None:
        self.touched = True
        key = and_(schema.groups.c.db == group.name.db, schema.groups.c.name == group.name.name)
        self._put(schema.groups, codec.group_row(group, self.version() + 1), key)

    def delete_group(self, name: GroupName) -> None:
        self.touched = True
        self._delete(schema.groups, and_(schema.groups.c.db == name.db, schema.groups.c.name == name.name))
        self._removed(_GROUP, name.db, name.name)

    def members(self) -> Sequence[Member]:
        return self._members()

    def members_of(self, group: GroupName) -> Sequence[Member]:
        return self._members(schema.members.c.group_db == group.db, schema.members.c.group_name == group.name)

    def members_in(self, db: str) -> Sequence[Member]:
        return self._members(schema.members.c.db == db)

    def _members(self, *conditions: ColumnElement[bool]) -> Sequence[Member]:
        return [codec.member(row) for row in self._rows(schema.members, schema.members.c.joined, *conditions)]

    def member(self, name: TableName) -> Member | None:
        row = self._one(schema.members, schema.members.c.db == name.db, schema.members.c.name == name.table)
        return codec.member(row) if row else None

    def put_member(self, member: Member) -> None:
        self.touched = True
        key = schema.members.c.table_id == member.table_id
        held = self._one(schema.members, key)
        if held and (held.db, held.name) != (member.name.db, member.name.table):
            self._removed(_MEMBER, held.db, held.name)
        self._put(schema.members, codec.member_row(member, self.version() + 1), key)

    def delete_member(self, table_id: int) -> None:
        self.touched = True
        held = self._one(schema.members, schema.members.c.table_id == table_id)
        if held:
            self._removed(_MEMBER, held.db, held.name)
            self._delete(schema.members, schema.members.c.table_id == table_id)

    def changes(self, since: int) -> Changes | None:
        row = self._one(schema.catalogs)
        if row is None or not row.changes_since <= since <= row.version:
            return None
        removals = self._rows(schema.removals, schema.removals.c.entry, schema.removals.c.version > since)
        changed = self._changed_groups(since)
        return Changes(
            groups=[group for group, has_members in changed if has_members],
            members=self._members(schema.members.c.changed > since),
            ended=[
                *(GroupName(r.db, r.name) for r in removals if r.kind == _GROUP),
                *(group.name for group, has_members in changed if not has_members),
            ],
            left=[TableName(r.db, r.name) for r in removals if r.kind == _MEMBER],
        )

    def _changed_groups(self, since: int) -> Sequence[tuple[Group, bool]]:
        """The groups that were changed after a version, and whether each has members now."""
        groups, members = schema.groups, schema.members
        same_group = and_(members.c.group_db == groups.c.db, members.c.group_name == groups.c.name)
        query = (
            select(groups, exists().where(self._own(members), same_group).label("has_members"))
            .where(self._own(groups), groups.c.changed > since)
            .order_by(groups.c.group_id)
        )
        return [(codec.group(row), row.has_members) for row in self._connection.execute(query)]

    def _removed(self, kind: str, db: str, name: str) -> None:
        self._removes = True
        version = self.version() + 1
        self._insert(schema.removals, {"kind": kind, "db": db, "name": name, "version": version})

    def ticket(self, ticket_id: str) -> Ticket | None:
        row = self._one(schema.tickets, schema.tickets.c.ticket == ticket_id)
        return codec.ticket(row) if row else None

    def open_tickets(self) -> Sequence[Ticket]:
        table = schema.tickets
        return [codec.ticket(row) for row in self._rows(table, table.c.created_at, table.c.committed.is_(False))]

    def tickets_of_others(self, owner: str, since: float) -> Sequence[Ticket]:
        table = schema.tickets
        wanted = (table.c.lease_until >= since) & (table.c.owner != owner)
        return [codec.ticket(row) for row in self._rows(table, table.c.lease_until, wanted)]

    def ticket_owners(self) -> Sequence[str]:
        table = schema.tickets
        query = select(table.c.owner).where(self._own(table), table.c.committed.is_(False)).distinct()
        return list(self._connection.execute(query).scalars())

    def delete_tickets(self, owner: str) -> None:
        self._delete(schema.tickets, schema.tickets.c.owner == owner)

    def delete_tickets_before(self, lease_until: float) -> None:
        self._delete(schema.tickets, schema.tickets.c.lease_until < lease_until)

    def put_ticket(self, ticket: Ticket) -> None:
        self._put(schema.tickets, codec.ticket_row(ticket), schema.tickets.c.ticket == ticket.id)

    def delete_ticket(self, ticket_id: str) -> None:
        self._delete(schema.tickets, schema.tickets.c.ticket == ticket_id)

    def hosts(self) -> Sequence[Host]:
        return [codec.host(row) for row in self._rows(schema.hosts, schema.hosts.c.backend_id)]

    def put_host(self, host: Host) -> None:
        self.touched = True
        self._put(schema.hosts, codec.host_row(host), schema.hosts.c.host == host.host)

    def beat(self, host: Host) -> None:
        beats = schema.hosts.c.beats
        self._update(schema.hosts, {"beats": beats + 1}, schema.hosts.c.backend_id == host.backend_id)

    def next_id(self) -> int:
        row = self._one(schema.catalogs)
        given = int(row.next_id) if row else FIRST_ID
        self._update(schema.catalogs, {"next_id": given + 1})
        return given

    def database_id(self, name: str) -> int:
        if not name:
            return 0
        row = self._one(schema.databases, schema.databases.c.name == name)
        if row:
            return int(row.db_id)
        given = self.next_id()
        self._insert(schema.databases, {"db_id": given, "name": name})
        return given

    def config(self) -> Mapping[str, str]:
        return {row.key: row.value for row in self._rows(schema.config, schema.config.c.key)}

    def put_config(self, key: str, value: str) -> None:
        self.touched = True
        self._put(schema.config, {"key": key, "value": value}, schema.config.c.key == key)

    def audit(self, entry: AuditEntry) -> None:
        row = {"at": entry.at, "who": entry.who, "verb": entry.verb, "object": entry.object, "detail": entry.detail}
        self._insert(schema.audit, row)

    def audit_entries(self, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        table = schema.audit
        query = select(table).where(self._own(table)).order_by(table.c.entry.desc()).limit(limit)
        if before is not None:
            query = query.where(table.c.entry < before)
        return [AuditEntry(r.at, r.who, r.verb, r.object, r.detail, r.entry) for r in self._connection.execute(query)]

    def tokens(self) -> Sequence[Token]:
        return [codec.token(row) for row in self._rows(schema.tokens, schema.tokens.c.name)]

    def put_token(self, token: Token) -> None:
        self._put(schema.tokens, codec.token_row(token), schema.tokens.c.name == token.name)

    def jobs(self) -> Sequence[Job]:
        return [codec.job(row) for row in self._rows(schema.jobs, schema.jobs.c.job_id)]

    def open_jobs(self) -> Sequence[Job]:
        open_states = [str(state) for state in JobState if not state.is_end]
        rows = self._rows(schema.jobs, schema.jobs.c.job_id, schema.jobs.c.state.in_(open_states))
        return [codec.job(row) for row in rows]

    def job(self, job_id: int) -> Job | None:
        row = self._one(schema.jobs, schema.jobs.c.job_id == job_id)
        return codec.job(row) if row else None

    def put_job(self, job: Job) -> None:
        self._put(schema.jobs, codec.job_row(job), schema.jobs.c.job_id == job.job_id)

    def delete_job(self, job_id: int) -> None:
        self._delete(schema.jobs, schema.jobs.c.job_id == job_id)
        self._delete(schema.job_steps, schema.job_steps.c.job_id == job_id)

    def beat_job(self, job_id: int, owner: str) -> None:
        jobs = schema.jobs.c
        self._update(schema.jobs, {"beats": jobs.beats + 1}, jobs.job_id == job_id, jobs.owner == owner)

    def job_steps(self, job_id: int) -> Sequence[JobStep]:
        row = self._one(schema.job_steps, schema.job_steps.c.job_id == job_id)
        return codec.job_steps(row.steps) if row else ()

    def put_job_steps(self, job_id: int, steps: Sequence[JobStep]) -> None:
        row = {"job_id": job_id, "steps": codec.job_steps_text(steps)}
        self._put(schema.job_steps, row, schema.job_steps.c.job_id == job_id)

    def end(self) -> None:
        """Bumps the version when anything that other drivers must see was changed."""
        if self._removes:
            self._forget_old_removals()
        if self.touched:
            self._update(schema.catalogs, {"version": self.version() + 1})

    def _forget_old_removals(self) -> None:
        table = schema.removals
        newest = select(table.c.version).where(self._own(table)).order_by(table.c.version.desc())
        last = self._connection.execute(newest.offset(KEPT_REMOVALS).limit(1)).scalar()
        if last is not None:
            self._delete(table, table.c.version <= last)
            self._update(schema.catalogs, {"changes_since": last})

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c.catalog_id == self._catalog_id

    def _one(self, table: Table, *conditions: ColumnElement[bool]) -> Row[Any] | None:
        return self._connection.execute(select(table).where(self._own(table), *conditions)).first()

    def _rows(self, table: Table, order: ColumnElement[Any], *conditions: ColumnElement[bool]) -> Sequence[Row[Any]]:
        return self._connection.execute(select(table).where(self._own(table), *conditions).order_by(order)).all()

    def _put(self, table: Table, row: Mapping[str, Any], key: ColumnElement[bool]) -> None:
        if not self._update(table, row, key):
            self._insert(table, row)

    def _insert(self, table: Table, row: Mapping[str, Any]) -> None:
        self._connection.execute(insert(table).values(catalog_id=self._catalog_id, **row))

    def _update(self, table: Table, row: Mapping[str, Any], *conditions: ColumnElement[bool]) -> int:
        return self._connection.execute(update(table).where(self._own(table), *conditions).values(**row)).rowcount

    def _delete(self, table: Table, *conditions: ColumnElement[bool]) -> None:
        self._connection.execute(delete(table).where(self._own(table), *conditions))
