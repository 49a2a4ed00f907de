"""A driver that ends while it moves the files of a rewritten folder: the next repair finishes, and no row is lost."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from spark_colocate.model import TableName

from tests.spark.control import call
from tests.spark.members import create_member, database, folder
from tests.spark.native import files
from tests.spark.oracle import compare
from tests.spark.store import service
from tests.spark.strays import drop_in

INTERPRETED = True

QUERY = "SELECT k, count(*) AS n, sum(v) AS s FROM {table} GROUP BY k"
KEYS = list(range(40))


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "rewrites", lambda _: None)


@dataclass(frozen=True)
class Unfinished:
    """A table with a stray, and beside it the new files that are to replace the stray, with their journal."""

    table: str
    stray: Path
    work: Path
    fresh: list[str]
    rows: list[tuple[int, int]]

    @property
    def root(self) -> Path:
        return self.stray.parent

    def move_in(self, names: list[str]) -> None:
        for name in names:
            _move(self.work / "claim" / "new" / name, self.root / name)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    crc = source.with_name(f".{source.name}.crc")
    if crc.exists():
        crc.rename(target.with_name(crc.name))


@pytest.fixture
def unfinished(session: SparkSession, request: pytest.FixtureRequest) -> Unfinished:
    """What a driver leaves that ends right after it has written the journal."""
    table = f"t{abs(hash(request.node.name)) % 10**8}"
    create_member(session, table, "k INT, v BIGINT", ["k"], 4, "parquet")
    session.sql(f"INSERT INTO {table} SELECT CAST(id AS INT), id FROM range(100)")
    columns = {"k": pa.array(KEYS, pa.int32()), "v": pa.array(KEYS, pa.int64())}
    stray = drop_in(session, table, "stray.{ext}", columns)
    rows = sorted((row.k, row.v) for row in session.table(table).collect())
    content, before = stray.read_bytes(), {file.name for file in files(session, table)}
    _repair(session, table)
    root = folder(session, table)
    fresh = sorted({file.name for file in files(session, table)} - before)
    assert len(fresh) == 4
    work = root / "_colocate" / "rewrite-of-another-driver"
    for name in fresh:
        _move(root / name, work / "claim" / "new" / name)
    (work / "claim" / "old").mkdir()
    stray.write_bytes(content)
    held = stray.stat()
    entry = {"name": stray.name, "length": held.st_size, "modified": held.st_mtime_ns // 1_000_000}
    journal = {"folder": root.as_uri().replace("file:///", "file:/"), "files": fresh, "strays": [entry]}
    (work / "claim" / "journal.json").write_text(json.dumps(journal))
    session.sql(f"REFRESH TABLE {table}")
    return Unfinished(table, stray, work, fresh, rows)


def _repair(spark: SparkSession, table: str) -> None:
    done = spark.sql(f"CALL system.repair(table => '{table}', wait => true)").collect()[0]
    assert done.state == "done", done


def _rows(spark: SparkSession, table: str) -> list[tuple[int, int]]:
    spark.sql(f"REFRESH TABLE {table}")
    compare(spark, QUERY.format(table=table))
    return sorted((row.k, row.v) for row in spark.table(table).collect())


@pytest.mark.parametrize("moved", range(5))
@pytest.mark.every(3)
def test_a_repair_finishes_what_another_driver_began(session: SparkSession, unfinished: Unfinished, moved: int) -> None:
    unfinished.move_in(unfinished.fresh[:moved])
    _repair(session, unfinished.table)
    assert _rows(session, unfinished.table) == unfinished.rows
    assert not unfinished.stray.exists() and not unfinished.work.exists()
    assert all((unfinished.root / name).exists() for name in unfinished.fresh)


def test_a_repair_finishes_where_only_the_journal_was_left(session: SparkSession, unfinished: Unfinished) -> None:
    unfinished.move_in(unfinished.fresh)
    unfinished.stray.unlink()
    _repair(session, unfinished.table)
    assert _rows(session, unfinished.table) == unfinished.rows
    assert not unfinished.work.exists()


@pytest.mark.parametrize("moved", [2, 4])
def test_a_query_finishes_what_a_driver_began_that_has_ended(
    session: SparkSession, unfinished: Unfinished, moved: int
) -> None:
    """Without the repair that the driver had begun: its job was cancelled."""
    unfinished.move_in(unfinished.fresh[:moved])
    session.sql(f"REFRESH TABLE {unfinished.table}")
    doubled = sorted((row.k, row.v) for row in session.table(unfinished.table).collect())
    assert len(doubled) > len(unfinished.rows), "the files of the folder have rows twice"
    service(session).note_rewriting(TableName("rewrites", unfinished.table))
    call(session, "table_rows")  # the driver gets what has changed with the next answer
    view = f"CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT * FROM rewrites.{unfinished.table}"
    session.sql(view)
    assert sorted((row.k, row.v) for row in session.table("seen").collect()) == unfinished.rows
    assert not unfinished.stray.exists() and not unfinished.work.exists()
    assert not list(unfinished.root.glob("_colocate/rewrite-*"))
    _repair(session, unfinished.table)
    assert _rows(session, unfinished.table) == unfinished.rows


def test_a_query_waits_for_a_driver_that_moves_files(session: SparkSession, unfinished: Unfinished) -> None:
    """As the session's own control plane does after it has found the job of a killed driver."""
    unfinished.move_in(unfinished.fresh[:2])
    service(session).note_rewriting(TableName("rewrites", unfinished.table))
    call(session, "table_rows")
    session.sql(f"REFRESH TABLE {unfinished.table}")
    with ThreadPoolExecutor(1) as pool:
        repaired = pool.submit(_repair, session, unfinished.table)
        found = sorted((row.k, row.v) for row in session.table(f"rewrites.{unfinished.table}").collect())
        repaired.result(timeout=120)
    assert found == unfinished.rows


@pytest.mark.parametrize("moved", [0, 2])
def test_where_new_files_are_lost_the_stray_is_written_anew(
    session: SparkSession, unfinished: Unfinished, moved: int
) -> None:
    unfinished.move_in(unfinished.fresh[:moved])
    (unfinished.work / "claim" / "new" / unfinished.fresh[3]).unlink()
    _repair(session, unfinished.table)
    assert _rows(session, unfinished.table) == unfinished.rows
    assert not unfinished.stray.exists() and not unfinished.work.exists()


@pytest.mark.parametrize("moved", [0, 2])
def test_rows_of_a_table_that_was_overwritten_since_do_not_come_back(
    session: SparkSession, unfinished: Unfinished, moved: int
) -> None:
    unfinished.move_in(unfinished.fresh[:moved])
    for file in unfinished.root.glob("*.parquet"):  # as an overwrite does that keeps the hidden folder
        file.unlink()
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    session.sql(f"REFRESH TABLE {unfinished.table}")
    session.sql(f"INSERT INTO {unfinished.table} VALUES (1, 1)")
    _repair(session, unfinished.table)
    assert _rows(session, unfinished.table) == [(1, 1)]
    assert not unfinished.work.exists()
