"""A table of the fuzzer: columns, keys, layout, range partitions, rows, and the statement that makes it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from tests.fuzz.keys import KeyModel
from tests.fuzz.ranges import Ranges
from tests.fuzz.types import DOUBLE, Type

Row = tuple[Any, ...]
ROLES = ("k1", "k2", "id", "v", "w", "s", "p")

# Doris' words for types that are spelled otherwise; None for those that it has not.
_DORIS = {"TIMESTAMP_NTZ": "DATETIME", "TIMESTAMP": None}


@dataclass(frozen=True)
class Column:
    """role: k1 and k2 keys, id unique in the table, v a small number, w an amount, s a short text, p a partition."""

    role: str
    name: str
    type: Type


@dataclass(frozen=True)
class Table:
    """keys: names of the bucket keys in hash order, none without a layout. group: None for a table in no group.

    ranges, model: the range partitions and the key model, if it has some. in_doris: it is made by a statement of Doris.
    """

    name: str
    columns: tuple[Column, ...]
    provider: str
    keys: tuple[str, ...] = ()
    buckets: int = 0
    group: str | None = None
    partition: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    ranges: Ranges | None = None
    model: KeyModel | None = None
    in_doris: bool = False
    rows: tuple[Row, ...] = field(default=(), repr=False)

    def column(self, role: str) -> str:
        return next(column.name for column in self.columns if column.role == role)

    def type(self, role: str) -> Type:
        return next(column.type for column in self.columns if column.role == role)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def stored(self) -> str:
        """The name of DuckDB's table that has the rows as they were loaded."""
        return f"{self.name}_stored" if self.model else self.name

    def shaped(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Rows in the order of ROLES, with this table's columns: key columns come first, amounts may be DOUBLE."""
        at = [(ROLES.index(c.role), c.type is DOUBLE) for c in self.columns]
        return tuple(tuple(_quarters(row[i]) if is_double else row[i] for i, is_double in at) for row in rows)

    def fitting(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Those of the rows that some partition takes."""
        return tuple(row for row in rows if self.ranges is None or self.ranges.find(self.ranged(row)) is not None)

    def ranged(self, row: Row) -> list[Any]:
        """The values of the range columns."""
        return [row[self.names.index(name)] for name, _ in self.ranges.columns] if self.ranges else []

    def with_ranges(self, changed: Ranges | None) -> "Table":
        """With other partitions, and the rows that fit into them."""
        table = replace(self, ranges=changed)
        return replace(table, rows=table.fitting(table.rows))

    def ddl(self) -> str:
        """The statement that makes the table in Spark, as a user would type it."""
        if self.in_doris:
            return self._doris_ddl()
        columns = ", ".join(f"{column.name} {column.type.spark}" for column in self.columns)
        return self.ddl_as("CREATE TABLE", f"{self.name} ({columns})")

    def ddl_as(self, verb: str, head: str) -> str:
        """verb: CREATE TABLE or CREATE OR REPLACE TABLE. head: the name, and columns unless a query gives them."""
        parts = [f"{verb} {head} USING {self.provider}"]
        if self.partition:
            parts.append(f"PARTITIONED BY ({self.partition})")
        if self.keys:
            parts.append(f"CLUSTERED BY ({', '.join(self.keys)}) INTO {self.buckets} BUCKETS")
        properties = self._properties() | (self.ranges.properties() if self.ranges else {})
        properties |= self.model.properties() if self.model else {}
        if properties:
            parts.append(f"TBLPROPERTIES ({_pairs(properties)})")
        return " ".join(parts)

    def _properties(self) -> dict[str, str]:
        return dict(self.properties) | ({"colocate_with": self.group} if self.group else {})

    def _doris_ddl(self) -> str:
        words = {c.name: self.model.word(c.name) if self.model else "" for c in self.columns}
        columns = ", ".join(f"{c.name} {_DORIS.get(c.type.spark, c.type.spark)}{words[c.name]}" for c in self.columns)
        parts = [f"CREATE TABLE {self.name} ({columns}) ENGINE=OLAP"]
        if self.model:
            parts.append(self.model.doris())
        if self.ranges:
            parts.append(self.ranges.doris(self.keys))
        parts.append(f"DISTRIBUTED BY HASH({', '.join(self.keys)}) BUCKETS {self.buckets}")
        properties = self._properties()
        return " ".join([*parts, f"PROPERTIES ({_pairs(properties)})"] if properties else parts)

    @property
    def has_doris_types(self) -> bool:
        return all(_DORIS.get(column.type.spark, "") is not None for column in self.columns)

    def arrow(self, rows: Sequence[Row]) -> pa.Table:
        columns = zip(*rows, strict=True) if rows else [()] * len(self.columns)
        arrays = [pa.array(list(v), c.type.arrow) for v, c in zip(columns, self.columns, strict=True)]
        return pa.table(arrays, names=list(self.names))


def _pairs(properties: dict[str, str]) -> str:
    return ", ".join(f"{key!r} = {value!r}" for key, value in properties.items())


def _quarters(amount: Any) -> float | None:
    return None if amount is None else int(amount * 4) / 4
