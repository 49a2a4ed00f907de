"""Does the number of buckets fit the size of the tables? A group has one number, which must fit its largest table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_colocate.catalogues.findings import Finding, finding
from spark_colocate.checks import advice, matching, table_checks
from spark_colocate.checks.advice import LARGE_TABLET, TableFacts
from spark_colocate.model import Format, GroupName, GroupSchema, Intent, Kind
from spark_colocate.service.base.sizes import counted, sized
from spark_colocate.service.doctor.facts import InspectedTable, StoreFacts
from spark_colocate.service.placement.hosts import alive

_CODES = {
    "TABLETS_LARGE": "BUCKETS_TOO_LARGE",
    "TABLETS_SMALL": "TOO_MANY_BUCKETS",
    "TABLETS_FEW": "TOO_FEW_BUCKETS",
}


def findings(store: StoreFacts, group: GroupName | None, tables: Sequence[InspectedTable]) -> Iterator[Finding]:
    """One finding for each table of the group, since each must be rewritten. None: tables in no group."""
    if group is None:
        for table in tables:
            yield from _of_group(store, None, [table])
    else:
        yield from _of_group(store, group, tables)


def bytes_by_bucket(table: InspectedTable) -> list[int]:
    """The bytes of each bucket, 0 for one without a file."""
    sizes = [one.bytes for one in table.buckets]
    return sizes + [0] * (table.declared.buckets - len(sizes))


def _of_group(store: StoreFacts, group: GroupName | None, tables: Sequence[InspectedTable]) -> Iterator[Finding]:
    fitting = [table for table in tables if table.declared.buckets and not table.declared.partition_buckets]
    largest = max(fitting, key=_per_partition, default=None)
    if largest is None or not largest.bytes:
        return
    hosts = len(alive(store.hosts))
    code = _code(largest, hosts)
    if code is None:
        return
    buckets = _fitting(largest, code, hosts)
    if code == "TOO_MANY_BUCKETS" and buckets >= largest.declared.buckets:
        return  # Its partitions are many, not the buckets of each.
    facts = _facts(largest, hosts)
    # A group has one number. Where it has other tables, they go to a new group of the better number, one by one.
    target = GroupName(group.db, f"{group.name}_{buckets}") if group and len(fitting) > 1 else group
    for table in fitting:
        yield finding(
            code,
            table.name,
            tablets=counted(facts.tablets, "tablet"),
            share=sized(_fullest(largest) if code == "BUCKETS_TOO_LARGE" else facts.share or 0),
            largest=f"{sized(largest.bytes)} in {largest.name}",
            fitting=buckets,
            hosts=hosts,
            rewrite=rewrite(store, table, target, buckets),
        )


def _code(largest: InspectedTable, hosts: int) -> str | None:
    """What CREATE would only hint at when asked, such as a small table with 16 buckets, is not a finding."""
    if _fullest(largest) > LARGE_TABLET:
        return "BUCKETS_TOO_LARGE"
    found = advice.advise(_facts(largest, hosts))
    return next((_CODES[one.code] for one in found if one.urgent or one.code == "TABLETS_FEW"), None)


def _facts(table: InspectedTable, hosts: int) -> TableFacts:
    return TableFacts(table.declared.buckets, table.partitions, table.bytes, hosts)


def _per_partition(table: InspectedTable) -> int:
    return table.bytes // table.partitions


def _fullest(table: InspectedTable) -> int:
    """Bytes of a tablet of the fullest bucket, where that is not caused by skew; else of the mean."""
    sizes = sorted(bytes_by_bucket(table))
    mean = table.bytes // table.declared.buckets
    return (sizes[-1] if sizes[-1] <= 2 * mean else mean) // table.partitions


def _fitting(table: InspectedTable, code: str, hosts: int) -> int:
    """A number of buckets that gives each tablet of the table's fullest partition a good size."""
    size = _per_partition(table)
    division = advice.division(size)
    if code == "TOO_FEW_BUCKETS":
        return -(-hosts // table.partitions)
    most = division.most if division.partitions == 1 else -(-size // (LARGE_TABLET // 2))
    return max(most, -(-2 * _fullest(table) * table.declared.buckets // LARGE_TABLET))


def rewrite(store: StoreFacts, table: InspectedTable, group: GroupName | None, buckets: int) -> str:
    """The statement that rewrites the table with this number of buckets, into this group or none."""
    declared = table.declared
    if not table.is_plain:
        return f"SHOW CREATE TABLE {table.name.sql}"
    member = store.member.get(table.name)
    held = store.group.get(member.group) if member else None
    replication = held.schema.replication if held else 1
    types = tuple(table_checks.normalise(column.type) for column in declared.keys)
    keys = tuple(column.name for column in declared.keys)
    intent = Intent(Kind.ALTER, table.name, format=Format(declared.format.lower()), keys=keys)
    return matching.rewrite(intent, group, GroupSchema(types, buckets, replication))
