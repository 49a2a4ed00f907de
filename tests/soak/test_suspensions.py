"""What is looked at after a driver stood still, and DDL that is done by half: with DuckDB in the place of Spark."""

import io
import math
import re
import signal
import threading
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from py4j.protocol import Py4JError

from tests.soak import ddl, rewrites
from tests.soak.ddl import Definer, Stuck
from tests.soak.gates import Gate
from tests.soak.held import KEYS, Held
from tests.soak.report import Report
from tests.soak.world import World

GROUP = "sales"


class Engine:
    """Understands the DDL of the soak. lazy: statements with this word do nothing, or half of it."""

    def __init__(self) -> None:
        self.duck = duckdb.connect()
        self.conf = SimpleNamespace(set=lambda key, value: None)
        self.members: set[str] = set()
        self.fails, self.lazy = "nothing", "nothing"

    def sql(self, text: str) -> Any:
        if self.fails in text:
            self.fails = "nothing"
            raise Py4JError("killed")
        rows = [] if self.lazy in text else self._run(text)
        return SimpleNamespace(collect=lambda: rows)

    def _run(self, text: str) -> list[Any]:
        if text.startswith(("REFRESH", "SET")):
            return []
        if text.startswith("SHOW"):
            tables = [name for (name,) in self.duck.cursor().execute("SHOW TABLES").fetchall()]
            return [name for name in tables if f"'{name}'" in text or "TBLPROPERTIES" in text]
        if "colocation_tables" in text:
            return [name for name in self.members if f"'{name}'" in text]
        name = text.split()[2]
        if text.startswith("CREATE") and "5 BUCKETS" in text:
            raise Py4JError("bucket counts differ")
        self._register(text, name)
        return self.duck.cursor().execute(re.sub(r" USING .*", "", text)).fetchall() if "SET TBL" not in text else []

    def _register(self, text: str, name: str) -> None:
        if text.startswith("CREATE") or "'colocate_with' = 'sales'" in text:
            self.members.add(name)
        if text.startswith("DROP") or "RENAME" in text or "'colocate_with' = ''" in text:
            self.members.discard(name)
        if "RENAME" in text:
            self.members.add(text.split()[-1])


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def world(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(ddl, "GROUPS", (GROUP,))
    monkeypatch.setattr(ddl, "PATIENCE", 0.0)
    driver: Any = SimpleNamespace(session=lambda: engine, pid=1)
    peer: Any = SimpleNamespace(
        sql=lambda text: engine.sql(text).collect(), turn=nullcontext(), gate=Gate(), pids=lambda part: [2, 3]
    )
    nothing: Any = None
    made = World(1, nothing, nothing, driver, peer, Report(io.StringIO()), math.inf)
    for table in ("orders", "lines", "totals"):
        engine.duck.execute(f"CREATE TABLE {table} (k INT, v BIGINT)")
    return made


def live(world: World, times: int = 5) -> None:
    definer = Definer(world)
    for number in range(times):
        definer._life(f"side_{number}")


def test_a_table_lives_and_ends_without_a_trace(world: World, engine: Engine) -> None:
    live(world)
    assert (world.report.wrong, engine.members) == ([], set())
    assert world.report.changes["CREATE TABLE"] == world.report.changes["DROP TABLE"] == 5


@pytest.mark.parametrize("word", ["CREATE TABLE", "INSERT INTO", "RENAME", "DROP TABLE"])
def test_ddl_that_says_it_is_done_and_is_not_is_wrong(world: World, engine: Engine, word: str) -> None:
    engine.lazy = word
    with pytest.raises(Stuck):
        live(world)
    assert "it succeeded, and is not done" in world.report.wrong[0]


def test_a_create_that_must_be_refused_and_is_taken_is_wrong(
    world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ddl, "BUCKETS", 5 - 2)
    with pytest.raises(Stuck):
        Definer(world)._refused("side_0", "delta", GROUP)
    assert "a table is there that does not fit into its group" in world.report.wrong[0]


def held(world: World, engine: Engine) -> Held:
    engine.duck.execute("CREATE TABLE held (k INT, v BIGINT)")
    engine.duck.execute(f"INSERT INTO held SELECT id % {KEYS}, id FROM range(500) t(id)")
    return Held(world, "held", 500)


def test_a_table_with_all_of_its_rows_is_right(world: World, engine: Engine) -> None:
    held(world, engine).check("now")
    assert world.report.wrong == []


@pytest.mark.parametrize("how", ["INSERT INTO held SELECT * FROM held WHERE v = 3", "DELETE FROM held WHERE v = 3"])
def test_rows_that_are_there_twice_or_not_at_all_are_wrong(world: World, engine: Engine, how: str) -> None:
    table = held(world, engine)
    engine.duck.execute(how)
    table.check("after a repair in two drivers")
    assert "after a repair in two drivers: held has" in world.report.wrong[0]


def test_the_late_driver_stands_in_the_midst_of_its_moves_while_the_first_one_does_its_own(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is what doubles rows without a fence."""
    work, sent = tmp_path / "_colocate", []

    def send(what: signal.Signals, pids: list[int]) -> None:
        sent.append((what.name, pids))
        if len(sent) == 1:
            threading.Timer(0.2, (work / "rewrite-first").mkdir).start()
        if sent[-1] == ("SIGCONT", [2, 3]):
            (tmp_path / "part-0").touch()
        if sent[-1] == ("SIGCONT", [1]) and (work / "rewrite-first").exists():
            (work / "rewrite-first").rmdir()

    monkeypatch.setattr(rewrites, "_send", send)
    (work / "rewrite-late").mkdir(parents=True)
    assert rewrites._both_in_it(world, tmp_path) == "the late one moved files in"
    assert sent == [
        ("SIGSTOP", [2, 3]), ("SIGSTOP", [1]), ("SIGCONT", [2, 3]), ("SIGSTOP", [2, 3]), ("SIGCONT", [1]),
        ("SIGCONT", [2, 3]), ("SIGCONT", [1]),
    ]  # fmt: skip
    assert len(world.report.suspended) == 1
