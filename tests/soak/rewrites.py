"""Two drivers in the same step of a repair of a native table, each stopped where it does the most harm.

The second driver is stopped while it writes new files, and taken for dead. The first one begins the same step, and is
stopped, too. Then the late one goes on until it has begun to move its files in; the first one moves all of its own in,
and takes the strays away; and the late one goes on to its end. Rows are there twice unless it finds itself fenced.
"""

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

from spark_colocate.service.jobs.states import LEASE_SECONDS

from tests.soak import held
from tests.soak.jobs import Jobs
from tests.soak.outages import Line
from tests.soak.peer import send
from tests.soak.world import World

POLL_SECONDS = 0.001
"""Files are moved in a few milliseconds each."""
TAKEN_OVER_WITHIN = LEASE_SECONDS + 30
MOVES_WITHIN = 15.0
"""A late driver that has moved nothing by then has thrown its files away."""


def in_a_rewrite(world: World, jobs: Jobs, draw: random.Random) -> Line:
    with world.steady, world.peer.gate.alone():
        table = held.create(world, draw, draw.choice(("parquet", "orc"))).loaded().with_stray()
        folder = table.folder()
        job = jobs.start_by_peer("repair", table.name)
        how = _both_in_it(world, folder)
        ended = jobs.wait(job)
        if ended.state == "failed":
            world.report.fail(f"job {job} (repair of {table.name}) has failed: {ended.error}")
        seconds = world.until(lambda: not _rewrites(folder), f"no rewrite of {table.name} is unfinished")
        table.check(f"two drivers rewrote the same strays ({how})")
        for kind in ("verify", "repair"):
            jobs.wait(jobs.start(kind, table.name))
        table.check("after a verify and a repair")
        table.drop()
    return f"two drivers in a repair: {how}", f"job {ended.state}, no rewrite left", seconds


def _both_in_it(world: World, folder: Path) -> str:
    """How far it came. Both go on afterwards."""
    late, first = world.peer.pids("both"), [world.driver.pid]
    try:
        return _late_then_first(world, folder, late, first)
    finally:
        _send(signal.SIGCONT, late)
        _send(signal.SIGCONT, first)


def _late_then_first(world: World, folder: Path, late: list[int], first: list[int]) -> str:
    if not _soon(lambda: _rewrites(folder), 30):
        return "the second one did not begin"
    _send(signal.SIGSTOP, late)
    stopped, of_late = time.monotonic(), _rewrites(folder)
    taken = _soon(lambda: _rewrites(folder) - of_late, TAKEN_OVER_WITHIN)
    _send(signal.SIGSTOP, first)
    world.report.suspended.append(time.monotonic() - stopped)
    if not taken:
        return "the first one did not take it over"
    before = _files(folder)
    _send(signal.SIGCONT, late)
    moved = _soon(lambda: _files(folder) - before, MOVES_WITHIN)
    _send(signal.SIGSTOP, late)
    _send(signal.SIGCONT, first)
    _soon(lambda: not (_rewrites(folder) - of_late), 60)
    return "the late one moved files in" if moved else "the late one moved no file"


def _rewrites(folder: Path) -> set[Path]:
    """Of rewrites that are not finished."""
    return set((folder / "_colocate").glob("rewrite-*"))


def _files(folder: Path) -> set[str]:
    return {file.name for file in folder.glob("part-*")}


def _soon(holds: Callable[[], object], seconds: float) -> bool:
    """Whether it holds within this time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _send(what: signal.Signals, pids: list[int]) -> None:
    for pid in pids:
        send(pid, what)
