"""Doris' `SHOW PROC '/colocation_group'`: its paths, its columns, its values."""

from __future__ import annotations

from dataclasses import dataclass

from spark_colocate.errors import Code, RequestError
from spark_colocate.service import BucketPlacement, GroupListing, Service

ROOT = "/colocation_group"

Cell = str | int | bool


@dataclass(frozen=True, slots=True)
class ProcTable:
    """What a path shows. columns: names with Spark's types, in the order of each row's cells."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Cell, ...], ...]


_GROUPS = (
    ("GroupId", "string"),
    ("GroupName", "string"),
    ("TableIds", "string"),
    ("BucketsNum", "int"),
    ("ReplicationNum", "int"),
    ("DistCols", "string"),
    ("IsStable", "boolean"),
)
_BUCKETS = (("BucketIndex", "int"), ("BackendIds", "string"))


def show_proc(service: Service, path: str) -> ProcTable:
    """`/colocation_group` lists the groups, `/colocation_group/<GroupId>` the backends of each bucket.

    Raises RequestError for another path, GroupError for an unknown GroupId.
    """
    parts = [part for part in path.strip().split("/") if part]
    if not path.strip().startswith("/") or not parts or parts[0] != ROOT[1:] or len(parts) > 2:
        raise RequestError(
            Code.PROC_PATH_UNKNOWN,
            f"There is no proc path '{path}' (paths: {ROOT}, {ROOT}/<GroupId>).",
            f"Write SHOW PROC '{ROOT}'.",
        )
    if len(parts) == 1:
        return ProcTable(_GROUPS, tuple(_group(listing) for listing in service.groups()))
    return ProcTable(_BUCKETS, tuple(_bucket(placed) for placed in service.placement(parts[1])))


def _group(listing: GroupListing) -> tuple[Cell, ...]:
    group, schema = listing.group, listing.group.schema
    tables, types = ", ".join(map(str, listing.table_ids)), ", ".join(schema.key_types)
    return (group.id, group.proc_name, tables, schema.buckets, schema.replication, types, group.is_stable)


def _bucket(placed: BucketPlacement) -> tuple[Cell, ...]:
    return (placed.bucket, ", ".join(str(host.backend_id) for host in placed.hosts))
