"""What a statement costs does not grow with the number of tables."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from spark_colocate.store import SqlStore, codec, open_store
from sqlalchemy import Connection, Engine, event

from tests.contract.plane import Plane

STATEMENTS: dict[str, Callable[[Plane], Any]] = {
    "create": lambda plane: plane.create("db.new", "g1"),
    "create with a group": lambda plane: plane.create("db.newer", "new_group"),
    "move": lambda plane: plane.alter("db.t3", "g2"),
    "rename": lambda plane: plane.rename("db.t4", "db.renamed"),
    "drop": lambda plane: plane.drop("db.t5"),
    "flag": lambda plane: plane.call("set_group_stable", group="g1", db="db", stable=False),
    "purge": lambda plane: plane.call("purge_group", group="recycled", db="db"),
    "replication": lambda plane: plane.call("set_replication", group="g3", db="db", replication=2),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 60 tables in 30 groups, and a group without tables."""
    file = tmp_path_factory.mktemp("filled") / "store.sqlite"
    plane = Plane(open_store(f"sqlite:///{file}"))
    for number in range(60):
        plane.create(f"db.t{number}", f"g{number % 30}")
    plane.create("db.last", "recycled")
    plane.drop("db.last")
    plane.store.close()
    return file


@pytest.fixture
def plane(filled: Path, tmp_path: Path) -> Plane:
    plane = Plane(open_store(f"sqlite:///{shutil.copy(filled, tmp_path)}"))
    plane.version = plane.service.version()
    return plane


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_reads_the_rows_of_its_own_groups(plane: Plane, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The statement, its end and the answer: a few rows, however many tables there are."""
    read: list[str] = []
    for kind in ("group", "member", "ticket"):
        decode = getattr(codec, kind)
        monkeypatch.setattr(codec, kind, lambda row, kind=kind, decode=decode: (read.append(kind), decode(row))[1])
    STATEMENTS[name](plane)
    assert 0 < len(read) <= 25


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_finds_its_rows_by_an_index(plane: Plane, name: str) -> None:
    """SQLite looks at no row of another group to find those of this one: the index holds more than the catalog."""
    run: list[tuple[str, Any]] = []

    def note(_connection: Connection, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        run.append((statement, parameters))

    event.listen(engine_of(plane), "before_cursor_execute", note)
    STATEMENTS[name](plane)
    event.remove(engine_of(plane), "before_cursor_execute", note)
    plans = {line for statement, parameters in run for line in plan_of(plane, statement, parameters)}
    assert len(plans) > 5
    assert [line for line in sorted(plans) if reads_everything(line)] == []


def engine_of(plane: Plane) -> Engine:
    assert isinstance(plane.store, SqlStore)
    return plane.store._engine


def plan_of(plane: Plane, statement: str, parameters: Any) -> list[str]:
    if not statement.startswith(("SELECT", "UPDATE", "DELETE")):
        return []
    with engine_of(plane).connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        return [str(row.detail) for row in rows]


def reads_everything(line: str) -> bool:
    """Whether a line of a query plan reads all rows of a catalog, in a table that grows with the number of tables.

    Of the removals at most KEPT_REMOVALS are kept.
    """
    growing = re.match(r"(SCAN|SEARCH) colocate_(groups|members|tickets)\b", line)
    return bool(growing) and (growing[1] == "SCAN" or "(catalog_id=?)" in line)
