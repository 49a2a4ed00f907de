"""The doctor's look at tables: their files by bucket, and what the registry has of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from spark_colocate.catalogues.findings import Finding, finding
from spark_colocate.checks import matching, table_checks
from spark_colocate.errors import ColocateError
from spark_colocate.model import Format, Group, GroupName, Kind
from spark_colocate.service.base.requests import Request
from spark_colocate.service.base.sizes import counted, sized
from spark_colocate.service.doctor import buckets
from spark_colocate.service.doctor.facts import InspectedTable, Inspection, Leftover, StoreFacts, Unreadable
from spark_colocate.service.statements import declarations
from spark_colocate.support.quoting import identifier, text

MANY_FILES, SMALL_FILE = 8, 16 << 20
"""A tablet with at least this number of files, smaller than the size below on average, has many small files."""

SKEWED, SKEWED_BYTES = 4, 256 << 20
"""A bucket of at least this size is too large if it has this many times the median size."""

LOADS = 4
"""Compaction pays from about this number of files for each tablet that hold rows of one key."""


def findings(store: StoreFacts, found: Inspection) -> Iterator[Finding]:
    yield from _not_registered(store, found)
    yield from _gone(store, found)
    for unreadable in found.unreadable:
        yield from _unreadable(store, unreadable)
    for folder in leftovers(store, found.leftovers):
        yield finding(
            "LEFTOVER_FOLDER",
            folder.name,
            path=folder.path,
            files=counted(folder.files, "file"),
            bytes=sized(folder.bytes),
            table_text=text(folder.name.sql),
        )
    for table in found.tables:
        yield from _strays(table)
        if _is_registered(store, table):
            yield from _unchecked(table)
        yield from _loads(table) if table.has_key_model else _small_files(store, table)
        yield from _skewed(table)
    for group, tables in _by_group(found.tables).items():
        yield from buckets.findings(store, group, tables)


def leftovers(store: StoreFacts, found: Sequence[Leftover]) -> list[Leftover]:
    """The folders that no running statement makes."""
    busy = store.pending | store.member.keys()
    return [folder for folder in found if folder.name not in busy and store.is_old(folder.modified)]


def _unreadable(store: StoreFacts, found: Unreadable) -> Iterator[Finding]:
    if not found.is_bucketed and found.name not in store.member:
        return
    table = found.name.sql
    if found.readable is None:
        yield finding("TABLE_UNREADABLE", found.name, why=found.why, table=table)
    else:
        yield finding("VERSION_UNREADABLE", found.name, why=found.why, table=table, readable=found.readable)


def group_of(table: InspectedTable) -> GroupName | None:
    """The group that the table's own properties name; None also for a text that can't name one."""
    declared = table.declared
    named = table_checks.group_name(declared.group, declared.table.db) if declared.group else None
    return None if isinstance(named, ColocateError) else named


def could_join(table: InspectedTable, group: Group) -> bool:
    """Whether the table is in no group, and fits this one."""
    declared, schema = table.declared, group.schema
    types = tuple(table_checks.normalise(column.type) for column in declared.keys)
    return (
        not declared.group
        and group.name.db in ("", declared.table.db)
        and (types, declared.buckets) == (schema.key_types, schema.buckets)
        and declared.replication in (None, schema.replication)
        and not declared.partition_buckets
    )


def _by_group(tables: Sequence[InspectedTable]) -> dict[GroupName | None, list[InspectedTable]]:
    found: dict[GroupName | None, list[InspectedTable]] = defaultdict(list)
    for table in tables:
        found[group_of(table)].append(table)
    return found


def _not_registered(store: StoreFacts, found: Inspection) -> Iterator[Finding]:
    for table in found.tables:
        if not table.declared.group or table.name in store.pending:
            continue
        group = group_of(table) or table.declared.group
        misfit = _misfit(store, table)
        if misfit:
            yield finding("TABLE_DOES_NOT_FIT", table.name, group=group, why=misfit.headline, table=table.name.sql)
        elif not _is_registered(store, table):
            yield finding("TABLE_NOT_REGISTERED", table.name, group=group)


def _is_registered(store: StoreFacts, table: InspectedTable) -> bool:
    """Checks that the table is still the same: another session may have made another one of its name."""
    declared, member = table.declared, store.member.get(table.name)
    facts = (group_of(table), declared.format.lower(), tuple(column.name for column in declared.keys))
    return member is not None and (member.group, member.format, member.keys) == facts


def _misfit(store: StoreFacts, table: InspectedTable) -> ColocateError | None:
    """Why the table can't be in the group that it names. None if it can, or if there is no such group yet."""
    name = group_of(table)
    group = store.group.get(name) if name else None
    if group is None or all(one.name == table.name for one in store.members_of(group.name)):
        return None
    replication = table.declared.replication or group.schema.replication
    try:
        wanted = declarations.intent(Kind.ALTER, replace(table.declared, replication=replication), Request())
    except ColocateError as error:
        return error
    return matching.differs(wanted, wanted.schema, group.name, group.schema) if wanted.schema else None


def _gone(store: StoreFacts, found: Inspection) -> Iterator[Finding]:
    there = {table.name for table in found.tables if table.declared.group} | set(found.unread) | store.pending
    for member in store.members:
        if found.looked_for(member) and member.name not in there:
            yield finding("TABLE_GONE", member.name, group=member.group)


def _strays(table: InspectedTable) -> Iterator[Finding]:
    if table.strays:
        yield finding(
            "STRAYS",
            table.name,
            files=counted(table.strays, "file"),
            bytes=sized(table.stray_bytes),
            table_text=text(table.name.sql),
        )


def _unchecked(table: InspectedTable) -> Iterator[Finding]:
    if table.unchecked:
        files = counted(table.unchecked, "file")
        yield finding("FILES_NOT_CHECKED", table.name, files=files, table_text=text(table.name.sql))


def _small_files(store: StoreFacts, table: InspectedTable) -> Iterator[Finding]:
    crowded = [
        one for one in table.buckets if one.files >= MANY_FILES * one.tablets and one.bytes < SMALL_FILE * one.files
    ]
    if crowded:
        files = sum(one.files for one in crowded)
        is_delta = table.declared.format.lower() == Format.DELTA
        yield finding(
            "SMALL_FILES" if is_delta else "SMALL_NATIVE_FILES",
            table.name,
            buckets=len(crowded),
            all=table.declared.buckets,
            files=counted(files, "file"),
            bytes=sized(sum(one.bytes for one in crowded) // files),
            table=table.name.sql,
            rewrite=buckets.rewrite(store, table, group_of(table), table.declared.buckets),
        )


def _loads(table: InspectedTable) -> Iterator[Finding]:
    uncompacted = sum(one.uncompacted for one in table.buckets)
    if uncompacted >= LOADS * sum(one.tablets for one in table.buckets if one.uncompacted) > 0:
        files = counted(uncompacted, "file")
        yield finding("NOT_COMPACTED", table.name, files=files, table_text=text(table.name.sql))


def _skewed(table: InspectedTable) -> Iterator[Finding]:
    if not table.buckets or not table.declared.keys:
        return
    largest = max(table.buckets, key=lambda one: one.bytes)
    middle = median(buckets.bytes_by_bucket(table))
    if largest.bytes >= SKEWED_BYTES and largest.bytes > SKEWED * middle:
        yield finding(
            "SKEWED_BUCKETS",
            table.name,
            bucket=largest.bucket,
            largest=sized(largest.bytes),
            median=sized(int(middle)),
            keys=", ".join(identifier(column.name) for column in table.declared.keys),
            table=table.name.sql,
        )
