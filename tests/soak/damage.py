"""Faults of tables: what other hands do to files and logs, jobs that are steered, drivers that end in their midst."""

import random
import time
import uuid
from collections.abc import Callable, Mapping

import pyarrow as pa

from tests.soak import statements
from tests.soak.jobs import Jobs
from tests.soak.outages import Line
from tests.soak.report import condition
from tests.soak.tables import BUCKETS, GROUPS, TABLES, Table, of
from tests.soak.world import FAILURES, World
from tests.spark.members import folder
from tests.spark.native import files
from tests.spark.oracle import difference
from tests.spark.strays import FOREIGN, UUID, drop_in, say_of_bucket_3

NATIVE = [table for table in TABLES if table.is_native]
DELTA = [table for table in TABLES if not table.is_native]


def stray_dropped(world: World, jobs: Jobs, draw: random.Random) -> Line:
    table, rows = draw.choice(NATIVE), statements.rows(draw, draw.randint(1, 30))
    columns = {"k": pa.array([k for k, _ in rows], pa.int32()), "v": pa.array([v for _, v in rows], pa.int64())}
    with world.using(alone=[table]):
        world.persist(lambda: folder(world.driver.session(), table.name), "looking for a folder")
        drop_in(world.driver.session(), table.name, f"dropped-{draw.randrange(10**9)}.{{ext}}", columns)
        world.model.add(table, rows)
        seconds = _right(world, jobs, table)
    return f"{len(rows)} rows into {table.name}", "rows right", seconds


def file_renamed(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """To a name of another bucket, as Spark would write it. The file is no longer the one that the manifest knows."""
    table = draw.choice(NATIVE)
    with world.using(alone=[table]):
        file = draw.choice(sorted(files(world.driver.session(), table.name)))
        bucket = draw.randrange(BUCKETS)
        name = FOREIGN.format(bucket=bucket).replace(UUID, str(uuid.UUID(int=draw.getrandbits(128))))
        file.rename(file.with_name(name.format(ext=file.suffix[1:])))
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
        seconds = _right(world, jobs, table)
    return f"of {table.name} to bucket {bucket}", "rows right", seconds


def delta_falsified(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """The log says another bucket of some files, as a writer would that breaks Delta's protocol; verify finds it.

    Until a repair, Delta refuses statements that would write a row of these files again.
    """
    table = draw.choice(DELTA)
    rows = [(key, draw.randrange(10**6)) for key in range(40)]
    text = f"INSERT INTO {table.name} VALUES {statements.values(rows)}"
    with world.using(alone=[table]):
        _calm(world, jobs, table.group)
        before = world.model.rows(f"SELECT k, v FROM {table.name}")
        try:
            world.sql(text)
        except FAILURES as error:
            world.report.failed(error, text)
        if world.stored(table) != before:
            world.model.add(table, rows)
            world.persist(lambda: say_of_bucket_3(world.driver.session(), table.name, '"2"'), "falsifying a log")
        job = jobs.start("verify", table.group, table.name)
        found = jobs.wait(job)
        if found.state != "done":
            world.report.fail(f"a verify of {table.name} did not end well: {found}")
        _right(world, jobs, table)
    time.sleep(draw.uniform(0, 10))
    seconds = world.until(
        lambda: jobs.wait(jobs.start("repair", table.group, table.name)).state == "done", f"{table.name} is repaired"
    )
    return f"{table.name} says bucket 2 of bucket 3", f"{len(found.findings or [])} findings, repaired", seconds


def job_steered(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """A job is let go on, paused and resumed, or cancelled; a second one on its group is refused."""
    kind, group = draw.choice(("verify", "repair", "repair", "balance")), draw.choice(GROUPS)
    steered = draw.choice(("left alone", "paused", "cancelled", "a second one"))
    with world.using(alone=[table for table in of(group) if table.is_native]):
        _calm(world, jobs, group)
        job = jobs.start(kind, group)
    time.sleep(draw.random() * 2)
    begun = time.monotonic()
    if steered == "paused":
        _try(world, f"CALL system.pause_job({job})")
        world.until(lambda: jobs.row(job).state != "running", f"job {job} is paused")
        time.sleep(draw.random() * 3)
        world.until(lambda: _resumed(world, jobs, job), f"job {job} is resumed")
    if steered == "cancelled":
        _try(world, f"CALL system.cancel_job({job})")
    if steered == "a second one":
        steered = _second(world, jobs, job, group)
    state = jobs.wait(job).state
    if state == "failed":
        world.report.fail(f"job {job} ({kind} of {group}) has failed: {jobs.row(job).error}")
    return f"{kind} of {group}, {steered}", f"job {job} {state}", time.monotonic() - begun


def driver_killed(world: World, jobs: Jobs, draw: random.Random) -> Line:
    """While it does a job. The next driver of the catalog goes on with the job."""
    kind, group = draw.choice(("repair", "repair", "verify")), draw.choice(GROUPS)
    with world.using(alone=[table for table in of(group) if table.is_native]):
        _calm(world, jobs, group)
    with world.steady, world.driver_gate.alone():
        job = jobs.start(kind, group)
        time.sleep(draw.random() * 2)
        state = jobs.row(job).state if draw.random() < 0.5 else "not asked"
        world.driver.kill()
        world.driver.start()
        begun = time.monotonic()
        ended = jobs.wait(job)
        if ended.state == "failed":
            world.report.fail(f"job {job} has failed after its driver's end: {ended.error}")
    return f"in {kind} of {group} ({state})", f"job {job} {ended.state} in the next driver", time.monotonic() - begun


DAMAGE: Mapping[str, Callable[[World, Jobs, random.Random], Line]] = {
    "stray dropped": stray_dropped,
    "file renamed": file_renamed,
    "Delta log falsified": delta_falsified,
    "job": job_steered,
    "driver killed": driver_killed,
}


def _calm(world: World, jobs: Jobs, group: str) -> None:
    """The group's job has ended, if it had one."""
    world.until(lambda: jobs.open(group) is None, f"the job of {group} has ended", 200)


def _right(world: World, jobs: Jobs, table: Table) -> float:
    """The seconds until the rows are right on the layout. A file that lies fails the first query that reads it."""
    text = f"SELECT a.k, count(*), sum(a.v) FROM {table.name} a JOIN {table.name} b ON a.k = b.k GROUP BY a.k"
    begun = time.monotonic()

    def look() -> str:
        start = time.monotonic()
        world.sql(f"REFRESH TABLE {table.name}")
        on = world.rows(text)
        world.report.ran(1)
        wanted = world.model.rows(text)
        if on == wanted:
            return ""
        return "" if jobs.repaired_since(start) else difference(on, wanted, text)

    wrong = world.persist(look, text)
    if wrong:
        world.report.fail(wrong)
    return time.monotonic() - begun


def _resumed(world: World, jobs: Jobs, job: int) -> bool:
    if jobs.row(job).state == "paused":
        _try(world, f"CALL system.resume_job({job})")
    return jobs.row(job).state != "paused"


def _second(world: World, jobs: Jobs, job: int, group: str) -> str:
    try:
        world.sql(f"CALL system.verify(group => '{group}')")
    except FAILURES as error:
        return "a second one refused" if "JOB_RUNNING" in condition(error) else "a second one failed"
    if jobs.row(job).state not in ("done", "cancelled", "failed"):
        world.report.fail(f"a second job on {group} was not refused")
    return "a second one after its end"


def _try(world: World, text: str) -> None:
    """It may have ended meanwhile, or the store may be away."""
    try:
        world.sql(text)
    except FAILURES as error:
        world.report.failed(error, text)
