"""Faults of processes and of the store. Each returns its log line: what was done, what healed, and after how long."""

import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager

from tests.soak.tables import GROUPS
from tests.soak.world import World
from tests.spark.cluster import worker_host

Line = tuple[str, str, float]
WORKERS = 3


def worker_killed(world: World, draw: random.Random) -> Line:
    """Sometimes for longer than the grace, so its buckets go to others, and it gets its share when it comes back."""
    number, away = draw.randrange(WORKERS), draw.choice((1.0, 3.0, 8.0, 15.0))
    world.cluster.kill(number)
    time.sleep(away)
    world.cluster.start(number)
    seconds = world.until(lambda: _has_host(world, number), f"host {worker_host(number)} is alive again")
    seconds += world.until(lambda: all_are(world, "placement_stable"), "all buckets are on hosts after one came back")
    return f"{worker_host(number)} with its executor for {away:.0f} s", "host alive, placement stable", seconds


def executor_killed(world: World, draw: random.Random) -> Line:
    number = draw.randrange(WORKERS)
    before = world.cluster.executors(number)
    for pid in before:
        _kill(pid, signal.SIGKILL)
    seconds = world.until(
        lambda: set(world.cluster.executors(number)) - set(before), f"worker {number} has another executor"
    )
    return f"of worker {number}", "another one started", seconds


def control_plane_killed(world: World, draw: random.Random) -> Line:
    del draw
    with world.driver_gate.shared():
        pid = world.driver.control_plane()
        if pid:
            _kill(pid, signal.SIGKILL)
    seconds = world.until(
        lambda: answers(world) and world.driver.control_plane() != pid, "another control plane answers"
    )
    return f"process {pid}", "another one answers", seconds


def control_plane_stopped(world: World, draw: random.Random) -> Line:
    seconds = draw.choice((2.0, 5.0, 12.0))
    with world.driver_gate.shared():  # a driver that is killed meanwhile would leave it stopped
        pid = world.driver.control_plane()
        if pid:
            _kill(pid, signal.SIGSTOP)
            time.sleep(seconds)
            _kill(pid, signal.SIGCONT)
    healed = world.until(lambda: answers(world), "the control plane answers after a stop")
    return f"process {pid} stood still for {seconds:.0f} s", "it answers", healed


def store_locked(world: World, draw: random.Random) -> Line:
    seconds = draw.choice((1.0, 4.0, 12.0))
    with _locked(world):
        time.sleep(seconds)
    return f"for {seconds:.0f} s", "the listing answers", world.until(lambda: answers(world), "the store answers")


def store_moved_away(world: World, draw: random.Random) -> Line:
    """The file, or its folder. Its lock is held while it moves: SQLite may not lose a file that it writes."""
    seconds = draw.choice((1.0, 4.0, 10.0))
    file = world.driver.store_file
    moved = draw.choice((file, file.parent))
    away = moved.with_name(f"{moved.name}.away")
    with _locked(world):
        moved.rename(away)
    time.sleep(seconds)
    if moved.is_dir():  # somebody may have begun another one
        shutil.rmtree(moved)
    file.with_name(f"{file.name}-journal").unlink(missing_ok=True)
    away.replace(moved)
    healed = world.until(lambda: answers(world), "the store answers when it is back")
    return f"{moved.name} for {seconds:.0f} s", "the groups are listed again", healed


OUTAGES: Mapping[str, Callable[[World, random.Random], Line]] = {
    "worker killed": worker_killed,
    "executor killed": executor_killed,
    "control plane killed": control_plane_killed,
    "control plane stopped": control_plane_stopped,
    "store locked": store_locked,
    "store moved away": store_moved_away,
}


def answers(world: World) -> bool:
    """Whether all groups are listed."""
    return len(world.sql("SELECT * FROM system.colocation_groups")) == len(GROUPS)


def all_are(world: World, stable: str) -> bool:
    """Whether all groups are `is_stable`, or `placement_stable`: strays and damage alone do not matter to that."""
    rows = world.sql(f"SELECT {stable} FROM system.colocation_groups")
    return len(rows) == len(GROUPS) and all(row[0] for row in rows)


def _has_host(world: World, number: int) -> bool:
    rows = world.sql(f"SELECT state FROM system.colocation_hosts WHERE host = '{worker_host(number)}'")
    return bool(rows) and rows[0].state == "alive"


@contextmanager
def _locked(world: World) -> Iterator[None]:
    """Another process holds the store's lock."""
    with closing(sqlite3.connect(world.driver.store_file, timeout=60, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def _kill(pid: int, sent: signal.Signals) -> None:
    try:
        os.kill(pid, sent)
    except ProcessLookupError:
        """It has ended by itself."""
