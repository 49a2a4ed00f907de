"""Puts the soak together: a cluster, a driver, tables, readers and writers, and faults one after another."""

import random
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from tests.soak.clients import Reader, Writer
from tests.soak.damage import DAMAGE
from tests.soak.driver import Driver
from tests.soak.end import settle
from tests.soak.jobs import Jobs
from tests.soak.outages import OUTAGES, WORKERS
from tests.soak.report import Report
from tests.soak.tables import DATABASE, TABLES
from tests.soak.world import World
from tests.spark.cluster import cluster_of

READERS = 3
# A driver takes long to start: it is killed half as often as other things break.
DAMAGE_TURNS = [name for name in DAMAGE if name != "driver killed"] * 2 + ["driver killed"]
WRITERS = 1


def soak(seed: int, seconds: float, out: TextIO, pause: float = 10.0) -> Report:
    """pause: the mean of seconds between the healing of one fault and the next."""
    report = Report(out)
    with (
        tempfile.TemporaryDirectory(prefix="colocate-soak-") as name,
        cluster_of(Path(name) / "cluster", WORKERS) as made,
    ):
        driver = Driver(Path(name), made.address)
        try:
            world = World(seed, made, driver, report, time.monotonic() + seconds)
            _create(world)
            report.say(f"seed {seed}: {len(TABLES)} tables on {WORKERS} hosts, for {seconds:.0f} s")
            world.ends = time.monotonic() + seconds
            jobs = Jobs(world)
            _run(world, _threads(world, jobs, pause))
            report.say("no more faults: settling")
            settle(world, jobs)
        except Exception:  # noqa: BLE001 - whatever it is, the summary is wanted
            report.fail(traceback.format_exc())
        finally:
            driver.stop()
    return report


def _create(world: World) -> None:
    world.driver.spark.sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    draw = world.draw("first rows")
    for table in TABLES:
        world.sql(table.ddl())
        rows = [(draw.randrange(400), draw.randrange(10**6)) for _ in range(300)]
        world.sql(f"INSERT INTO {table.name} VALUES {', '.join(map(str, rows))}")
        world.model.add(table, rows)


def _threads(world: World, jobs: Jobs, pause: float) -> list[Callable[[], None]]:
    def outages() -> None:
        _faults(world, list(OUTAGES), lambda name, draw: OUTAGES[name](world, draw), "outages", pause)

    def damage() -> None:
        _faults(world, DAMAGE_TURNS, lambda name, draw: DAMAGE[name](world, jobs, draw), "damage", pause)

    readers = [Reader(world, jobs, number).run for number in range(READERS)]
    return [*readers, *(Writer(world, jobs, number).run for number in range(WRITERS)), outages, damage]


def _faults(
    world: World,
    names: Sequence[str],
    do: Callable[[str, random.Random], tuple[str, str, float]],
    of: str,
    pause: float,
) -> None:
    draw = world.draw(of)
    turns = _turns(draw, names)
    while world.goes_on():
        time.sleep(draw.uniform(0, 2 * pause))
        if world.goes_on():
            name = next(turns)
            world.report.fault(name, *do(name, draw))


def _turns(draw: random.Random, names: Sequence[str]) -> Iterator[str]:
    """Each once before one comes again."""
    while True:
        yield from draw.sample(names, len(names))


def _run(world: World, work: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=_guarded, args=(world, one)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _guarded(world: World, work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:  # noqa: BLE001 - a thread's fault is the soak's
        world.report.fail(traceback.format_exc())
        world.stopped.set()
