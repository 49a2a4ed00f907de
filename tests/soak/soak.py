"""Puts the soak together: a cluster, two drivers, tables, readers and writers, and faults one after another."""

import math
import random
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from tests.soak.clients import Reader, ReaderOfPeer, Writer
from tests.soak.damage import DAMAGE
from tests.soak.ddl import Definer
from tests.soak.driver import COMMON, OF_PEER, Driver
from tests.soak.end import settle
from tests.soak.jobs import Jobs
from tests.soak.metastore import metastore
from tests.soak.outages import OUTAGES, WORKERS
from tests.soak.pairs import Pair
from tests.soak.peer import Peer
from tests.soak.report import Report
from tests.soak.stores import STORES
from tests.soak.suspensions import SUSPENSIONS
from tests.soak.tables import DATABASE, TABLES
from tests.soak.world import World
from tests.spark.cluster import cluster_of

READERS = 3
WRITERS = 2
# A driver takes long to start: it is killed half as often as other things break.
DAMAGE_TURNS = [name for name in DAMAGE if name != "driver killed"] * 2 + ["driver killed"]


def soak(
    seed: int,
    seconds: float,
    out: TextIO,
    pause: float = 10.0,
    store: str = "postgresql",
    conf: Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
) -> Report:
    """pause: the mean of seconds between the healing of one fault and the next. only: no faults but these."""
    report = Report(out)
    with ExitStack() as held:
        try:
            world = _world(held, seed, report, store, conf or {})
            _create(world)
            report.say(f"seed {seed}: {len(TABLES)} tables on {WORKERS} hosts and {store}, for {seconds:.0f} s")
            world.begins = time.monotonic()
            world.ends = world.begins + seconds
            jobs = Jobs(world)
            _run(world, _threads(world, jobs, pause, only))
            report.say("no more faults: settling")
            settle(world, jobs)
        except Exception:  # noqa: BLE001 - whatever it is, the summary is wanted
            report.fail(traceback.format_exc())
    return report


def _world(held: ExitStack, seed: int, report: Report, store: str, conf: Mapping[str, str]) -> World:
    """Everything runs, and ends with `held`."""
    folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="colocate-soak-")))
    registry = STORES[store](folder / "store")
    held.callback(registry.stop)
    uris = held.enter_context(metastore(folder / "metastore"))
    made = held.enter_context(cluster_of(folder / "cluster", WORKERS))
    shared = {
        **COMMON,
        "spark.colocate.store": registry.url,
        "spark.hadoop.hive.metastore.uris": uris,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **conf,
    }
    driver = Driver(folder, {**shared, "spark.master": made.address})
    held.callback(driver.stop)
    driver.spark.sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    peer = Peer(folder / "peer", {**shared, **OF_PEER})
    held.callback(peer.stop)
    peer.sql(f"USE {DATABASE}")
    return World(seed, made, registry, driver, peer, report, math.inf)


def _create(world: World) -> None:
    draw = world.draw("first rows")
    for table in TABLES:
        world.sql(table.ddl())
        rows = [(draw.randrange(400), draw.randrange(10**6)) for _ in range(300)]
        world.sql(f"INSERT INTO {table.name} VALUES {', '.join(map(str, rows))}")
        world.model.add(table, rows)


def _threads(world: World, jobs: Jobs, pause: float, only: Sequence[str] | None) -> list[Callable[[], None]]:
    """Readers and writers, who look at rows, and three threads of faults, each with one at a time."""
    kinds = {
        "outages": (list(OUTAGES), lambda name, draw: OUTAGES[name](world, draw)),
        "damage": (DAMAGE_TURNS, lambda name, draw: DAMAGE[name](world, jobs, draw)),
        "suspensions": (list(SUSPENSIONS), lambda name, draw: SUSPENSIONS[name](world, jobs, draw)),
    }

    def faults(of: str) -> Callable[[], None]:
        names, do = kinds[of]
        chosen = [name for name in names if only is None or name in only]
        return lambda: _faults(world, chosen, do, of, pause) if chosen else None

    readers = [Reader(world, jobs, number) for number in range(READERS)]
    writers = [Writer(world, jobs, number) for number in range(WRITERS)]
    clients = [*readers, ReaderOfPeer(world, jobs, READERS), *writers, Pair(world), Definer(world)]
    return [*(client.run for client in clients), *map(faults, kinds)]


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
            world.await_faults()
            name = next(turns)
            with world.report.window():
                line = do(name, draw)
            world.report.fault(name, *line)


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
