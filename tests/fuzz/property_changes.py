"""ALTER TABLE of properties that say what a table's rows are: the model refuses each of them.

A key model or a range partition that comes by ALTER would say something of rows that nobody has looked at, and one that
goes would change them. So each of these statements is refused, and leaves the table as it was.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from tests.fuzz.engines import Diverged
from tests.fuzz.keys import AGGREGATE, UNIQUE
from tests.fuzz.tables import Table

if TYPE_CHECKING:
    from tests.fuzz.world import World


class PropertyChange:
    """One statement about reserved properties of one Delta table, or one about a user's own property."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.table = rng.choice([table for table in world.tables.all if table.provider == "delta"])

    def make(self) -> Table:
        if self.rng.random() < 0.15:
            self.world.run(f"ALTER TABLE {self.table.name} SET TBLPROPERTIES ('owner' = '{self.rng.randrange(9)}')")
            return self.table
        statement = self.statement()
        try:
            self.world.run(statement)
        except Diverged as error:
            if "INTERNAL_ERROR" in str(error) or "NullPointer" in str(error):
                raise
            self.world.log[-1] = f"-- refused, as it would change what rows there are: {statement}"
            return self.table
        raise Diverged(f"not refused: {statement}")

    def statement(self) -> str:
        """One that must be refused."""
        name, has = self.table.name, self._properties()
        if has and self.rng.random() < 0.4:
            gone = self.rng.sample(sorted(has), self.rng.randint(1, len(has)))
            return f"ALTER TABLE {name} UNSET TBLPROPERTIES ({', '.join(map(repr, gone))})"
        fresh: dict[str, str] = {}
        while fresh.items() <= has.items():
            fresh = self.rng.choice((self._model, self._ranges, self._one))()
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in fresh.items())
        return f"ALTER TABLE {name} SET TBLPROPERTIES ({pairs})"

    def _properties(self) -> dict[str, str]:
        model = self.table.model.properties() if self.table.model else {}
        return model | (self.table.ranges.properties() if self.table.ranges else {})

    def _model(self) -> dict[str, str]:
        """A whole key model, which could be that of a CREATE, or has a word or a column that there is not."""
        columns = list(self.table.names)
        keys = columns[: self.rng.randint(1, len(columns) - 1)]
        word = self.rng.choice(("MAX", "MIN", "REPLACE", "AVG"))
        values = {column: word for column in columns if column not in keys}
        model = self.rng.choice((AGGREGATE, UNIQUE, "duplicate"))
        found = {"key_model": model, "key_columns": ", ".join(keys)}
        return found | ({"value_aggregates": json.dumps(values)} if model == AGGREGATE else {})

    def _ranges(self) -> dict[str, str]:
        """Partitions that leave rows out."""
        column = self.rng.choice(self.table.names)
        return {"range_partition_by": column, "range_partitions": json.dumps([{"name": "px", "upper": ["0"]}])}

    def _one(self) -> dict[str, str]:
        """A property alone, which is no whole."""
        return self.rng.choice(
            ({"key_model": self.rng.choice((UNIQUE, AGGREGATE, "no model"))}, {"key_columns": "no_column"},
             {"value_aggregates": '{"v": "MAX"}'}, {"range_partitions": "[]"}, {"range_partition_by": "no_column"})
        )  # fmt: skip
