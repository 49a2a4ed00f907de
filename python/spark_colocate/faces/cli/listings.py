"""Commands that only show."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from spark_colocate.faces.cli import output
from spark_colocate.faces.cli.options import Catalog, GroupName, Limit, Output, Shown, StoreUrl, opened
from spark_colocate.service import Service
from spark_colocate.views import rows

_GROUPS = {
    "group_id": "GROUP ID",
    "group_name": "GROUP",
    "buckets": "BUCKETS",
    "replication": "REPLICATION",
    "key_types": "KEY TYPES",
    "is_stable": "STABLE",
    "table_ids": "TABLE IDS",
}
_TABLES = {
    "db": "DB",
    "table": "TABLE",
    "group_name": "GROUP",
    "role": "ROLE",
    "format": "FORMAT",
    "keys": "KEYS",
    "table_id": "TABLE ID",
    "verified_at": "VERIFIED",
}
_AUDIT = {"at": "AT", "who": "WHO", "verb": "VERB", "object": "OBJECT", "detail": "DETAIL"}


def groups(store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """List the groups."""
    output.show([rows.group_row(one) for one in opened(store, catalog).groups()], _GROUPS, shown)


def show(group: GroupName, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """Show one group and its tables."""
    service = opened(store, catalog)
    found = rows.group_row(service.group(group))
    members = _tables_of(service, found.group_id)
    if shown is Output.JSON:
        output.show_json({**asdict(found), "tables": [asdict(one) for one in members]})
        return
    facts = {**asdict(found), "table_ids": len(members)}
    heads = {name: name.replace("_", " ") for name in facts if name != "table_ids"}
    for name, head in heads.items():
        output.show_fact(head, facts[name])
    print()
    output.show(members, {name: head for name, head in _TABLES.items() if name != "group_name"}, shown)


def tables(
    group: Annotated[str | None, typer.Option(help="Only the tables of this group, by its name or GroupId.")] = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """List the tables that are in groups."""
    service = opened(store, catalog)
    wanted = service.group(group).group.id if group else None
    output.show(_tables_of(service, wanted), _TABLES, shown)


def buckets(group: GroupName, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """List the buckets of a group with their hosts."""
    service = opened(store, catalog)
    placed = [rows.bucket_row(one) for one in service.placement(service.group(group).group.id)]
    if shown is Output.JSON:
        output.show(placed, {}, shown)
        return
    lines = [
        {"bucket": one.bucket, "hosts": [host.host for host in one.hosts], "ids": [h.backend_id for h in one.hosts]}
        for one in placed
    ]
    output.show_table(lines, {"bucket": "BUCKET", "hosts": "HOSTS", "ids": "BACKEND IDS"})


def hosts(store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """List the hosts of buckets."""
    listed = [rows.host_row(one) for one in opened(store, catalog).hosts()]
    output.show(listed, {"backend_id": "BACKEND ID", "host": "HOST", "capacity": "CAPACITY", "state": "STATE"}, shown)


def audit(limit: Limit = 50, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """Show who changed what, newest first."""
    output.show([rows.audit_row(one) for one in opened(store, catalog).audit(limit)], _AUDIT, shown)


def _tables_of(service: Service, group_id: str | None) -> list[rows.TableRow]:
    found = [rows.table_row(one) for one in service.members()]
    return [one for one in found if group_id in (None, one.group_id)]
