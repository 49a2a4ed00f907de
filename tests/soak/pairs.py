"""Two drivers that load one table at the same moment. The rows of a load are all there or none of them."""

import threading
import time
from collections import Counter
from collections.abc import Callable

from tests.soak import statements
from tests.soak.tables import TABLES, Table
from tests.soak.world import FAILURES, World
from tests.spark.oracle import difference

Rows = list[tuple[int | None, int]]


class Pair:
    """Into Delta tables alone: Spark's own writers of files share a folder, and the first one empties it."""

    def __init__(self, world: World) -> None:
        self._world, self._draw = world, world.draw("pair")

    def run(self) -> None:
        while self._world.goes_on():
            with self._world.peer.gate.shared():
                self._load(self._draw.choice([table for table in TABLES if not table.is_native]))
            time.sleep(self._draw.uniform(2, 8))

    def _load(self, table: Table) -> None:
        world = self._world
        loads = [statements.rows(self._draw, self._draw.randint(1, 40)) for _ in range(2)]
        with world.using(alone=[table]):
            done = self._together(table, loads)
            if all(done):
                for rows in loads:
                    world.model.add(table, rows)
                world.report.changed("two loads at once")
            else:
                self._settle(table, loads, done)

    def _together(self, table: Table, loads: list[Rows]) -> list[bool]:
        """Which of them have succeeded."""
        done = [False, False]

        def load(number: int, run: Callable[[str], object]) -> None:
            text = f"INSERT INTO {table.name} VALUES {statements.values(loads[number])}"
            try:
                run(text)
                done[number] = True
            except FAILURES as error:
                self._world.report.failed(error, text)

        other = threading.Thread(target=load, args=(1, self._world.peer.sql))
        other.start()
        load(0, self._world.sql)
        other.join()
        return done

    def _settle(self, table: Table, loads: list[Rows], done: list[bool]) -> None:
        """Of a load that failed, the rows are there all the same, or none of them."""
        world, text = self._world, f"SELECT k, v FROM {table.name}"
        found, before = world.stored(table), world.model.rows(text)
        for chosen in ((True, True), (True, False), (False, True), (False, False)):
            if any(was and not now for was, now in zip(done, chosen, strict=True)):
                continue
            rows = [row for load, is_there in zip(loads, chosen, strict=True) if is_there for row in load]
            if found == before + Counter(rows):
                world.model.add(table, rows)
                return
        world.report.fail(f"two loads at once, {done} done: {difference(found, before, text)}")
