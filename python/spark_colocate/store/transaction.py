"""One SQL transaction over the rows of one catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, insert, select, update

from spark_colocate.model import AuditEntry, Group, GroupName, Host, Member, TableName, Ticket
from spark_colocate.store import codec, schema
from spark_colocate.store.seam import FIRST_ID


class SqlTransaction:
    """Reads and writes rows of the catalog with `catalog_id`; None reads as a catalog without rows."""

    def __init__(self, connection: Connection, catalog_id: int | None) -> None:
        self._connection = connection
        self._catalog_id = catalog_id
        self.touched = False

    def version(self) -> int:
        row = self._one(schema.catalogs)
        return int(row.version) if row else 0

    def groups(self) -> Sequence[Group]:
        return [codec.group(row) for row in self._rows(schema.groups, schema.groups.c.group_id)]

    def group(self, name: GroupName) -> Group | None:
        row = self._one(schema.groups, schema.groups.c.db == name.db, schema.groups.c.name == name.name)
        return codec.group(row) if row else None

    def put_group(self, group: Group) -> None:
        self.touched = True
        key = and_(schema.groups.c.db == group.name.db, schema.groups.c.name == group.name.name)
        self._put(schema.groups, codec.group_row(group), key)

    def delete_group(self, name: GroupName) -> None:
        self.touched = True
        self._delete(schema.groups, and_(schema.groups.c.db == name.db, schema.groups.c.name == name.name))

    def members(self) -> Sequence[Member]:
        return [codec.member(row) for row in self._rows(schema.members, schema.members.c.joined)]

    def member(self, name: TableName) -> Member | None:
        row = self._one(schema.members, schema.members.c.db == name.db, schema.members.c.name == name.table)
        return codec.member(row) if row else None

    def put_member(self, member: Member) -> None:
        self.touched = True
        row = codec.member_row(member, self.version() + 1)
        self._put(schema.members, row, schema.members.c.table_id == member.table_id)

    def delete_member(self, table_id: int) -> None:
        self.touched = True
        self._delete(schema.members, schema.members.c.table_id == table_id)

    def tickets(self) -> Sequence[Ticket]:
        return [codec.ticket(row) for row in self._rows(schema.tickets, schema.tickets.c.created_at)]

    def put_ticket(self, ticket: Ticket) -> None:
        self._put(schema.tickets, codec.ticket_row(ticket), schema.tickets.c.ticket == ticket.id)

    def delete_ticket(self, ticket_id: str) -> None:
        self._delete(schema.tickets, schema.tickets.c.ticket == ticket_id)

    def hosts(self) -> Sequence[Host]:
        return [Host(row.backend_id, row.host) for row in self._rows(schema.hosts, schema.hosts.c.backend_id)]

    def put_host(self, host: Host) -> None:
        self.touched = True
        row = {"backend_id": host.backend_id, "host": host.host}
        self._put(schema.hosts, row, schema.hosts.c.host == host.host)

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

    def audit(self, entry: AuditEntry) -> None:
        row = {"at": entry.at, "who": entry.who, "verb": entry.verb, "object": entry.object, "detail": entry.detail}
        self._insert(schema.audit, row)

    def audit_entries(self, limit: int) -> Sequence[AuditEntry]:
        table = schema.audit
        query = select(table).where(self._own(table)).order_by(table.c.entry.desc()).limit(limit)
        return [AuditEntry(r.at, r.who, r.verb, r.object, r.detail) for r in self._connection.execute(query)]

    def end(self) -> None:
        """Bumps the version when anything that other drivers must see was changed."""
        if self.touched:
            self._update(schema.catalogs, {"version": self.version() + 1})

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c.catalog_id == self._catalog_id

    def _one(self, table: Table, *conditions: ColumnElement[bool]) -> Row[Any] | None:
        return self._connection.execute(select(table).where(self._own(table), *conditions)).first()

    def _rows(self, table: Table, order: ColumnElement[Any]) -> Sequence[Row[Any]]:
        return self._connection.execute(select(table).where(self._own(table)).order_by(order)).all()

    def _put(self, table: Table, row: Mapping[str, Any], key: ColumnElement[bool]) -> None:
        if not self._update(table, row, key):
            self._insert(table, row)

    def _insert(self, table: Table, row: Mapping[str, Any]) -> None:
        self._connection.execute(insert(table).values(catalog_id=self._catalog_id, **row))

    def _update(self, table: Table, row: Mapping[str, Any], *conditions: ColumnElement[bool]) -> int:
        return self._connection.execute(update(table).where(self._own(table), *conditions).values(**row)).rowcount

    def _delete(self, table: Table, *conditions: ColumnElement[bool]) -> None:
        self._connection.execute(delete(table).where(self._own(table), *conditions))
