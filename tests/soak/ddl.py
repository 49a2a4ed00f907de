"""Tables that are created, altered, renamed and dropped while things break: by either driver, and each as a whole."""

import time
from collections.abc import Callable

from tests.soak import statements
from tests.soak.report import condition
from tests.soak.tables import BUCKETS, GROUPS, Rows, of
from tests.soak.world import FAILURES, PATIENCE, World
from tests.spark.oracle import difference


class Stuck(Exception):
    """A statement did not come to its end in time; the report says which."""


class Definer:
    """One table's life after another. The tables belong to the soak's groups, and nobody else uses them."""

    def __init__(self, world: World, number: int = 0) -> None:
        self._world, self._draw, self._number = world, world.draw(f"definer {number}"), number
        self._lives = 0

    def run(self) -> None:
        while self._world.goes_on():
            self._lives += 1
            try:
                self._life(f"side_{self._number}_{self._lives}")
            except Stuck:
                return
            time.sleep(self._draw.uniform(0, 3))

    def _life(self, name: str) -> None:
        group, provider = self._draw.choice(GROUPS), self._draw.choice(("delta", "parquet", "orc"))
        if self._draw.random() < 0.3:
            self._refused(name, provider, group)
        self._create(name, provider, group)
        self._fill(name)
        self._look(name, group)
        for step in self._draw.sample((self._leave, self._rename, self._comment), self._draw.randint(1, 3)):
            name = step(name, group)
            self._look(name, group)
        self._drop(name)

    # --- statements --------------------------------------------------------------------------------------------------

    def _create(self, name: str, provider: str, group: str) -> None:
        head = f"CREATE TABLE {name} (k INT, v BIGINT) USING {provider} CLUSTERED BY (k) INTO {BUCKETS} BUCKETS"
        self._do(f"{head} TBLPROPERTIES ('colocate_with' = '{group}')", lambda: self._exists(name))
        self._is_member(name, True)
        self._world.model.cursor().execute(f"CREATE TABLE {name} (k INT, v BIGINT)")

    def _refused(self, name: str, provider: str, group: str) -> None:
        """It does not fit into its group: whatever breaks meanwhile, there must be no such table."""
        head = f"CREATE TABLE {name} (k INT, v BIGINT) USING {provider} CLUSTERED BY (k) INTO {BUCKETS + 1} BUCKETS"
        text = f"{head} TBLPROPERTIES ('colocate_with' = '{group}')"
        try:
            self._run(text)
        except FAILURES as error:
            if "bucket counts differ" not in str(error):
                self._world.report.failed(error, text)
        if self._world.persist(lambda: self._exists(name), f"looking for {name}"):
            self._world.report.fail(f"a table is there that does not fit into its group: {text}")
            raise Stuck

    def _fill(self, name: str) -> None:
        rows = statements.rows(self._draw, self._draw.randint(5, 60))
        text = f"INSERT INTO {name} VALUES {statements.values(rows)}"
        self._do(text, lambda: len(rows) == self._count(name))
        self._world.model.cursor().executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)

    def _leave(self, name: str, group: str) -> str:
        """And comes back."""
        for to, is_there in (("", False), (group, True)):
            text = f"ALTER TABLE {name} SET TBLPROPERTIES ('colocate_with' = '{to}')"
            self._do(text, lambda wanted=is_there: self._is_listed(name) == wanted)  # type: ignore[misc]
            self._is_member(name, is_there)
        return name

    def _rename(self, name: str, group: str) -> str:
        del group
        new = f"{name}_renamed"
        self._do(f"ALTER TABLE {name} RENAME TO {new}", lambda: self._exists(new) and not self._exists(name))
        self._is_member(new, True)
        self._is_member(name, False)
        self._world.model.cursor().execute(f"ALTER TABLE {name} RENAME TO {new}")
        return new

    def _comment(self, name: str, group: str) -> str:
        del group
        text = f"ALTER TABLE {name} SET TBLPROPERTIES ('comment' = 'life {self._lives}')"
        self._do(text, lambda: any(self._world.sql(f"SHOW TBLPROPERTIES {name} ('comment')")))
        return name

    def _drop(self, name: str) -> None:
        self._do(f"DROP TABLE {name}", lambda: not self._exists(name))
        self._is_member(name, False)
        self._world.model.cursor().execute(f"DROP TABLE {name}")

    # --- how they run ------------------------------------------------------------------------------------------------

    def _do(self, text: str, is_done: Callable[[], bool]) -> None:
        """Until it is done, whether it says so or not."""
        world, end = self._world, time.monotonic() + PATIENCE
        while True:
            failed = ""
            try:
                self._run(text)
            except FAILURES as error:
                world.report.failed(error, text)
                failed = condition(error)
            if world.persist(is_done, f"looking after {text}"):
                world.report.changed(" ".join(text.split()[:2]))
                return
            if not failed or time.monotonic() > end:
                world.report.fail(f"{failed or 'it succeeded'}, and is not done: {text}")
                raise Stuck
            time.sleep(0.5)

    def _run(self, text: str) -> None:
        if self._draw.random() < 0.3:
            with self._world.peer.gate.shared():
                self._world.peer.sql(text)
        else:
            self._world.sql(text)

    def _exists(self, name: str) -> bool:
        return bool(self._world.sql(f"SHOW TABLES LIKE '{name}'"))

    def _is_listed(self, name: str) -> bool:
        text = f"SELECT 1 FROM system.colocation_tables WHERE `table` = '{name}'"
        return bool(self._world.sql(text))

    def _is_member(self, name: str, wanted: bool) -> None:
        """A group's list may come late, as an outcome is told to the store again, but it comes."""
        said = f"{name} is {'in a' if wanted else 'in no'} group"
        self._world.until(lambda: self._is_listed(name) == wanted, said)

    def _count(self, name: str) -> int:
        self._world.sql(f"REFRESH TABLE {name}")
        return int(self._world.sql(f"SELECT count(*) FROM {name}")[0][0])

    def _look(self, name: str, group: str) -> None:
        """It is joined with a table of its group, which nobody changes meanwhile."""
        world, other = self._world, self._draw.choice([table for table in of(group) if not table.is_native])
        text = f"SELECT s.k, count(*), sum(s.v), sum(o.v) FROM {name} s JOIN {other.name} o ON s.k = o.k GROUP BY s.k"
        with world.using([other]):
            found = world.persist(lambda: self._refreshed(name, text), text)
            wanted = world.model.rows(text)
        world.report.ran(1)
        if found != wanted:
            world.report.fail(difference(found, wanted, text))

    def _refreshed(self, name: str, text: str) -> Rows:
        self._world.sql(f"REFRESH TABLE {name}")
        return self._world.rows(text)
