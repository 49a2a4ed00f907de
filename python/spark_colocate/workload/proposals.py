"""Which tables to put into which groups, by what it saves of the shuffles of a workload."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from spark_colocate.checks.advice import LARGE_TABLET, division
from spark_colocate.checks.table_checks import normalise, refused_type
from spark_colocate.model import Column, TableName
from spark_colocate.workload.layouts import Layout, removed, written
from spark_colocate.workload.plans import Node, exchanges, is_bucketed, scanned, types
from spark_colocate.workload.queries import Query
from spark_colocate.workload.seeds import Seed, seeds
from spark_colocate.workload.shapes import Shape, shapes

LEAST_SHARE = 0.01
"""Of the bytes that all Exchanges of the workload write: what saves less is not proposed."""

MOST_BUCKETS = 4096
_DELTA_INDEXES = ("DeltaFileIndex", "TahoeLogFileIndex", "TahoeBatchFileIndex")


@dataclass(frozen=True)
class Member:
    """bytes: that the largest scan of the table read, so it has at least these. format: `delta` or `parquet`, ..."""

    table: str
    keys: tuple[str, ...]
    types: tuple[str, ...]
    bytes: int
    format: str


@dataclass(frozen=True)
class Proposal:
    """A group. saved_bytes, of the workload: that its Exchanges wrote; saved_seconds: of tasks, which Spark measured in
    writing these bytes, in waiting for them and in sorting them; queries: that have such an Exchange."""

    group: str
    members: tuple[Member, ...]
    buckets: int
    saved_bytes: int
    saved_seconds: float
    queries: int

    @property
    def rewritten(self) -> int:
        """Bytes that are written once, when the tables are put into the group."""
        return sum(member.bytes for member in self.members)

    @property
    def statements(self) -> tuple[str, ...]:
        """What puts its tables into the group, as it is typed."""
        return tuple(self._statement(member) for member in self.members)

    def _statement(self, member: Member) -> str:
        if member.format != "delta":
            return (
                f"CREATE TABLE {member.table}_in_group USING {member.format} CLUSTERED BY ({', '.join(member.keys)}) "
                f"INTO {self.buckets} BUCKETS TBLPROPERTIES ('colocate_with' = '{self.group}') "
                f"AS SELECT * FROM {member.table}"
            )
        keys = ", ".join(f"'{key}'" for key in member.keys)
        return (
            f"CALL system.colocate(table => '{member.table}', group => '{self.group}', keys => array({keys}), "
            f"buckets => {self.buckets})"
        )


@dataclass(frozen=True)
class Workload:
    """What was read of the logs. The plans of all queries, whose tables are known by the names that plans have."""

    queries: Sequence[Query]

    @cached_property
    def shuffled_bytes(self) -> int:
        """That the Exchanges wrote which Spark put in for an operator."""
        return sum(_bytes(exchanges(query.plan)) for query in self.queries)

    @cached_property
    def days(self) -> float:
        """From the first query to the last one, at least one."""
        times = [query.started for query in self.queries]
        return max(1.0, (max(times) - min(times)) / 86_400) if times else 1.0

    @cached_property
    def scans(self) -> Mapping[str, Sequence[Node]]:
        found: dict[str, list[Node]] = {}
        for query in self.queries:
            for node in query.plan.walk():
                if read := scanned(node):
                    found.setdefault(read[0], []).append(node)
        return found

    def types_of(self, table: str) -> dict[str, str]:
        return {name: kind for scan in self.scans[table] for name, kind in types(scan).items()}


def proposals(workload: Workload) -> list[Proposal]:
    """The best first. Each group, and each table more in a group, is chosen for what it saves beside those before."""
    if not workload.shuffled_bytes:
        return []
    search = _Search(workload)
    search.run()
    return search.proposals()


class _Search:
    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._shapes = shapes(query.plan for query in workload.queries if exchanges(query.plan))
        self._seeds = [seed for seed in dict.fromkeys(seeds(shape.plan for shape in self._shapes)) if self._fits(seed)]
        self._layout: dict[str, tuple[int, tuple[str, ...]]] = {}

    def run(self) -> None:
        least = LEAST_SHARE * self._workload.shuffled_bytes
        while True:
            tried = [(self._more(layout), -number, layout) for number, layout in enumerate(self._next())]
            if not tried:
                return
            more, _, layout = max(tried, key=lambda one: one[:2])
            if more < least:
                return
            self._layout = layout

    def _next(self) -> Iterator[dict[str, tuple[int, tuple[str, ...]]]]:
        """Each layout that one seed more makes: a new group, or more tables in one that there is."""
        for seed in self._seeds:
            known = [table for table, keys in seed if table in self._layout]
            if len(known) == len(seed) or any(self._layout[table][1] != dict(seed)[table] for table in known):
                continue
            group = min((self._layout[table][0] for table in known), default=self._last_group() + 1)
            yield self._layout | {table: (group, keys) for table, keys in seed}

    def _last_group(self) -> int:
        return max((group for group, _ in self._layout.values()), default=0)

    def _more(self, layout: Layout) -> int:
        """The bytes that it saves beside those that the present one does."""
        new = layout.keys() - self._layout.keys()
        touched = [shape.plan for shape in self._shapes if shape.tables & new]
        return sum(_bytes(removed(plan, layout)) - _bytes(removed(plan, self._layout)) for plan in touched)

    def _fits(self, seed: Seed) -> bool:
        """Tables without buckets, and keys of types that can be bucket keys, alike in all tables."""
        if any(is_bucketed(scan) for table, _ in seed for scan in self._workload.scans[table]):
            return False
        kinds = {self._key_types(table, keys) for table, keys in seed}
        return len(kinds) == 1 and all(map(_may_be_key, kinds.pop()))

    def _key_types(self, table: str, keys: Iterable[str]) -> tuple[str, ...]:
        found = self._workload.types_of(table)
        return tuple(normalise(found[key]) if key in found else "" for key in keys)

    def proposals(self) -> list[Proposal]:
        groups = sorted({group for group, _ in self._layout.values()})
        return _named_apart(sorted(map(self._proposal, groups), key=lambda one: -one.saved_bytes))

    def _proposal(self, group: int) -> Proposal:
        """What it saves beside the groups that were chosen before it."""
        before = {table: place for table, place in self._layout.items() if place[0] < group}
        mine = {table: place for table, place in self._layout.items() if place[0] == group}
        gone = [self._gone(shape, before, mine) for shape in self._shapes]
        members = tuple(self._member(table, keys) for table, (_, keys) in mine.items())
        return Proposal(
            group=_group_name(members),
            members=members,
            buckets=buckets(max(member.bytes for member in members)),
            saved_bytes=sum(map(_bytes, gone)),
            saved_seconds=round(sum(map(_seconds, (shape.plan for shape in self._shapes), gone)), 1),
            queries=sum(shape.times for shape, nodes in zip(self._shapes, gone, strict=True) if nodes),
        )

    def _gone(self, shape: Shape, before: Layout, mine: Layout) -> list[Node]:
        others = {id(node) for node in removed(shape.plan, before)}
        return [node for node in removed(shape.plan, {**before, **mine}) if id(node) not in others]

    def _member(self, table: str, keys: tuple[str, ...]) -> Member:
        scans = self._workload.scans[table]
        size = max(scan.metrics.get("size of files read", 0) for scan in scans)
        places = " ".join(scan.metadata.get("Location", "") for scan in scans)
        is_delta = any(index in places for index in _DELTA_INDEXES)
        kind = "delta" if is_delta else scans[-1].metadata.get("Format", "").lower()
        return Member(name(table), keys, self._key_types(table, keys), size, kind)


def buckets(size: int) -> int:
    """For a table of this size in bytes, by the rules for CREATE; of a large one, buckets of at most 10 GiB."""
    fitting = division(size)
    wanted = fitting.most if fitting.partitions == 1 else -(-size // (LARGE_TABLET // 2))
    return min(MOST_BUCKETS, 1 << (wanted - 1).bit_length())


def _group_name(members: Sequence[Member]) -> str:
    """After the keys of its largest table; a global one, where its tables are of several databases."""
    keys = "_".join(re.sub(r"\W", "_", key) for key in max(members, key=lambda one: one.bytes).keys)
    is_global = len({member.table.rpartition(".")[0] for member in members}) > 1
    return f"__global__by_{keys}" if is_global else f"by_{keys}"


def _named_apart(found: Iterable[Proposal]) -> list[Proposal]:
    """Two groups by columns of one name get different names."""
    times: dict[str, int] = {}
    named = []
    for one in found:
        times[one.group] = times.get(one.group, 0) + 1
        named.append(one if times[one.group] == 1 else replace(one, group=f"{one.group}_{times[one.group]}"))
    return named


def name(table: str) -> str:
    """Without the catalog that every session has."""
    return table.removeprefix("spark_catalog.")


def _may_be_key(kind: str) -> bool:
    return bool(kind) and refused_type(TableName("", ""), Column("", kind)) is None


def _bytes(exchanges: Iterable[Node]) -> int:
    return sum(map(written, exchanges))


def _seconds(plan: Node, gone: Sequence[Node]) -> float:
    """What Spark measured in the Exchanges and in the sorts above them."""
    ids = {id(node) for node in gone}
    sorts = [node for node in plan.walk() if node.name == "Sort" and any(id(child) in ids for child in node.children)]
    nanos = sum(node.metrics.get("shuffle write time", 0) for node in gone)
    millis = sum(node.metrics.get("fetch wait time", 0) for node in gone)
    return nanos / 1e9 + (millis + sum(node.metrics.get("sort time", 0) for node in sorts)) / 1e3
