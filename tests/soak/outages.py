"""Faults of processes and of the store. Each returns its log line: what was done, what healed, and after how long."""

import random
import signal
import time
from collections.abc import Callable, Mapping

from spark_colocate.service.jobs.states import LEASE_SECONDS

from tests.soak.peer import send, still
from tests.soak.tables import GROUPS, OURS
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
        send(pid, signal.SIGKILL)
    seconds = world.until(
        lambda: set(world.cluster.executors(number)) - set(before), f"worker {number} has another executor"
    )
    return f"of worker {number}", "another one started", seconds


def control_plane_killed(world: World, draw: random.Random) -> Line:
    del draw
    with world.driver_gate.shared():
        pid = world.driver.control_plane()
        if pid:
            send(pid, signal.SIGKILL)
    seconds = world.until(
        lambda: answers(world) and world.driver.control_plane() != pid, "another control plane answers"
    )
    return f"process {pid}", "another one answers", seconds


def control_plane_stopped(world: World, draw: random.Random) -> Line:
    seconds = draw.choice((2.0, 5.0, 12.0, LEASE_SECONDS + 4))
    with world.driver_gate.shared():
        pid = world.driver.control_plane()
    with still([pid] if pid else []):
        time.sleep(seconds)
    healed = world.until(lambda: answers(world), "the control plane answers after a stop")
    return f"process {pid} stood still for {seconds:.0f} s", "it answers", healed


def store_locked(world: World, draw: random.Random) -> Line:
    seconds = draw.choice((1.0, 4.0, 12.0))
    with world.store.locked():
        time.sleep(seconds)
    return f"for {seconds:.0f} s", "the listing answers", world.until(lambda: answers(world), "the store answers")


def store_away(world: World, draw: random.Random) -> Line:
    seconds = draw.choice((1.0, 4.0, 10.0))
    with world.store.away(draw) as how:
        time.sleep(seconds)
    healed = world.until(lambda: answers(world), "the store answers when it is back")
    return f"{how} for {seconds:.0f} s", "the groups are listed again", healed


OUTAGES: Mapping[str, Callable[[World, random.Random], Line]] = {
    "worker killed": worker_killed,
    "executor killed": executor_killed,
    "control plane killed": control_plane_killed,
    "control plane stopped": control_plane_stopped,
    "store locked": store_locked,
    "store away": store_away,
}


def answers(world: World) -> bool:
    """Whether all groups are listed."""
    return len(world.sql(f"SELECT * FROM system.colocation_groups WHERE {OURS}")) == len(GROUPS)


def all_are(world: World, stable: str) -> bool:
    """Whether all groups are `is_stable`, or `placement_stable`: strays and damage alone do not matter to that."""
    rows = world.sql(f"SELECT {stable} FROM system.colocation_groups WHERE {OURS}")
    return len(rows) == len(GROUPS) and all(row[0] for row in rows)


def _has_host(world: World, number: int) -> bool:
    rows = world.sql(f"SELECT state FROM system.colocation_hosts WHERE host = '{worker_host(number)}'")
    return bool(rows) and rows[0].state == "alive"
