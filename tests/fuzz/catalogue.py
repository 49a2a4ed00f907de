"""Random tables: all that a world has at first. Everything here is decided by the random generator alone."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.fuzz import keys as key_models
from tests.fuzz import ranges
from tests.fuzz.tables import Column, Row, Table
from tests.fuzz.types import BIGINT, DECIMAL, DOUBLE, INT, KEY_TYPES, STRING, WIDE_INT, Type

# How many of a world's Delta tables have a key model.
KEYED = 0.25

# How many of a world's Delta tables have range partitions; of these, how many are in no group, with partitions of other
# numbers of buckets; and of those that can, how many are made in Doris' words.
RANGED = 0.4
MIXED = 0.4
IN_DORIS_WORDS = 0.5


@dataclass(frozen=True)
class Catalogue:
    """The tables of one world. members[format]: those that share one layout; the others are near misses of it."""

    members: dict[str, list[Table]]
    pairs: list[Table]
    others: list[Table]
    relaid: Table

    @property
    def all(self) -> list[Table]:
        return [*(t for tables in self.members.values() for t in tables), *self.pairs, *self.others, self.relaid]

    def changed(self, change: Callable[[Table], Table]) -> "Catalogue":
        members = {provider: list(map(change, tables)) for provider, tables in self.members.items()}
        return Catalogue(members, list(map(change, self.pairs)), list(map(change, self.others)), change(self.relaid))

    def replacing(self, table: Table) -> "Catalogue":
        """With this table instead of the one of its name."""
        return self.changed(lambda old: table if old.name == table.name else old)


def catalogue(rng: random.Random, keyed: float = KEYED) -> Catalogue:
    """keyed: how many of its Delta tables have a key model."""

    def divided(table: Table) -> Table:
        return _ranged(rng, _keyed(rng, table, keyed)) if table.provider == "delta" else table

    return _catalogue(rng).changed(divided)


def _catalogue(rng: random.Random) -> Catalogue:
    k1 = rng.choice(KEY_TYPES)
    k2 = k1 if rng.random() < 0.6 else rng.choice(KEY_TYPES)
    buckets = rng.choice((2, 3, 4, 5, 8))
    domain = 2 if k1.spark == "BOOLEAN" else rng.randint(6, 25)
    make = Maker(rng, k1, k2, domain)
    members = {
        "delta": [make("d0", "delta", ("k1",), buckets, "g"), make("d1", "delta", ("k1",), buckets, "g", True)],
        "parquet": [make("q0", "parquet", ("k1",), buckets, "g"), make("q1", "parquet", ("k1",), buckets, "g", True)],
        "orc": [make("o0", "orc", ("k1",), buckets, "g"), make("o1", "orc", ("k1",), buckets, "g")],
    }
    transposed = "g2" if k1.spark == k2.spark else "g3"
    pairs = [
        make("e0", "delta", ("k1", "k2"), buckets, "g2"),
        make("e1", rng.choice(("delta", "parquet", "orc")), ("k1", "k2"), buckets, "g2"),
        make("e2", "delta", ("k2", "k1"), buckets, transposed),
    ]
    other_type = WIDE_INT if k1.spark in ("TINYINT", "SMALLINT", "INT") else k1
    others = [
        make("x0", "delta", ("k1",), buckets + rng.choice((1, 2, buckets)), "g4"),
        replace(Maker(rng, other_type, k2, domain)("y0", "delta", ("k1",), buckets, "g5")),
        make("z0", rng.choice(("delta", "parquet")), (), 0, None),
    ]
    return Catalogue(members, pairs, others, make("r0", "delta", ("k1",), buckets, None))


@dataclass(frozen=True)
class Maker:
    rng: random.Random
    k1: Type
    k2: Type
    domain: int

    def __call__(
        self, name: str, provider: str, keys: tuple[str, ...], buckets: int, group: str | None, by_p: bool = False
    ) -> Table:
        suffix = self.rng.choice(("", "_x"))
        types = {"k1": self.k1, "k2": self.k2, "id": BIGINT, "v": INT, "w": DECIMAL, "s": STRING, "p": INT}
        columns = tuple(Column(role, role + suffix if role[0] == "k" else role, t) for role, t in types.items())
        table = Table(name, columns, provider, tuple(k + suffix for k in keys), buckets, group)
        table = replace(table, partition="p" if by_p else None, rows=self.rows(self.rng.randint(20, 60)))
        return replace(table, properties=self._properties()) if provider == "delta" else table

    def rows(self, count: int, first_id: int = 0) -> tuple[Row, ...]:
        """Keys from a window of the domain, so that some match nothing; nulls; one hot key now and then."""
        low, nulls = self.rng.randint(0, self.domain // 3), self.rng.choice((0.0, 0.05, 0.2))
        hot = self.rng.randrange(self.domain) if self.rng.random() < 0.3 else None

        def key(of: Type) -> Any:
            if self.rng.random() < nulls:
                return None
            is_hot = hot is not None and self.rng.random() < 0.25
            return of.value(hot if is_hot else low + self.rng.randrange(self.domain))

        def row(number: int) -> Row:
            v = None if self.rng.random() < 0.05 else self.rng.randrange(10)
            w, s = DECIMAL.value(self.rng.randrange(500)), f"s{self.rng.randrange(4)}"
            return key(self.k1), key(self.k2), first_id + number, v, w, s, self.rng.randrange(3)

        return tuple(row(number) for number in range(count))

    def _properties(self) -> tuple[tuple[str, str], ...]:
        wanted = [("delta.enableDeletionVectors", self.rng.choice(("true", "true", "false")))]
        if self.rng.random() < 0.3:
            wanted.append(("delta.columnMapping.mode", "name"))
        if self.rng.random() < 0.2:
            wanted.append(("delta.enableRowTracking", "true"))
        return tuple(wanted)


def _keyed(rng: random.Random, table: Table, share: float) -> Table:
    """With a key model, now and then. The one that is made anew in a world stays plain."""
    if not table.keys or table.name == "r0" or rng.random() >= share:
        return table
    roles = {c.role for c in table.columns if c.name in (*table.keys, table.partition)}
    roles |= {role for role in ("k2", "p") if rng.random() < 0.25} | {"k1"}
    by_role = {c.role: replace(c, type=DOUBLE) if c.role == "w" and rng.random() < 0.5 else c for c in table.columns}
    keys, values = ([c for role, c in by_role.items() if (role in roles) == is_key] for is_key in (True, False))
    model = key_models.draw(rng, [(c.name, c.type) for c in values], [c.name for c in keys])
    shaped = replace(table, columns=(*keys, *values), model=model)
    return _in_doris(rng, replace(shaped, rows=shaped.shaped(table.rows)))


def _ranged(rng: random.Random, table: Table) -> Table:
    """With range partitions, now and then: by k1, k2, v or p, and by a second column. Of keys, where there are some."""
    kinds = {c.role: (c.name, c.type) for c in table.columns if ranges.is_ranged(c.type) and c.name != table.partition}
    if table.model:
        kinds = {role: column for role, column in kinds.items() if column[0] in table.model.keys}
    if not kinds or rng.random() >= RANGED:
        return table
    first = rng.choice([role for role in ("k1", "k1", "k2", "v", "p") if role in kinds])
    others = [role for role in kinds if role != first]
    roles = [first, *([rng.choice(others)] if others and rng.random() < 0.35 else [])]
    columns = [kinds[role] for role in roles]
    at = [table.names.index(name) for name, _ in columns]
    found = table.with_ranges(ranges.draw(rng, columns, [tuple(row[i] for i in at) for row in table.rows]))
    return _in_doris(rng, _mixed(rng, found) if rng.random() < MIXED else found)


def _mixed(rng: random.Random, table: Table) -> Table:
    """In no group, and partitions have numbers of buckets of their own."""
    if not table.keys or not table.ranges:
        return table
    parts = tuple(replace(p, buckets=ranges.own_buckets(rng, table.buckets)) for p in table.ranges.partitions)
    return replace(table, group=None, ranges=replace(table.ranges, partitions=parts))


def _in_doris(rng: random.Random, table: Table) -> Table:
    can_be = table.keys and not table.partition and table.name != "r0" and table.has_doris_types
    return replace(table, in_doris=bool(can_be) and rng.random() < IN_DORIS_WORDS)
