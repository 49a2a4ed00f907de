"""Changes of a random table with a key model in Spark, and what they are in DuckDB, which keeps all loaded rows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.fuzz.catalogue import Maker
from tests.fuzz.engines import Diverged
from tests.fuzz.keys import KeyModel, key_condition
from tests.fuzz.tables import Row, Table

if TYPE_CHECKING:
    from tests.fuzz.world import World

# Loads meet the keys of loads before.
FEW_KEYS = 5


class KeyChange:
    """One change of one table with a key model."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.table = rng.choice([table for table in world.tables.all if table.model])
        assert self.table.model
        self.model: KeyModel = self.table.model

    def make(self) -> Table:
        update = [self._update] if self.model.is_unique else []
        changes = [self._insert, self._insert_values, self._compact, self._delete, self._refused, *update]
        self.rng.choices(changes, weights=[6, 4, 4, 2, 1, *[3] * len(update)])[0]()
        return self.table

    def _rows(self) -> tuple[Row, ...]:
        maker = Maker(self.rng, self.table.type("k1"), self.table.type("k2"), FEW_KEYS)
        rows = self.table.shaped(maker.rows(self.rng.randint(3, 15), self.world.next_ids()))
        return self.table.fitting(rows) if self.rng.random() < 0.9 else rows

    def _insert(self) -> None:
        if rows := self._rows():
            self.world.fill(self.table, rows)

    def _insert_values(self) -> None:
        """The order of its rows is in the statement."""
        if not (rows := self._rows()):
            return
        kinds = [column.type for column in self.table.columns]
        texts = [", ".join(kind.in_spark(value) for kind, value in zip(kinds, row, strict=True)) for row in rows]
        values = ", ".join(f"({text})" for text in texts)
        self.world.loaded(f"INSERT INTO {self.table.name} VALUES {values}", self.table, rows)

    def _update(self) -> None:
        """Changed rows are a load: DuckDB gets them as one."""
        keys = key_condition(self.rng, self.table)
        where = self.rng.choice((f"id % 5 = {self.rng.randrange(5)}", "v < 4", keys))
        text = self.rng.choice(("s || 'x'", "NULL"))
        order = self.world.duck.load_order(self.table)
        self.world.both(
            f"UPDATE {self.table.name} SET v = (v + 1) % 10, s = {text} WHERE {where}",
            f"INSERT INTO {self.table.stored} BY NAME SELECT * REPLACE (CAST((v + 1) % 10 AS INTEGER) AS v, "
            f"CAST({text} AS VARCHAR) AS s){order} FROM {self.table.name} WHERE {where}",
        )

    def _delete(self) -> None:
        where = key_condition(self.rng, self.table)
        self.world.both(
            f"DELETE FROM {self.table.name} WHERE {where}", f"DELETE FROM {self.table.stored} WHERE {where}"
        )

    def _compact(self) -> None:
        self.world.run(f"CALL system.compact(table => '{self.table.name}')")

    def _refused(self) -> None:
        """A statement that the model does not have."""
        name, key = self.table.name, self.model.keys[0]
        statements = [
            f"DELETE FROM {name} WHERE v = 3",
            f"DELETE FROM {name} WHERE {key} IS NULL AND id > 5",
            f"UPDATE {name} SET {key} = NULL",
            f"MERGE INTO {name} t USING {name} s ON t.{key} = s.{key} WHEN MATCHED THEN UPDATE SET v = 1",
            *([] if self.model.is_unique else [f"UPDATE {name} SET v = 1"]),
        ]
        statement = self.rng.choice(statements)
        try:
            self.world.run(statement)
        except Diverged as error:
            if "KEY_MODEL_CHANGE" not in str(error):
                raise
            self.world.log[-1] = f"-- refused, as the key model has no such statement: {statement}"
            return
        raise Diverged(f"not refused: {statement}")
