"""ADD, DROP and TRUNCATE PARTITION of a random table in Spark, and what they are in DuckDB."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.fuzz.engines import Diverged
from tests.fuzz.ranges import MAX, MIN, Bound, Partition, Ranges, distributed, own_buckets
from tests.fuzz.tables import Table

if TYPE_CHECKING:
    from tests.fuzz.world import World

OVERLAPS = 0.15

# How many partitions that are added to a table in no group have a number of buckets of their own.
OWN_BUCKETS = 0.6


class RangeChange:
    """One change of one table that has range partitions; then some rows that fit, so that no table runs dry."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.table = rng.choice([table for table in world.tables.all if table.ranges])
        assert self.table.ranges
        self.ranges: Ranges = self.table.ranges

    def make(self) -> Table:
        if self.rng.random() < OVERLAPS:
            return self._overlapping()
        several, has_open = len(self.ranges.partitions) > 1, bool(self.ranges.open())
        changes = [self._truncate, *[self._drop] * (2 * several), *[self._add] * (3 * has_open)]
        self.rng.choice(changes)()
        if rows := self.table.fitting(self.world.rows(self.rng, self.table, 20)):
            self.world.fill(self.table, rows)
        return self.table

    def _add(self) -> None:
        """In one of the open ranges, all of it or a part."""
        low, high = self.rng.choice(self.ranges.open())
        inside = [cut for cut in self._cuts() if low < cut < high]
        lower, upper = sorted(self.rng.sample([low, high, *inside], 2))
        may = self.table.keys and self.table.group is None and self.rng.random() < OWN_BUCKETS
        made = Partition(self._name(), lower, upper, own_buckets(self.rng, self.table.buckets) if may else None)
        self.world.run(self._addition(made))
        self._become(self.ranges.having(made))

    def _cuts(self) -> list[Bound]:
        """Values of the table's first rows, as bounds."""
        rows = [self.table.ranged(row) for row in self.table.rows]
        return sorted({self.ranges.bound(row) for row in rows})[:5]

    def _name(self) -> str:
        """A dropped one's again, now and then."""
        free = {f"p{number}" for number in range(8)} - {p.name for p in self.ranges.partitions}
        return self.rng.choice(sorted(free)) if free else f"p{self.rng.randrange(10, 10**6)}"

    def _addition(self, made: Partition) -> str:
        follows = made.lower == self.ranges.starts_at(made.upper)
        lower = not (follows and self.rng.random() < 0.7)
        if self.rng.random() < 0.5:
            own = distributed(made, self.table.keys)
            return f"ALTER TABLE {self.table.name} ADD PARTITION {made.name} {self.ranges.values(made, lower)}{own}"
        bounds = {**({"lower": made.lower} if lower else {}), "upper": made.upper}
        given = ", ".join(f"{key} => '{self._argument(bound)}'" for key, bound in bounds.items())
        given += f", buckets => {made.buckets}" if made.buckets else ""
        return f"CALL system.add_partition(table => '{self.table.name}', partition => '{made.name}', {given})"

    def _argument(self, bound: Bound) -> str:
        texts = self.ranges.texts(bound)
        return texts[0] if len(texts) == 1 else json.dumps(texts)

    def _drop(self) -> None:
        name = self.rng.choice(self.ranges.partitions).name
        doris = f"ALTER TABLE {self.table.name} DROP PARTITION {name}"
        ours = f"CALL system.drop_partition(table => '{self.table.name}', partition => '{name}')"
        self.world.run(self.rng.choice((doris, ours)))
        self._delete([name])
        self._become(self.ranges.without(name))

    def _truncate(self) -> None:
        partitions = self.ranges.partitions
        names = [p.name for p in self.rng.sample(partitions, self.rng.randint(1, min(2, len(partitions))))]
        doris = f"TRUNCATE TABLE {self.table.name} PARTITION({', '.join(names)})"
        ours = f"CALL system.truncate_partition(table => '{self.table.name}', partitions => '{', '.join(names)}')"
        self.world.run(self.rng.choice((doris, ours)))
        self._delete(names)

    def _delete(self, names: Sequence[str]) -> None:
        listed = ", ".join(f"'{name}'" for name in names)
        self.world.duck.execute(f"DELETE FROM {self.table.stored} WHERE {self.ranges.name_of()} IN ({listed})")

    def _become(self, changed: Ranges) -> None:
        self.table = self.table.with_ranges(changed)
        self.world.tables = self.world.tables.replacing(self.table)
        self.world.duck.change_check(self.table)

    def _overlapping(self) -> Table:
        """It must be refused, and leave the table as it was."""
        other = self.rng.choice(self.ranges.partitions)
        width = len(self.ranges.columns)
        lower, upper = self.rng.choice(((other.lower, (MAX,) * width), ((MIN,) * width, other.upper)))
        made = Partition(f"p{self.rng.randrange(10, 10**6)}", lower, upper)
        try:
            self.world.run(self._addition(made))
        except Diverged as error:
            if "RANGE_OVERLAP" not in str(error) and "RANGE_AFTER_MAXVALUE" not in str(error):
                raise
            self.world.log[-1] = f"-- refused, as it overlaps {other.name}: {self.world.log[-1]}"
            return self.table
        raise Diverged(f"overlaps {other.name}, and is not refused: {self.world.log[-1]}")
