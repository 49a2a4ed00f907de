"""Readers and writers find what they are there to find: here with a second DuckDB in the place of Spark."""

import io
import math
import re
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from py4j.protocol import Py4JError

from tests.soak import clients
from tests.soak.clients import Reader, ReaderOfPeer, Writer
from tests.soak.gates import Gate
from tests.soak.jobs import Jobs
from tests.soak.pairs import Pair
from tests.soak.report import Report
from tests.soak.statements import Change, Query
from tests.soak.tables import TABLES
from tests.soak.world import World

ORDERS = next(table for table in TABLES if table.name == "orders")
JOIN = Query("SELECT a.k, a.v, b.v FROM orders a JOIN lines b ON a.k = b.k", (ORDERS,))
ROWS = [(key, key) for key in range(20)]


class Engine:
    """Understands what the soak says to Spark. before: called with each statement that changes something."""

    def __init__(self) -> None:
        self.duck = duckdb.connect()
        self.conf = SimpleNamespace(set=lambda key, value: None)
        self.before: Callable[[str], None] = lambda text: None
        for table in TABLES:
            self.duck.execute(f"CREATE TABLE {table.name} (k INT, v BIGINT)")
            self.duck.executemany(f"INSERT INTO {table.name} VALUES (?, ?)", ROWS)

    def sql(self, text: str) -> Any:
        if text.startswith(("REFRESH", "SET")):
            return SimpleNamespace(collect=list)
        if re.match("INSERT|UPDATE|DELETE|MERGE", text):
            self.before(text)
        rows = self.duck.cursor().execute(text).fetchall()
        return SimpleNamespace(collect=lambda: rows)


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def world(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(clients, "is_colocated", lambda frame: True)
    driver: Any = SimpleNamespace(session=lambda: engine)
    peer: Any = SimpleNamespace(sql=lambda text: engine.sql(text).collect(), turn=nullcontext(), gate=Gate())
    nothing: Any = None
    made = World(1, nothing, nothing, driver, peer, Report(io.StringIO()), math.inf)
    for table in TABLES:
        made.model.add(table, ROWS)
    return made


def test_a_reader_is_content_with_right_rows(world: World) -> None:
    Reader(world, Jobs(world), 1)._ask(JOIN)
    assert (world.report.queries, world.report.wrong) == (2, [])


def test_a_reader_finds_a_lost_row(world: World, engine: Engine) -> None:
    engine.duck.execute("DELETE FROM lines WHERE k = 7")
    Reader(world, Jobs(world), 1)._ask(JOIN)
    assert "lost [((7, 7, 7), 1)], made []" in world.report.wrong[0]


def test_a_reader_of_the_second_driver_finds_a_row_that_is_there_twice(world: World, engine: Engine) -> None:
    ReaderOfPeer(world, Jobs(world), 1)._ask(JOIN)
    assert world.report.wrong == []
    engine.duck.execute("INSERT INTO lines VALUES (7, 7)")
    ReaderOfPeer(world, Jobs(world), 1)._ask(JOIN)
    assert "lost [], made [((7, 7, 7), 1)]" in world.report.wrong[0]


def change(world: World) -> None:
    text = "INSERT INTO orders VALUES (100, 1), (101, 1)"
    Writer(world, Jobs(world), 1)._change(Change("insert", ORDERS, text, (text,)))


def count(world: World) -> int:
    return int(next(iter(world.model.rows("SELECT count(*) FROM orders")))[0])


def failing(engine: Engine, done: str = "") -> Callable[[str], None]:
    def fail(_: str) -> None:
        if done:
            engine.duck.execute(done)
        raise Py4JError("killed")

    return fail


def test_a_change_that_is_carried_out_counts(world: World) -> None:
    change(world)
    assert (count(world), world.report.changes["insert"], world.report.wrong) == (22, 1, [])


def test_a_change_that_failed_and_did_nothing_does_not_count(world: World, engine: Engine) -> None:
    engine.before = failing(engine)
    change(world)
    assert (count(world), world.report.changes["insert"], world.report.wrong) == (20, 0, [])


def test_a_change_that_failed_after_its_commit_counts(world: World, engine: Engine) -> None:
    engine.before = failing(engine, "INSERT INTO orders VALUES (100, 1), (101, 1)")
    change(world)
    assert (count(world), world.report.changes["insert"], world.report.wrong) == (22, 1, [])


def test_half_a_change_is_wrong(world: World, engine: Engine) -> None:
    engine.before = failing(engine, "INSERT INTO orders VALUES (100, 1)")
    change(world)
    assert "half done" in world.report.wrong[0]


def load_of_pair(world: World) -> None:
    Pair(world)._load(ORDERS)


def test_two_loads_at_once_count_both(world: World, engine: Engine) -> None:
    load_of_pair(world)
    assert world.report.changes["two loads at once"] == 1
    assert count(world) == engine.sql("SELECT count(*) FROM orders").collect()[0][0] > 20


@pytest.mark.parametrize("done", ["all", "none"])
def test_a_load_beside_another_one_that_failed_counts_if_its_rows_are_there(
    world: World, engine: Engine, done: str
) -> None:
    failed = []

    def fail_first(text: str) -> None:
        if not failed:
            failed.append(text)
            if done == "all":
                engine.duck.cursor().execute(text)
            raise Py4JError("killed")

    engine.before = fail_first
    load_of_pair(world)
    assert (world.report.wrong, len(failed)) == ([], 1)
    assert count(world) == engine.sql("SELECT count(*) FROM orders").collect()[0][0]


def test_half_of_one_of_two_loads_is_wrong(world: World, engine: Engine) -> None:
    engine.before = failing(engine, "INSERT INTO orders VALUES (100, 1)")
    load_of_pair(world)
    assert "two loads at once, [False, False] done" in world.report.wrong[0]
