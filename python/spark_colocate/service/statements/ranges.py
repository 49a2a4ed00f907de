"""Range partitions of CREATE and of the procedures: checks the new partitions, and returns them with their SQL.

Nothing here needs the store: a table's ranges are in its own properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TypeVar

from spark_colocate.checks import range_partitions, range_values, table_checks
from spark_colocate.checks.range_partitions import RangePartition, RangePartitions, Spec
from spark_colocate.errors import Code, ColocateError, LayoutError
from spark_colocate.model import Column, TableName

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RangedTable:
    """A table and the two properties that declare its range partitions.

    by: the range columns' names, separated by commas. partitions: JSON. zone: of TIMESTAMP bounds without an offset.
    keys: the bucket keys' names. group: the text of `colocate_with`; empty for a table in no group.
    """

    name: TableName
    columns: tuple[Column, ...]
    buckets: int
    by: str
    partitions: str
    zone: str = "UTC"
    keys: tuple[str, ...] = ()
    group: str = ""


def created(table: RangedTable) -> RangePartitions:
    """The partitions of a new table. Raises LayoutError."""
    columns = _columns(table)
    names, types = [c.name for c in columns], [c.type for c in columns]
    made = _ok(range_partitions.from_json(names, types, table.partitions, _zone(table)))
    return _with_own_buckets(table, made)


def added(table: RangedTable, specs: Sequence[Spec], only_new: bool = False) -> RangePartitions:
    """Adds partitions; `only_new` leaves out those whose names exist. Raises LayoutError."""
    held = created(table)
    for spec in specs:
        if not (only_new and held.named(spec.name)):
            held = _added(table, held, spec)
    return _with_own_buckets(table, held)


def _added(table: RangedTable, held: RangePartitions, spec: Spec) -> RangePartitions:
    own = [key.lower() for key in spec.bucket_keys]
    if own and own != [key.lower() for key in table.keys]:
        raise LayoutError(
            Code.RANGE_BUCKET_KEYS,
            f"Cannot make partition {spec.name} of {table.name} with the bucket key ({', '.join(spec.bucket_keys)}): "
            f"the table's is ({', '.join(table.keys)}), and all partitions have the same.",
            f"Write DISTRIBUTED BY HASH({', '.join(table.keys)}), or leave the clause out."
            if table.keys
            else "Leave the clause out: the table has no buckets.",
        )
    return _ok(held.add(spec, _zone(table)))


def dropped(table: RangedTable, name: str, if_exists: bool) -> RangePartitions:
    """Removes a partition. Raises LayoutError if it does not exist, unless `if_exists`."""
    held = created(table)
    return held if if_exists and held.named(name) is None else _ok(held.drop(name))


def named(table: RangedTable, names: Sequence[str]) -> list[str]:
    """The names as the table spells them. Raises LayoutError for one that it does not have."""
    held = created(table)
    return [_ok(held.named(name) or range_partitions.unknown(name, held)).name for name in names]


def _zone(table: RangedTable) -> tzinfo:
    # A zone that Python does not know matters only where there are instants.
    if "timestamp" not in [c.type.lower() for c in _columns(table)]:
        return _ok(range_values.time_zone("UTC"))
    return _ok(range_values.time_zone(table.zone))


def _columns(table: RangedTable) -> list[Column]:
    if not table.by.strip() or not table.partitions.strip():
        raise LayoutError(
            Code.RANGE_PROPERTY_INVALID,
            f"Cannot partition {table.name} by range: the table properties 'range_partition_by' (the columns) and "
            "'range_partitions' (the ranges) are needed both.",
            "Write for example 'range_partition_by'='d', 'range_partitions'='[{\"name\":\"p1\",\"upper\":"
            '["2017-02-01"]}]\'.',
        )
    reserved = table_checks.reserved_column(table.name, table.columns)
    if reserved:
        raise reserved
    names = [name.strip().strip("`") for name in table.by.split(",")]
    repeated = next((n for i, n in enumerate(names) if n.lower() in [m.lower() for m in names[:i]]), None)
    if repeated is not None:
        raise _refused(table, repeated, Code.RANGE_COLUMN_INVALID, "it is named twice", "Name each column once.")
    return [_column(table, name) for name in names]


def _column(table: RangedTable, name: str) -> Column:
    found = next((c for c in table.columns if c.name.lower() == name.lower()), None)
    if found is None:
        why = f"the table has no such column (columns: {', '.join(c.name for c in table.columns)})"
        raise _refused(table, name, Code.RANGE_COLUMN_INVALID, why, "Name an existing column in 'range_partition_by'.")
    if found.identity or found.generated:
        why = "its value is not known when the partition is computed"
        raise _refused(table, name, Code.RANGE_COLUMN_INVALID, why, "Choose a column that the writer gives.")
    if found.type.lower() not in range_values.TYPES:
        raise _refused(
            table, name, Code.RANGE_COLUMN_TYPE,
            f"its type is {found.type.upper()}",
            f"Choose a column of one of these types: {', '.join(range_values.TYPES)}.",
        )  # fmt: skip
    return replace(found, type=found.type.lower())


def _refused(table: RangedTable, column: str, code: Code, why: str, cure: str) -> ColocateError:
    return LayoutError(code, f"Cannot partition {table.name} by range of {column}: {why}.", cure)


def _with_own_buckets(table: RangedTable, made: RangePartitions) -> RangePartitions:
    """A partition keeps its number of buckets only where it is not the table's. Raises LayoutError."""
    for p in made.partitions:
        if p.buckets not in (None, table.buckets):
            _check_buckets(table, p)
    same = (replace(p, buckets=None) if p.buckets == table.buckets else p for p in made.partitions)
    return replace(made, partitions=tuple(same))


def _check_buckets(table: RangedTable, p: RangePartition) -> None:
    what = f"Cannot make partition {p.name} of {table.name} with {p.buckets} buckets"
    if not table.buckets:
        why = "the table has no buckets"
        raise LayoutError(Code.RANGE_BUCKETS, f"{what}: {why}.", "Leave the number out.")
    if table.group:
        raise LayoutError(
            Code.RANGE_BUCKETS,
            f"{what}: the table is in group {table.group}, and each partition of a table in a group has the group's "
            f"number, {table.buckets}.",
            f"Leave the number out, or name {table.buckets}; or leave the group first: ALTER TABLE {table.name} SET "
            "TBLPROPERTIES ('colocate_with' = '').",
        )
    if not 1 <= (p.buckets or 0) <= table_checks.MAX_BUCKETS:
        raise LayoutError(
            Code.BUCKETS_INVALID,
            f"{what}: the number must be between 1 and {table_checks.MAX_BUCKETS}.",
            "Write such a number, or leave it out.",
        )


def _ok(value: T | ColocateError) -> T:
    if isinstance(value, ColocateError):
        raise value
    return value
