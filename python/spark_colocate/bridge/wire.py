"""The codec between the JVM's JSON and the service's values. It decides nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from spark_colocate.catalogues.settings import Settings
from spark_colocate.checks import adoption
from spark_colocate.checks.key_models import KeyedTable
from spark_colocate.checks.range_partitions import RangePartitions, Spec
from spark_colocate.errors import Code, RequestError
from spark_colocate.jobs import options
from spark_colocate.model import AuditEntry, Column, Group, GroupName, Host, Job, JobKind, Member, TableName
from spark_colocate.service import (
    BucketFiles,
    CatalogTables,
    Change,
    ConfigEntry,
    Declaration,
    GroupListing,
    InspectedTable,
    Inspection,
    MemberListing,
    ReplicationChange,
    Request,
    Reservation,
    Snapshot,
)
from spark_colocate.service.doctor.facts import Leftover, Unreadable
from spark_colocate.service.statements.ranges import RangedTable
from spark_colocate.views import rows

Args = Mapping[str, Any]
"""The object that a verb is called with; under `context` what every call carries."""

Json = Any
"""A value that `json.dumps` takes."""


# --- From the JVM ---


def request(args: Args) -> Request:
    """The caller, as `context` describes it."""
    context = args.get("context") or {}
    return Request(
        settings=Settings.of(context.get("settings") or {}),
        who=context.get("who") or "",
        hosts=tuple(context.get("hosts") or ()),
        local=bool(context.get("local")),
    )


def token(args: Args) -> str | None:
    """The secret that the session has; empty without one. None where no roles are asked for."""
    return (args.get("context") or {}).get("token")


def seen_hosts(text: str) -> Request:
    """The hosts that the driver sees, as the JVM tells them when it is asked (LiveHosts.scala)."""
    given = json.loads(text)
    return Request(who="host watch", hosts=tuple(given["hosts"]), local=bool(given["local"]))


def version(args: Args) -> int | None:
    """The version of the groups that the JVM has; None where it has none."""
    return _version((args.get("context") or {}).get("version"))


def _version(value: Any) -> int | None:
    return None if value is None else int(value)


def table(args: Args, db: str = "db", name: str = "table") -> TableName:
    """The table under these two keys."""
    return TableName(_folded(args, args[db]), _folded(args, args[name]))


def database(args: Args) -> str:
    """The database under the key `db`."""
    return _folded(args, args["db"])


def _folded(args: Args, name: str) -> str:
    """Names as Spark's catalog keeps them: in small letters, unless the session distinguishes case."""
    return name if (args.get("context") or {}).get("caseSensitive") else name.lower()


def layout(args: Args) -> Declaration:
    """A table's layout alone, without the numbers that only its statement needs."""
    return Declaration(
        table=table(args),
        group=(args.get("group") or "").strip(),
        format=args.get("format") or "",
        keys=_columns(args.get("keys")),
        buckets=int(args.get("buckets") or 0),
        columns=_columns(args.get("columns")),
        location=args.get("location"),
        replace=bool(args.get("replace")),
        liquid=bool(args.get("liquid")),
        partition_buckets=tuple((str(name), int(n)) for name, n in (args.get("partition_buckets") or {}).items()),
        ranges=(args["by"], args["partitions"]) if args.get("by") and args.get("partitions") else None,
    )


def declaration(args: Args) -> Declaration:
    """A table as a statement declares it. Raises RequestError for an invalid number."""
    return replace(layout(args), replication=number(args, "replication"), bytes=number(args, "bytes"))


def _columns(entries: Any) -> tuple[Column, ...]:
    return tuple(Column(e["name"], e["type"], bool(e.get("generated")), bool(e.get("identity"))) for e in entries or ())


def ranged_table(args: Args) -> RangedTable:
    """A table with the properties of its range partitions."""
    return RangedTable(
        name=table(args),
        columns=_columns(args.get("columns")),
        buckets=int(args.get("buckets") or 0),
        by=args.get("by") or "",
        partitions=args.get("partitions") or "",
        zone=args.get("zone") or "UTC",
        keys=tuple(args.get("bucket_keys") or ()),
        group=(args.get("group") or "").strip(),
    )


def keyed_table(args: Args) -> KeyedTable:
    """A table with the properties of its key model."""
    return KeyedTable(
        name=table(args),
        columns=_columns(args.get("columns")),
        bucket_keys=tuple(args.get("bucket_keys") or ()),
        partitioned_by=tuple(args.get("partitioned_by") or ()),
        model=(args.get("model") or "").strip().lower(),
        keys=args.get("key_columns") or "",
        aggregates=args.get("aggregates") or "",
    )


def range_specs(args: Args) -> list[Spec]:
    """The partitions that are added: one, or a JSON list of name, lower and upper bound."""
    if not args.get("partitions_added"):
        return [_range_spec(args)]
    try:
        given = json.loads(args["partitions_added"])
        return [_range_spec({**one, "partition": one["name"]}) for one in given]
    except (ValueError, KeyError, TypeError) as error:
        text = "partitions is not a JSON list of partitions."
        raise RequestError(Code.REQUEST_INVALID, text, 'Write [{"name": "p1", "upper": "5"}].') from error


def _range_spec(args: Args) -> Spec:
    """A bound is one value as text, or a JSON list of them."""
    lower = args.get("lower")
    return Spec(
        name=args["partition"],
        upper=_bound(args["upper"]),
        lower=None if lower is None else _bound(lower),
        buckets=number(args, "partition_buckets"),
        bucket_keys=tuple(name.strip().strip("`") for name in (args.get("partition_keys") or "").split(",") if name),
    )


def _bound(text: str) -> tuple[str, ...]:
    values = json.loads(text) if text.lstrip().startswith("[") else [text]
    return tuple(str(value) for value in values)


def job_wanted(args: Args) -> tuple[JobKind, str, dict[str, Any]]:
    """A job's kind, its target, and its options. Raises RequestError for a wrong value of an option."""
    kind = JobKind(args["kind"])
    return kind, args["target"], options(kind, args.get("options") or {})


def adoption_wanted(args: Args) -> tuple[TableName, GroupName, dict[str, Any]]:
    """The table, the group that it is to join, and the options of the job. Raises RequestError or GroupError."""
    found = adoption.table_name(args["target"], args.get("db") or "")
    table = TableName(_folded(args, found.db), _folded(args, found.table))
    given = {**(args.get("options") or {}), "replication": request(args).settings.replication}
    return table, adoption.group_name(args["group"], table), options(JobKind.ADOPT, given)


def number(args: Args, key: str) -> int | None:
    """A number that may be written as text, as in a table's property. Raises RequestError."""
    value = args.get(key)
    if value is None or value == "":
        return None
    try:
        return int(value)
    except ValueError as error:
        raise RequestError(
            Code.REPLICATION_INVALID if key == "replication" else Code.REQUEST_INVALID,
            f"Cannot use '{value}' for {'replication_num' if key == 'replication' else key}: an integer is needed.",
            "Write a number of at least 1.",
        ) from error


def catalog_tables(args: Args) -> CatalogTables:
    """What the JVM has found in the catalog, for reconcile."""
    databases, names = args.get("databases"), args.get("names")
    return CatalogTables(
        members=tuple(declaration(_within(args, entry)) for entry in args["tables"]),
        unread=tuple(table(_within(args, entry)) for entry in args.get("unread") or ()),
        databases=None if databases is None else frozenset(databases),
        version=_version(args.get("version")),
        names=None if names is None else frozenset(table(_within(args, entry)) for entry in names),
    )


def inspection(args: Args) -> Inspection:
    """What the JVM has seen of the catalog's tables, for doctor (InspectedTables.scala)."""
    databases = args.get("databases")
    return Inspection(
        tables=tuple(_inspected(_within(args, entry)) for entry in args["tables"]),
        unread=tuple(table(_within(args, entry)) for entry in args.get("unread") or ()),
        databases=None if databases is None else frozenset(databases),
        version=_version(args.get("version")),
        unreadable=tuple(_unreadable(_within(args, one)) for one in args.get("unread") or () if "why" in one),
        leftovers=leftovers(args),
    )


def leftovers(args: Args) -> tuple[Leftover, ...]:
    """Folders of no table (Leftovers.scala)."""
    return tuple(
        Leftover(table(_within(args, one)), one["path"], one["files"], one["bytes"], one["modified"])
        for one in args.get("leftovers") or ()
    )


def _unreadable(args: Args) -> Unreadable:
    return Unreadable(table(args), args["why"], bool(args.get("isBucketed")), args.get("readable"))


def _inspected(args: Args) -> InspectedTable:
    return InspectedTable(
        declared=declaration(args),
        buckets=tuple(BucketFiles(**one) for one in args["files"]),
        strays=args["strays"],
        stray_bytes=args["strayBytes"],
        unchecked=args["unchecked"],
        has_key_model=args["hasKeyModel"],
        is_plain=args["isPlain"],
    )


def _within(args: Args, entry: Args) -> Args:
    return {**entry, "context": args.get("context")}


# --- To the JVM ---


def reservation_json(reservation: Reservation) -> Json:
    """The answer of a begin verb."""
    group = reservation.group
    return {"ticket": reservation.ticket, "group": str(group) if group else None, "notes": list(reservation.notes)}


def replication_json(change: ReplicationChange) -> Json:
    """The group and the tables whose properties the JVM sets."""
    return {"group": str(change.group), "tables": [_name(table) for table in change.tables]}


def ranges_json(ranges: RangePartitions, buckets: int) -> Json:
    """DeclaredRanges, as the JVM reads it (RangeProperties.scala). buckets: the table's, 0 for none."""
    return {
        "columns": list(ranges.columns),
        "partitions": ranges.to_json(),
        "expression": ranges.case_expression(),
        "buckets": ranges.buckets_expression(buckets),
    }


def change_json(change: Change) -> Json:
    """A line of reconcile's answer."""
    return {**_name(change.table), "action": str(change.action), "group": change.group, "message": change.message}


def snapshot_json(snapshot: Snapshot | None) -> Json:
    """GroupChanges, as the JVM reads it (GroupState.scala)."""
    if snapshot is None:
        return None
    changes = snapshot.changes
    return {
        "version": snapshot.version,
        "since": snapshot.since,
        "hosts": {str(host.backend_id): host.host for host in snapshot.hosts},
        "lost": [str(host.backend_id) for host in snapshot.hosts if host.is_lost],
        "groups": [_group(group) for group in changes.groups],
        "members": [_member(member) for member in changes.members],
        "ended": [str(name) for name in changes.ended],
        "left": [_name(name) for name in changes.left],
    }


def _group(group: Group) -> Json:
    return {
        "id": group.id,
        "name": str(group.name),
        "buckets": group.schema.buckets,
        "keyTypes": list(group.schema.key_types),
        "replication": group.schema.replication,
        "stable": group.layout_stable,
        "placementStable": group.placement_stable,
        "sequence": ";".join(",".join(map(str, entry)) for entry in group.sequence),
    }


def _member(member: Member) -> Json:
    named: dict[str, Any] = {**_name(member.name), "group": str(member.group), "location": member.location}
    if member.damaged:
        named["damaged"] = True
    if member.rewrites:
        named["rewrites"] = member.rewrites
    if member.rewriting:
        named["rewriting"] = True
    return named


def _name(name: TableName) -> dict[str, Any]:
    return {"db": name.db, "table": name.table}


def group_row(listing: GroupListing) -> Json:
    """A row of system.colocation_groups; its bytes are the JVM's to add."""
    row = asdict(rows.group_row(listing))
    ids = row.pop("table_ids")
    return {**row, "members": len(ids)}


def member_row(listing: MemberListing) -> Json:
    """A row of system.colocation_tables; files and bytes are the JVM's to add."""
    member, group = listing.member, listing.group
    return {
        **_name(member.name),
        "group": str(group.name),
        "group_id": group.id,
        "table_id": member.table_id,
        "format": str(member.format),
        "keys": list(member.keys),
        "role": str(listing.role),
        "layout_state": "stable" if group.layout_stable else "unstable",
        "is_stable": group.is_stable,
        "location": member.location,
        "verified_at": None if member.verified_at is None else rows.instant(member.verified_at),
        "verified_mode": member.verified_mode or None,
    }


def host_row(host: Host) -> Json:
    """A row of system.colocation_hosts."""
    return asdict(rows.host_row(host))


def job_row(job: Job, now: float) -> Json:
    """A row of system.colocation_jobs."""
    return asdict(rows.job_row(job, now))


def config_row(entry: ConfigEntry) -> Json:
    """A row of ADMIN SHOW FRONTEND CONFIG, with Doris' columns."""
    return {
        "Key": entry.key,
        "Value": entry.value,
        "Type": "boolean",
        "IsMutable": True,
        "MasterOnly": True,
        "Comment": entry.comment,
    }


def audit_row(entry: AuditEntry) -> Json:
    """A row of system.colocation_audit."""
    return asdict(rows.audit_row(entry))
