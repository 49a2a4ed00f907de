"""A driver that is taken for dead, because it stands still for longer than a lease, and then goes on."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from spark_colocate.service.jobs.states import LEASE_SECONDS

from tests.soak import held
from tests.soak.held import Held
from tests.soak.jobs import Jobs
from tests.soak.outages import Line, answers
from tests.soak.peer import PARTS
from tests.soak.rewrites import in_a_rewrite
from tests.soak.world import FAILURES, World


def at_rest(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """While it does nothing. Meanwhile the other driver changes what it knows."""
    del jobs
    part = draw.choice(PARTS)
    with world.steady, world.peer.gate.alone():
        table = held.create(world, draw, draw.choice(("delta", "parquet", "orc")), buckets=4).loaded()
        world.persist(lambda: world.peer.sql(f"SELECT sum(v) FROM {table.name}"), "asking the second driver")
        with _still(world, part):
            table = table.loaded()
            time.sleep(_long(draw))
        text = f"SELECT count(*) FROM {table.name}"
        seconds = world.until(lambda: _of_peer(world, table, text) == table.rows, f"the second driver answers {text}")
        table.check("after the second driver stood still")
        table.drop()
    return part, "it has the rows that came meanwhile", seconds


def in_a_job(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """Which the other driver takes over; the late one goes on, sometimes while the other one does the same step."""
    part, kind = draw.choice(PARTS), draw.choice(("repair", "repair", "verify"))
    with world.steady, world.peer.gate.alone():
        table = held.create(world, draw, draw.choice(("parquet", "orc"))).loaded().with_stray()
        job = jobs.start_by_peer(kind, table.name)
        time.sleep(draw.uniform(0, 2))
        before = jobs.row(job).state
        with _still(world, part):
            time.sleep(_long(draw))
        ended = jobs.wait(job)
        if ended.state == "failed":
            world.report.fail(f"job {job} ({kind} of {table.name}) has failed: {ended.error}")
        seconds = world.until(lambda: _of_peer(world, table, "SELECT 1") == 1, "the second driver answers")
        table.check(f"a {kind} went on in two drivers")
        _still_right_after_repair(world, jobs, table)
    return f"{part}, in a {kind} ({before})", f"job {job} {ended.state}", seconds


def in_a_compaction(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """Of a table with a key model. The other driver loads and compacts it meanwhile."""
    del jobs
    part = draw.choice(PARTS)
    with world.steady, world.peer.gate.alone():
        table = held.create(world, draw, "delta", buckets=4, summed=True)
        for _ in range(3):
            table = table.loaded()
        compact = f"CALL system.compact(table => '{table.name}')"
        with _running(world, compact):
            time.sleep(draw.uniform(0, 2))
            with _still(world, part):
                table = table.loaded()
                world.persist(lambda: world.sql(compact), compact)
                time.sleep(draw.choice((1.0, _long(draw))))
        table.check("a compaction went on in two drivers")
        world.persist(lambda: world.sql(compact), compact)
        table.check("after the last compaction")
        seconds = world.until(lambda: answers(world), "the groups are listed")
        table.drop()
    return part, "compacted again", seconds


def in_a_statement(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """In the midst of DDL or a load, while the other driver compares the registry with the tables."""
    del jobs
    part = draw.choice(PARTS)
    with world.steady, world.peer.gate.alone():
        table = held.create(world, draw, draw.choice(("delta", "parquet", "orc")), buckets=4).loaded()
        insert, after = table.loading(held.ROWS)
        name, text = draw.choice([*_statements(table).items(), ("INSERT", insert)])
        with _running(world, text):
            time.sleep(draw.uniform(0, 1.5))
            with _still(world, part):
                world.persist(lambda: world.sql("CALL system.reconcile('soak')"), "reconciling")
                time.sleep(_long(draw))
        seconds = world.until(lambda: not _differs(world, table), f"the registry agrees with the tables after {text}")
        if differs := world.persist(lambda: _differs(world, table), "comparing"):
            world.report.fail(f"after {text}: {differs}")
        _all_or_nothing(world, table, after)
    return f"{part}, in {name}", "the registry agrees with the tables", seconds


SUSPENSIONS: Mapping[str, Callable[[World, Jobs, random.Random], Line]] = {
    "suspended at rest": at_rest,
    "suspended in a job": in_a_job,
    "suspended in a compaction": in_a_compaction,
    "suspended in a statement": in_a_statement,
    "suspended in a rewrite": in_a_rewrite,
}


def _long(draw: random.Random) -> float:
    """Others take a lease about a second after its end."""
    return LEASE_SECONDS + draw.uniform(0.5, 6)


@contextmanager
def _still(world: World, part: str) -> Iterator[None]:
    begun = time.monotonic()
    with world.peer.still(part):
        yield
    world.report.suspended.append(time.monotonic() - begun)


@contextmanager
def _running(world: World, text: str) -> Iterator[None]:
    """The second driver runs a statement during the block, which ends with it."""

    def run() -> None:
        try:
            world.peer.sql(text)
        except FAILURES as error:
            world.report.failed(error, text)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()


def _of_peer(world: World, table: Held, text: str) -> object:
    world.peer.sql(f"REFRESH TABLE {table.name}")
    return world.peer.sql(text)[0][0]


def _still_right_after_repair(world: World, jobs: Jobs, table: Held) -> None:
    ended = jobs.wait(jobs.start("repair", table.name))
    if ended.state != "done":
        world.report.fail(f"the last repair of {table.name} is {ended.state}: {ended.error}")
    table.check("after the last repair")
    table.drop()


def _statements(table: Held) -> dict[str, str]:
    name = table.name
    columns = "(k INT, v BIGINT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS"
    return {
        "CREATE": f"CREATE TABLE {name}_other {columns} TBLPROPERTIES ('colocate_with' = '{name}')",
        "CTAS": f"CREATE TABLE {name}_other USING delta CLUSTERED BY (k) INTO 4 BUCKETS "
        f"TBLPROPERTIES ('colocate_with' = '{name}') AS SELECT k, v FROM {name}",
        "DROP": f"DROP TABLE {name}",
        "leaving": f"ALTER TABLE {name} SET TBLPROPERTIES ('colocate_with' = '')",
        "RENAME": f"ALTER TABLE {name} RENAME TO {name}_other",
    }


def _differs(world: World, table: Held) -> str:
    """A second comparison must find nothing to heal, and what is listed must be there and say so.

    The second driver compares first: an outcome that the store did not hear is told before the next statement.
    """
    world.peer.sql("CALL system.reconcile('soak')")
    healed = [row for row in world.sql("CALL system.reconcile('soak')") if row.table.startswith(table.name)]
    listed = world.sql(f"SELECT `table` FROM system.colocation_tables WHERE `table` LIKE '{table.name}%'")
    declared = [name for name in _there(world, table) if _group(world, name)]
    names = sorted(row.table for row in listed)
    return "" if not healed and names == sorted(declared) else f"healed {healed}, listed {names}, declared {declared}"


def _there(world: World, table: Held) -> list[str]:
    return [row.tableName for row in world.sql(f"SHOW TABLES LIKE '{table.name}*'")]


def _group(world: World, name: str) -> str:
    found = {row.key: row.value for row in world.sql(f"SHOW TBLPROPERTIES {name}")}
    return str(found.get("colocate_with", ""))


def _all_or_nothing(world: World, table: Held, after: Held) -> None:
    """Its rows are those before or those after the load, under its old or its new name."""
    for name in world.persist(lambda: _there(world, table), "looking for tables"):
        found = {rows: Held(world, name, rows) for rows in (table.rows, after.rows, 0)}
        if not any(world.persist(one.is_right, f"reading {name}") for one in found.values()):
            found[table.rows].check("a statement went on late")
        found[0].drop()
