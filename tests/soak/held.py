"""Tables of a suspension, each in a group of its own: nobody else uses them, so their rows are known."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from tests.soak.world import World
from tests.spark.members import folder
from tests.spark.strays import drop_in

ROWS = 1500
KEYS = 100
BUCKETS = 48
"""Many, so that moving a repair's files takes a while."""

SUMMED = "'key_model' = 'aggregate', 'key_columns' = 'k', 'value_aggregates' = '{\"v\": \"SUM\"}', "


@dataclass(frozen=True)
class Held:
    """Its values are 0, 1, ... `rows` - 1. summed: by key, as the table has a key model."""

    world: World
    name: str
    rows: int = 0
    summed: bool = False

    def loading(self, rows: int) -> tuple[str, Held]:
        """A statement that loads the next rows, and the table after it."""
        numbers = f"SELECT CAST(id % {KEYS} AS INT), id FROM range({self.rows}, {self.rows + rows}, 1, 1)"
        return f"INSERT INTO {self.name} {numbers}", replace(self, rows=self.rows + rows)

    def loaded(self, rows: int = ROWS) -> Held:
        """With more rows. Tried again while the statement fails before it has changed anything."""
        text, after = self.loading(rows)
        self.world.persist(lambda: after.is_right() or self.world.sql(text), text)
        return after

    def with_stray(self, rows: int = ROWS) -> Held:
        """A file of no bucket comes in, with more rows."""
        values = range(self.rows, self.rows + rows)
        columns = {"k": pa.array([v % KEYS for v in values], pa.int32()), "v": pa.array(list(values), pa.int64())}
        session = self.world.driver.session()
        self.world.persist(lambda: drop_in(session, self.name, f"stray-{self.rows}.{{ext}}", columns), "a stray")
        return replace(self, rows=self.rows + rows)

    def folder(self) -> Path:
        return self.world.persist(lambda: folder(self.world.driver.session(), self.name), "looking for a folder")

    def is_right(self) -> bool:
        return not self._wrong()

    def check(self, when: str) -> None:
        if wrong := self.world.persist(self._wrong, f"reading {self.name}"):
            self.world.report.fail(f"{when}: {wrong}")

    def _wrong(self) -> str:
        """How its rows are wrong, if they are: on the layout, or switched off."""
        self.world.sql(f"REFRESH TABLE {self.name}")
        text = f"SELECT count(*), sum(v) FROM (SELECT k, v, count(*) OVER (PARTITION BY k) FROM {self.name})"
        total = sum(range(self.rows)) if self.rows else None
        wanted = [(min(KEYS, self.rows) if self.summed else self.rows, total)]
        on = [tuple(row) for row in self.world.sql(text)]
        with self.world.switched_off():
            off = [tuple(row) for row in self.world.sql(text)]
        return "" if on == off == wanted else f"{self.name} has {on}, switched off {off}, and should have {wanted}"

    def drop(self) -> None:
        self.world.persist(lambda: self.world.sql(f"DROP TABLE IF EXISTS {self.name}"), f"dropping {self.name}")


def create(world: World, draw: random.Random, provider: str, buckets: int = BUCKETS, summed: bool = False) -> Held:
    """A table of a new name, alone in a group of that name."""
    name = f"held_{draw.randrange(10**9)}"
    properties = f"TBLPROPERTIES ({SUMMED if summed else ''}'colocate_with' = '{name}')"
    columns = f"(k INT, v BIGINT) USING {provider} CLUSTERED BY (k) INTO {buckets} BUCKETS"
    text = f"CREATE TABLE IF NOT EXISTS {name} {columns} {properties}"
    world.persist(lambda: world.sql(text), text)
    return Held(world, name, summed=summed)
