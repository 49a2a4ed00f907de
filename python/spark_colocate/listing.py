"""What people and planners see of a catalog's groups: SHOW PROC, system tables, and the JVM's snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from spark_colocate.errors import Code, RequestError
from spark_colocate.membership import is_over, unknown_group
from spark_colocate.model import Group, Member, Role
from spark_colocate.service import Service
from spark_colocate.store.seam import Transaction

T = TypeVar("T")

PROC_ROOT = "/colocation_group"
_AUDIT_LINES = 1000

GROUP_COLUMNS = [
    ("GroupId", "string"),
    ("GroupName", "string"),
    ("TableIds", "string"),
    ("BucketsNum", "int"),
    ("ReplicationNum", "int"),
    ("DistCols", "string"),
    ("IsStable", "boolean"),
]
SEQUENCE_COLUMNS = [("BucketIndex", "int"), ("BackendIds", "string")]


def show_proc(service: Service, path: str) -> dict[str, Any]:
    """`/colocation_group` lists the groups, `/colocation_group/<GroupId>` the hosts of each bucket."""
    parts = [part for part in path.strip().split("/") if part]
    if not path.strip().startswith("/") or not parts or parts[0] != PROC_ROOT[1:] or len(parts) > 2:
        raise RequestError(
            Code.PROC_PATH_UNKNOWN,
            f"There is no proc path '{path}' (paths: {PROC_ROOT}, {PROC_ROOT}/<GroupId>).",
            f"Write SHOW PROC '{PROC_ROOT}'.",
        )
    if len(parts) == 1:
        return {"columns": GROUP_COLUMNS, "rows": _reading(service, _group_lines)}
    return {"columns": SEQUENCE_COLUMNS, "rows": _reading(service, lambda s, tx: _sequence_lines(s, tx, parts[1]))}


def _group_lines(service: Service, tx: Transaction) -> list[list[Any]]:
    return [_group_line(group, tx.members()) for group in _groups(service, tx)]


def _group_line(group: Group, members: Sequence[Member]) -> list[Any]:
    schema = group.schema
    tables = ", ".join(str(m.table_id) for m in members if m.group == group.name)
    types = ", ".join(schema.key_types)
    return [group.id, group.proc_name, tables, schema.buckets, schema.replication, types, group.is_stable]


def _sequence_lines(service: Service, tx: Transaction, group_id: str) -> list[list[Any]]:
    known = _groups(service, tx)
    found = next((g for g in known if g.id == group_id), None)
    if found is None:
        raise unknown_group(group_id, known)
    return [[bucket, ", ".join(map(str, hosts))] for bucket, hosts in enumerate(found.sequence)]


def rows(service: Service, table: str) -> list[dict[str, Any]]:
    """The lines of a system table, as dictionaries in the order of its columns."""
    tables: dict[str, Callable[[Service, Transaction], list[dict[str, Any]]]] = {
        "colocation_groups": _group_rows,
        "colocation_hosts": lambda _s, tx: [{"backend_id": h.backend_id, "host": h.host} for h in tx.hosts()],
        "colocation_audit": lambda _s, tx: _audit_rows(tx),
        "colocation_jobs": lambda _s, _tx: [],
    }
    if table not in tables:
        raise RequestError(
            Code.REQUEST_INVALID, f"There is no system table {table} ({', '.join(tables)}).", "Name one of these."
        )
    return _reading(service, tables[table])


def _group_rows(service: Service, tx: Transaction) -> list[dict[str, Any]]:
    members = tx.members()
    return [
        {
            "group_id": group.id,
            "group_name": str(group.name),
            "db": group.name.db or None,
            "buckets": group.schema.buckets,
            "replication": group.schema.replication,
            "key_types": list(group.schema.key_types),
            "layout_stable": group.layout_stable,
            "placement_stable": group.placement_stable,
            "is_stable": group.is_stable,
            "members": sum(m.group == group.name for m in members),
            "recycled_until": None if group.expires_at is None else _instant(group.expires_at),
        }
        for group in _groups(service, tx)
    ]


def _audit_rows(tx: Transaction) -> list[dict[str, Any]]:
    return [
        {"at": _instant(e.at), "who": e.who, "verb": e.verb, "object": e.object, "detail": e.detail}
        for e in tx.audit_entries(_AUDIT_LINES)
    ]


def table_rows(service: Service) -> list[dict[str, Any]]:
    """The members with what the registry knows of them; files and bytes are the JVM's to add."""
    return _reading(service, _table_rows)


def _table_rows(_service: Service, tx: Transaction) -> list[dict[str, Any]]:
    groups = {group.name: group for group in tx.groups()}
    parents = {member.group: member.table_id for member in reversed(tx.members())}
    return [
        {
            "group": str(member.group),
            "group_id": groups[member.group].id,
            "db": member.name.db,
            "table": member.name.table,
            "table_id": member.table_id,
            "format": str(member.format),
            "keys": list(member.keys),
            "role": str(Role.PARENT if parents[member.group] == member.table_id else Role.CHILD),
            "layout_state": "stable" if groups[member.group].layout_stable else "unstable",
            "location": member.location,
        }
        for member in tx.members()
    ]


def snapshot(service: Service) -> dict[str, Any] | None:
    """The picture that the JVM plans with; None while nothing was ever written."""
    if not service.store.exists():
        return None
    with service.store.read(service.catalog) as tx:
        members = tx.members()
        living = {member.group for member in members}
        return {
            "version": tx.version(),
            "groups": [_group_picture(group) for group in tx.groups() if group.name in living],
            "members": [
                {"db": m.name.db, "table": m.name.table, "group": str(m.group), "location": m.location} for m in members
            ],
        }


def _group_picture(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "name": str(group.name),
        "buckets": group.schema.buckets,
        "keyTypes": list(group.schema.key_types),
        "replication": group.schema.replication,
        "stable": group.layout_stable,
        "placementStable": group.placement_stable,
    }


def _groups(service: Service, tx: Transaction) -> list[Group]:
    return [group for group in tx.groups() if not is_over(group, service.clock())]


def _reading(service: Service, work: Callable[[Service, Transaction], list[T]]) -> list[T]:
    if not service.store.exists():
        return []
    with service.store.read(service.catalog) as tx:
        return work(service, tx)


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
