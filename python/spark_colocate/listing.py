"""What people and planners see of a catalog's groups: SHOW PROC, system tables, and the JVM's snapshot."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from spark_colocate.errors import Code, RequestError
from spark_colocate.membership import is_over, unknown_group
from spark_colocate.model import Group, GroupName, Member, Role
from spark_colocate.service import Service
from spark_colocate.store.protocol import Changes, Transaction

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
    members: dict[GroupName, list[Member]] = defaultdict(list)
    for member in tx.members():
        members[member.group].append(member)
    return [_group_line(group, members[group.name]) for group in _groups(service, tx)]


def _group_line(group: Group, members: Sequence[Member]) -> list[Any]:
    schema = group.schema
    tables = ", ".join(str(member.table_id) for member in members)
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
    members = Counter(member.group for member in tx.members())
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
            "members": members[group.name],
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


def snapshot(service: Service, since: int | None = None) -> dict[str, Any] | None:
    """What the JVM plans with; None while nothing was ever written.

    since: the version that the JVM has. The answer's `since` is the same number where it holds only what changed after
    that version, and None where it holds everything.
    """
    if not service.store.exists():
        return None
    with service.store.read(service.catalog) as tx:
        changes = None if since is None else tx.changes(since)
        picture = _picture(_everything(tx) if changes is None else changes)
        return {"version": tx.version(), "since": None if changes is None else since, **picture}


def _everything(tx: Transaction) -> Changes:
    members = tx.members()
    living = {member.group for member in members}
    return Changes([group for group in tx.groups() if group.name in living], members)


def _picture(changes: Changes) -> dict[str, Any]:
    return {
        "groups": [_group_picture(group) for group in changes.groups],
        "members": [_member_picture(member) for member in changes.members],
        "ended": [str(name) for name in changes.ended],
        "left": [{"db": name.db, "table": name.table} for name in changes.left],
    }


def _member_picture(member: Member) -> dict[str, Any]:
    name = member.name
    return {"db": name.db, "table": name.table, "group": str(member.group), "location": member.location}


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
