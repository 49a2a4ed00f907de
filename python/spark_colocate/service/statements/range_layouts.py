"""Range partitions of a table that joins a group: each must have the table's number of buckets."""

from __future__ import annotations

import json

from spark_colocate.checks.matching import rewritten
from spark_colocate.errors import Code, ColocateError, GroupMismatchError
from spark_colocate.model import Format, GroupName
from spark_colocate.service.base.requests import Declaration


def one_number(declared: Declaration, group: GroupName) -> ColocateError | None:
    """A group has one number of buckets, so each partition of its tables has it."""
    if not declared.partition_buckets:
        return None
    numbers = ", ".join(f"{name}: {buckets}" for name, buckets in declared.partition_buckets)
    return GroupMismatchError(
        Code.RANGE_BUCKETS,
        f"Cannot colocate {declared.table} with group {group}: range partitions of the table have other numbers of "
        f"buckets ({numbers}) than the table ({declared.buckets}), and a group has one number.",
        f"Write the rows anew with one number: {_rewrite(declared, group)}.",
    )


def _rewrite(declared: Declaration, group: GroupName) -> str:
    properties = {"colocate_with": group.name} | _ranges(declared)
    keys = [column.name for column in declared.keys]
    # Only Delta tables have range partitions.
    return rewritten(declared.table, Format.DELTA, keys, declared.buckets, properties)


def _ranges(declared: Declaration) -> dict[str, str]:
    """The properties without the partitions' own numbers."""
    if declared.ranges is None:
        return {}
    columns, partitions = declared.ranges
    try:
        entries = [{key: value for key, value in p.items() if key != "buckets"} for p in json.loads(partitions)]
    except (ValueError, TypeError, AttributeError):
        return {}
    return {"range_partition_by": columns, "range_partitions": json.dumps(entries, separators=(",", ":"))}
