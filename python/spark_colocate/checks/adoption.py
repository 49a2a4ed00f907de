"""Can a table that is there be adopted into a group? Pure checks of what the driver has found of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from spark_colocate.checks import advice, table_checks
from spark_colocate.checks.table_checks import normalise
from spark_colocate.errors import Code, ColocateError, GroupError, GroupMismatchError, LayoutError, RequestError
from spark_colocate.model import GLOBAL_PREFIX, Column, Format, Group, GroupName, TableName

MOST_BUCKETS_SMALL = 32
GIB_PER_BUCKET = 4
"""For a table that is too large for Doris' table of sizes: between the 1 and 10 GiB that a bucket should have."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table as a driver has found it in the catalog. Only Delta tables have more than the first three.

    sort: `table`, `view`, or `absent`.
    widened: columns whose type was widened since files were written.
    partitioned_by: its partition columns. partitions: how many of them have files.
    ranges: does it have range partitions?
    features: names of the table features of Delta that its writers must know.
    keys, buckets: its bucket layout, if it has one. group: the text of its property; may be empty.
    properties: those of Delta. row_groups: the properties that any new table with buckets gets.
    shape: a digest of what must not change while the table is adopted.
    hosts, local: those that the driver can use, as in a request.
    """

    name: TableName
    sort: str
    format: str = ""
    columns: tuple[Column, ...] = ()
    widened: frozenset[str] = frozenset()
    partitioned_by: tuple[str, ...] = ()
    partitions: int = 1
    ranges: bool = False
    features: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    buckets: int = 0
    group: str = ""
    replication: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    row_groups: Mapping[str, str] = field(default_factory=dict)
    location: str = ""
    shape: str = ""
    files: int = 0
    bytes: int = 0
    hosts: tuple[str, ...] = ()
    local: bool = False


def table_name(text: str, db: str) -> TableName:
    """The table that `db.t` or `t` names, with or without quotes. Raises RequestError for another catalog's."""
    parts = [part.strip().strip("`") for part in _split(text)]
    if parts[:1] == ["spark_catalog"] and len(parts) > 1:
        parts = parts[1:]
    if len(parts) > 2 or not all(parts):
        raise RequestError(
            Code.ADOPT_REFUSED,
            f"Cannot adopt {text}: it is not a table of Spark's session catalog, and the groups are of that catalog.",
            "Name a table as db.t; CREATE TABLE db.t ... AS SELECT * FROM the other catalog's table makes one.",
        )
    return TableName(parts[0] if len(parts) == 2 else db, parts[-1])


def _split(text: str) -> list[str]:
    """At each dot that is not inside back quotes."""
    parts, quoted = [""], False
    for letter in text:
        quoted ^= letter == "`"
        if letter == "." and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def group_name(text: str, table: TableName) -> GroupName:
    """The group that `g`, `db.g` or `__global__g` names for a table. Raises GroupError for one of another database."""
    db, dot, bare = text.strip().rpartition(".")
    if dot and db.strip("`").lower() != table.db.lower():
        raise GroupError(
            Code.GROUP_NAME_INVALID,
            f"Cannot adopt {table} into group {text}: the table is in database {table.db}, and a group belongs to the "
            "database of its tables.",
            f"Name a group without a database, or one that every database can use: {GLOBAL_PREFIX}{bare}.",
        )
    found = table_checks.group_name(bare, table.db)
    if isinstance(found, ColocateError):
        raise found
    return found


def refused(table: FoundTable, group: GroupName, keys: Sequence[str]) -> ColocateError | None:
    """Why a table can't be adopted as it is, whatever the group is like; None if it can."""
    checks = (_sort, _format, _layout, _features, _keys)
    return next((error for check in checks if (error := check(table, group, keys))), None)


def _sort(table: FoundTable, _group: GroupName, _keys: Sequence[str]) -> ColocateError | None:
    if table.sort == "absent":
        headline = f"Cannot adopt {table.name}: the catalog has no such table."
        return RequestError(Code.JOB_TARGET, headline, "SHOW TABLES lists those that there are; name one as db.t.")
    if table.sort == "view":
        return _no(table, "it is a view, and only a table has files", "Name the Delta table that the view reads.")
    return None


def _format(table: FoundTable, group: GroupName, keys: Sequence[str]) -> ColocateError | None:
    if table.format.lower() == Format.DELTA:
        return None
    if table.format.lower() not in list(Format):
        return table_checks.table_format(table.name, table.format)
    why = f"it is a {table.format.upper()} table, and only Delta can change all files of a table in one commit"
    return _no(table, why, _copy(table, group, keys, table.format.lower()))


def _layout(table: FoundTable, group: GroupName, keys: Sequence[str]) -> ColocateError | None:
    if table.keys:
        what = f"it has {table.buckets} buckets by ({', '.join(table.keys)}) already"
        cure = f"ALTER TABLE {table.name.sql} SET TBLPROPERTIES ('colocate_with' = '{group.name}') lets it join."
        return _no(table, what, cure)
    if table.ranges:
        return _no(table, "it has range partitions", _copy(table, group, keys))
    return table_checks.reserved_column(table.name, table.columns)


_ICEBERG = ("delta.enableIcebergCompatV1", "delta.enableIcebergCompatV2", "delta.enableIcebergCompatV3")


def _features(table: FoundTable, group: GroupName, keys: Sequence[str]) -> ColocateError | None:
    if "clustering" in table.features:
        why = (
            "it has liquid clustering, with which Delta's protocol allows no partition columns, such as that of buckets"
        )
        return _no(table, why, _copy(table, group, keys))
    iceberg = [key for key in _ICEBERG if table.properties.get(key) == "true"]
    if iceberg or table.properties.get("delta.universalFormat.enabledFormats"):
        key = (iceberg or ["delta.universalFormat.enabledFormats"])[0]
        why = f"{key} is set, and Iceberg's readers could not follow another partitioning"
        return _no(table, why, f"ALTER TABLE {table.name.sql} UNSET TBLPROPERTIES ('{key}') first.")
    if table.features & {"catalogManaged", "catalogOwned-preview"}:
        return _no(table, "its catalog makes its commits", _copy(table, group, keys))
    return None


def _keys(table: FoundTable, _group: GroupName, keys: Sequence[str]) -> ColocateError | None:
    for key in keys:
        if _in(key, table.widened):
            why = f"the type of {key} was widened, and a bucket key's type must be the one of all files"
            cure = f"ALTER TABLE {table.name.sql} DROP FEATURE 'typeWidening' writes the files in the new type."
            return _no(table, why, f"{cure} Or choose other keys.")
        if _in(key, table.partitioned_by):
            headline = f"Cannot cluster {table.name} by {key}: it is a partition column too, so all rows of a partition"
            return LayoutError(Code.KEY_PARTITIONED, f"{headline} would lie in one bucket.", "Choose another key.")
    return None


def _in(name: str, names: Collection[str]) -> bool:
    return name.lower() in {one.lower() for one in names}


def _no(table: FoundTable, why: str, cure: str) -> ColocateError:
    return LayoutError(Code.ADOPT_REFUSED, f"Cannot adopt {table.name} as it is: {why}.", cure)


def _copy(table: FoundTable, group: GroupName, keys: Sequence[str], provider: str = "delta") -> str:
    new = TableName(table.name.db, f"{table.name.table}_new").sql
    columns = ", ".join(f"`{key}`" for key in keys)
    return (
        f"Copy it: CREATE TABLE {new} USING {provider} CLUSTERED BY ({columns}) INTO n BUCKETS TBLPROPERTIES "
        f"('colocate_with' = '{group.name}') AS SELECT * FROM {table.name.sql}."
    )


def spelled(table: FoundTable, keys: Sequence[str]) -> tuple[Column, ...]:
    """The key columns as the table spells them; one that it lacks has no type."""
    held = {column.name.lower(): column for column in table.columns}
    return tuple(held.get(key.lower(), Column(key, "")) for key in keys)


def fits(table: FoundTable, keys: Sequence[Column], buckets: int, group: Group) -> ColocateError | None:
    """Do keys and a number of buckets that was named fit a group that there is?"""
    schema = group.schema
    types = tuple(normalise(key.type) for key in keys)
    if not group.layout_stable:
        headline = f"Cannot adopt {table.name} into group {group.name}: the group is marked as unstable."
        cure = f"End that first: CALL system.set_group_stable(group => '{group.name}', stable => true)."
        return GroupError(Code.GROUP_UNSTABLE, headline, cure)
    if types != schema.key_types:
        code = Code.KEY_COUNT_DIFFERS if len(types) != len(schema.key_types) else Code.KEY_TYPES_DIFFER
        sides = f"(table: {', '.join(types)}; group: {', '.join(schema.key_types)})"
        headline = f"Cannot adopt {table.name} into group {group.name}: the key types differ {sides}."
        cure = f"Name keys of the types ({', '.join(schema.key_types)}) in this order, or another group."
        return GroupMismatchError(code, headline, cure)
    if buckets and buckets != schema.buckets:
        sides = f"(asked: {buckets}, group: {schema.buckets})"
        headline = f"Cannot adopt {table.name} into group {group.name}: the numbers of buckets differ {sides}."
        return GroupMismatchError(Code.BUCKETS_DIFFER, headline, "Leave buckets out, or choose another group.")
    return None


def advised(table: FoundTable) -> int:
    """The number of buckets for a new group, by the rule by which CREATE warns of a number that does not fit."""
    each = table.bytes // max(1, table.partitions)
    fitting = advice.division(each)
    if fitting.partitions == 1:
        return fitting.most
    return max(MOST_BUCKETS_SMALL, -(-each // (GIB_PER_BUCKET * advice.GIB)))
