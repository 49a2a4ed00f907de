"""Several processes at once: one group schema wins, and a process that is killed leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from spark_colocate.store import open_store

from tests.contract.plane import Plane

ROOT = Path(__file__).parents[2]

_RACER = """
import json, sys
from spark_colocate.bridge import owners
from spark_colocate.store import open_store
from tests.contract.plane import Plane, Refused
import os
url, buckets, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
plane = Plane(open_store(url, 30), owner=owners.owner_of(os.getpid()))
plane.clock.__class__.__call__ = lambda self: __import__("time").time()
print("ready", flush=True)
sys.stdin.readline()
won = []
for n in range(rounds):
    try:
        plane.create(f"db.t{buckets}_{n}", f"g{n}", buckets=buckets)
        won.append(n)
    except Refused as refused:
        assert refused.code in ("BUCKETS_DIFFER", "GROUP_BUSY"), refused.code
print(json.dumps(won), flush=True)
"""

_BEGINNER = """
import os, sys
from spark_colocate.bridge import owners
from spark_colocate.store import open_store
from tests.contract.plane import Plane
plane = Plane(open_store(sys.argv[1]), owner=owners.owner_of(os.getpid()))
plane.begin("db.a", buckets=4)
print("begun", flush=True)
sys.stdin.readline()
"""


def start(code: str, *args: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])}
    command = [sys.executable, "-c", code, *args]
    process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().strip() in ("ready", "begun")
    return process


def test_of_two_processes_that_make_one_group_exactly_one_schema_wins(tmp_path: Path) -> None:
    url, rounds = f"sqlite:///{tmp_path}/w/_colocate/store.sqlite", 25
    racers = {buckets: start(_RACER, url, str(buckets), str(rounds)) for buckets in (4, 8)}
    for racer in racers.values():
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = {buckets: set(json.loads(racer.communicate(timeout=120)[0])) for buckets, racer in racers.items()}
    plane = Plane(open_store(url))
    for number in range(rounds):
        group = plane.group(f"db.g{number}")
        losers = {4, 8} - {group["buckets"]}
        assert number in won[group["buckets"]]
        assert all(number not in won[loser] for loser in losers)
        assert group["members"] == 1


def test_a_process_killed_between_begin_and_finish_leaves_no_group(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.sqlite"
    beginner = start(_BEGINNER, url)
    os.kill(beginner.pid, signal.SIGKILL)
    beginner.communicate(timeout=30)
    from spark_colocate.bridge import owners

    plane = Plane(open_store(url))
    plane.service.is_gone = owners.is_gone
    assert plane.groups() == []
    plane.create("db.b", buckets=8)
    assert plane.group("db.g")["buckets"] == 8


@pytest.mark.parametrize("writers", [3])
def test_a_fresh_store_is_migrated_once_when_several_processes_open_it(tmp_path: Path, writers: int) -> None:
    url = f"sqlite:///{tmp_path}/w/_colocate/store.sqlite"
    racers = [start(_RACER, url, str(buckets), "1") for buckets in range(2, 2 + writers)]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    ended = [(racer.communicate(timeout=120), racer.returncode) for racer in racers]
    assert [code for _out, code in ended] == [0] * writers
    assert len(Plane(open_store(url)).groups()) == 1
