"""Readers and writers: what they see must be what the model says, whatever is broken at the moment."""

import time
from collections import Counter
from collections.abc import Sequence

import duckdb
from pyspark.sql import DataFrame

from tests.soak import statements
from tests.soak.jobs import Jobs
from tests.soak.statements import Change, Query
from tests.soak.tables import TABLES, Rows
from tests.soak.world import FAILURES, PATIENCE, World
from tests.spark.oracle import difference, multiset
from tools.plans import kind, walk


def is_colocated(frame: DataFrame) -> bool:
    """Whether some table was read by its buckets."""
    plan = frame._jdf.queryExecution().executedPlan()
    return any(kind(node).startswith("Colocated") for node in walk(plan))


class Reader:
    """Asks random queries, each on the layout, switched off, and of the model."""

    def __init__(self, world: World, jobs: Jobs, number: int) -> None:
        self._world, self._jobs = world, jobs
        self._draw = world.draw(f"reader {number}")

    def run(self) -> None:
        while self._world.goes_on():
            if self._draw.random() < 0.2:
                self._once_more_of_old_version()
            else:
                self._ask(statements.query(self._draw))

    def _ask(self, query: Query) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            begun = time.monotonic()
            try:
                wrong = self._look(query)
            except FAILURES as error:
                wrong = ""
                self._world.report.failed(error, query.text)
                if time.monotonic() > end:
                    self._world.report.fail(f"a query fails for more than {PATIENCE} s: {query.text}: {error}")
                    return
            else:
                if not wrong:
                    return
            # A folder has no commit: what lists it while a repair moves files may see rows twice (docs/how-to/jobs.md).
            if wrong and not (query.reads_native and self._jobs.repaired_since(begun)):
                self._world.report.fail(wrong)
                return
            if wrong:
                self._world.report.failed(RuntimeError("a native table was read while a repair moved files"), wrong)
                if time.monotonic() > end:
                    self._world.report.fail(f"rows are wrong for more than {PATIENCE} s of a repair: {wrong}")
                    return
            time.sleep(0.5)

    def _look(self, query: Query) -> str:
        """What is wrong, if something is."""
        world = self._world
        with world.using(query.tables):
            on, off = self._both(query, [f"REFRESH TABLE {table.name}" for table in query.tables if table.is_native])
            wanted = world.model.rows(query.text)
        world.report.ran(2)
        if on == wanted and off == wanted:
            return ""
        return f"colocated {difference(on, wanted, query.text)}; switched off {difference(off, wanted, query.text)}"

    def _both(self, query: Query, before: Sequence[str]) -> tuple[Rows, Rows]:
        """Its rows on the layout, and switched off."""
        world = self._world
        for text in before:
            world.sql(text)
        begun = time.monotonic()
        frame = world.driver.session().sql(query.text)
        on = multiset(frame.collect())
        if query.served:
            world.report.planned(begun, is_colocated(frame))
        with world.switched_off():
            return on, world.rows(query.text)

    def _once_more_of_old_version(self) -> None:
        """Writers go on meanwhile: the query names the version that the model was asked of."""
        world, table = self._world, self._draw.choice([table for table in TABLES if not table.is_native])

        def version() -> tuple[int, Rows]:
            with world.using([table]):
                number = world.sql(f"DESCRIBE HISTORY {table.name} LIMIT 1")[0].version
                return number, world.model.rows(f"SELECT k, count(*), sum(v) FROM {table.name} GROUP BY k")

        def ask() -> None:
            with world.driver_gate.shared():
                on = world.rows(text)
                with world.switched_off():
                    off = world.rows(text)
            world.report.ran(2)
            if on != wanted or off != wanted:
                world.report.fail(f"{difference(on, wanted, text)}; switched off {difference(off, wanted, text)}")

        try:
            number, wanted = world.persist(version, "reading a version")
            text = statements.of_version(table, number)
            world.persist(ask, text)
        except FAILURES as error:
            world.report.fail(f"an old version of {table.name} can't be read for more than {PATIENCE} s: {error}")


class ReaderOfPeer(Reader):
    """Asks the second driver. While that one is made to stand still, it waits, and keeps no table."""

    def run(self) -> None:
        while self._world.goes_on():
            with self._world.peer.gate.shared():
                self._ask(statements.query(self._draw))

    def _both(self, query: Query, before: Sequence[str]) -> tuple[Rows, Rows]:
        peer = self._world.peer
        with peer.turn:
            for text in before:
                peer.sql(text)
            on = Counter(peer.sql(query.text))
            peer.sql("SET disable_colocate_join = true")
            try:
                return on, Counter(peer.sql(query.text))
            finally:
                peer.sql("SET disable_colocate_join = false")


class Writer:
    """Changes tables, and the model after them. A statement that failed must have done all or nothing."""

    def __init__(self, world: World, jobs: Jobs, number: int) -> None:
        self._world, self._jobs = world, jobs
        self._draw = world.draw(f"writer {number}")

    def run(self) -> None:
        while self._world.goes_on():
            calm = self._jobs.repaired_since(time.monotonic())
            self._change(statements.change(self._draw, self._most_rows(), calm))
            time.sleep(self._draw.random())

    def _most_rows(self) -> int:
        return max(next(iter(self._world.model.rows(f"SELECT count(*) FROM {t.name}")))[0] for t in TABLES)

    def _change(self, change: Change) -> None:
        world = self._world
        with world.using(change.sources, alone=[change.table]):
            if self._needs_calm(change) and self._jobs.repaired_since(time.monotonic()):
                return
            cursor = world.model.cursor()
            cursor.execute("BEGIN")
            for text in change.duck:
                cursor.execute(text)
            if self._carried_out(change, cursor):
                cursor.execute("COMMIT")
                world.report.changed(change.kind)
            else:
                cursor.execute("ROLLBACK")

    def _needs_calm(self, change: Change) -> bool:
        """Native tables have no snapshots: a repair must not move their files while they are read or replaced."""
        replaces = change.kind == "overwrite" and change.table.is_native
        return replaces or any(table.is_native for table in change.sources)

    def _carried_out(self, change: Change, cursor: duckdb.DuckDBPyConnection) -> bool:
        world = self._world
        try:
            for table in (change.table, *change.sources):
                if table.is_native:
                    world.sql(f"REFRESH TABLE {table.name}")
            world.sql(change.spark)
            return True
        except FAILURES as error:
            world.report.failed(error, change.spark)
        return self._is_done(change, cursor)

    def _is_done(self, change: Change, cursor: duckdb.DuckDBPyConnection) -> bool:
        """Whether a failed statement has changed its rows all the same. Half of them would be wrong."""
        world, name = self._world, change.table.name
        end = time.monotonic() + PATIENCE
        while True:
            begun = time.monotonic()
            found = world.stored(change.table)
            for after in (cursor, None):
                if found == world.model.rows(f"SELECT k, v FROM {name}", after):
                    return after is not None
            moving = change.table.is_native and self._jobs.repaired_since(begun)
            if not moving or time.monotonic() > end:
                before = world.model.rows(f"SELECT k, v FROM {name}")
                world.report.fail(f"half done: {difference(found, before, change.spark)}")
                return False
            time.sleep(0.5)
