"""Random tables: columns, keys, layout, rows. Everything here is decided by the random generator alone."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from tests.fuzz.types import BIGINT, DECIMAL, INT, KEY_TYPES, STRING, WIDE_INT, Type

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Column:
    """role: k1 and k2 keys, id unique in the table, v a small number, w an amount, s a short text, p a partition."""

    role: str
    name: str
    type: Type


@dataclass(frozen=True)
class Table:
    """keys: names of the bucket keys in hash order, none without a layout. group: None for a table in no group."""

    name: str
    columns: tuple[Column, ...]
    provider: str
    keys: tuple[str, ...] = ()
    buckets: int = 0
    group: str | None = None
    partition: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    rows: tuple[Row, ...] = field(default=(), repr=False)

    def column(self, role: str) -> str:
        return next(column.name for column in self.columns if column.role == role)

    def type(self, role: str) -> Type:
        return next(column.type for column in self.columns if column.role == role)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def ddl(self) -> str:
        """The statement that makes the table in Spark, as a user would type it."""
        columns = ", ".join(f"{column.name} {column.type.spark}" for column in self.columns)
        return self.ddl_as("CREATE TABLE", f"{self.name} ({columns})")

    def ddl_as(self, verb: str, head: str) -> str:
        """verb: CREATE TABLE or CREATE OR REPLACE TABLE. head: the name, and columns unless a query gives them."""
        parts = [f"{verb} {head} USING {self.provider}"]
        if self.partition:
            parts.append(f"PARTITIONED BY ({self.partition})")
        if self.keys:
            parts.append(f"CLUSTERED BY ({', '.join(self.keys)}) INTO {self.buckets} BUCKETS")
        properties = dict(self.properties) | ({"colocate_with": self.group} if self.group else {})
        if properties:
            parts.append(f"TBLPROPERTIES ({', '.join(f'{key!r} = {value!r}' for key, value in properties.items())})")
        return " ".join(parts)

    def arrow(self, rows: Sequence[Row]) -> pa.Table:
        columns = zip(*rows, strict=True) if rows else [()] * len(self.columns)
        arrays = [pa.array(list(v), c.type.arrow) for v, c in zip(columns, self.columns, strict=True)]
        return pa.table(arrays, names=list(self.names))


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


def catalogue(rng: random.Random) -> Catalogue:
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
