"""The control plane's process without a JVM: owners, the watcher, what it loads."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import psutil
import pytest
from spark_colocate.bridge import owners
from spark_colocate.bridge.process import Start
from spark_colocate.bridge.watcher import Watcher
from spark_colocate.errors import RequestError
from spark_colocate.jobs.runner import JobRunner
from spark_colocate.jobs.scheduler import Scheduler
from spark_colocate.model import JobKind
from spark_colocate.store import CatalogId, Store
from spark_colocate.verdicts import Verdict, parse, verdicts

from tests.contract.plane import Plane
from tests.contract.tables import Tables


@dataclass
class Jvm:
    """Remembers what was pushed."""

    pushed: list[dict[str, Any]] = field(default_factory=list)

    def push(self, text: str) -> bool:
        self.pushed.append(json.loads(text))
        return True

    def hosts(self) -> str:
        return json.dumps({"hosts": ["host-a"], "local": True})


def test_a_process_that_has_ended_is_gone_and_a_living_one_is_not() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = owners.owner_of(child.pid)
    assert not owners.is_gone(owner)
    child.communicate(b"")
    assert owners.is_gone(owner)


def test_a_killed_process_that_nobody_has_reaped_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = owners.owner_of(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
    assert owners.is_gone(owner)
    child.communicate()


def test_a_later_process_of_the_same_number_is_another_one() -> None:
    machine, pid, started = owners.owner_of(os.getpid()).rsplit("|", 2)
    assert not owners.is_gone(f"{machine}|{pid}|{started}")
    assert owners.is_gone(f"{machine}|{pid}|{float(started) + 10}")


def test_a_clock_that_is_set_makes_no_process_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """psutil gives the start of a process, and of the machine, by the clock."""
    owner = owners.owner_of(os.getpid())
    boot, created = psutil.boot_time(), psutil.Process().create_time()
    monkeypatch.setattr(psutil, "boot_time", lambda: boot + 3600)
    monkeypatch.setattr(psutil.Process, "create_time", lambda _self: created + 3600)
    assert not owners.is_gone(owner)


def test_a_clock_that_is_set_between_two_readings_makes_no_process_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = owners.owner_of(os.getpid())
    boot, created = psutil.boot_time(), psutil.Process().create_time()
    readings = iter([boot, boot + 3600])
    monkeypatch.setattr(psutil, "boot_time", lambda: next(readings, boot + 3600))
    monkeypatch.setattr(psutil.Process, "create_time", lambda _self: created + 3600)
    assert not owners.is_gone(owner)


@pytest.mark.parametrize("owner", ["", "elsewhere|1|1", "driver", "|x|"])
def test_of_other_machines_nothing_is_known(owner: str) -> None:
    assert not owners.is_gone(owner)


def watcher_of(plane: Plane, jvm: Jvm) -> Watcher:
    runner = JobRunner(plane.service, Tables())
    return Watcher(plane.service, jvm, runner, Scheduler(plane.service, {}))


def test_the_watcher_pushes_what_others_changed_once(store: Store) -> None:
    jvm = Jvm()
    plane, other = Plane(store), Plane(store, "other")
    watcher = watcher_of(plane, jvm)
    watcher.look()
    assert jvm.pushed == []
    other.create("db.a")
    watcher.look()
    watcher.look()
    assert [picture["members"][0]["table"] for picture in jvm.pushed] == ["a"]
    other.call("set_group_stable", group="db.g", stable=False)
    watcher.look()
    assert jvm.pushed[-1]["groups"][0]["stable"] is False


def test_an_in_memory_catalog_ends_with_its_driver_and_stale_ones_are_cleared(store: Store) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    stale = CatalogId("in-memory:stale", True, owners.owner_of(dead.pid))
    dead.wait()
    mine = CatalogId("in-memory:mine", True, owners.owner_of(os.getpid()))
    kept = CatalogId("hive:kept", False, stale.owner)
    planes = [Plane(store, catalog=catalog) for catalog in (stale, mine, kept)]
    for plane in planes:
        plane.create("db.a")
    planes[1].service.is_gone = owners.is_gone
    watcher = watcher_of(planes[1], Jvm())
    watcher.look()
    assert {catalog.identity for catalog in store.catalogs()} == {"in-memory:mine", "hive:kept"}
    watcher.stop()
    assert [catalog.identity for catalog in store.catalogs()] == ["hive:kept"]


def test_the_process_comes_up_without_spark_and_without_migrations() -> None:
    code = "import sys, spark_colocate.bridge.process as _; print({'pyspark', 'alembic', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_what_the_driver_sends_is_typed_and_shows_no_secret() -> None:
    line = {
        "port": 1, "token": "hush", "pid": 2, "catalog": "hive:x", "ephemeral": False, "warehouse": "/w",
        "store": "postgresql://user:hush@host/db", "passwordFile": "", "tokenFile": "",
        "storeTimeout": 5, "hostGrace": 300, "tickets": ["t"],
        "intervals": {"verify": 86400, "repair": 0},
    }  # fmt: skip
    start = Start.parse(json.dumps(line))
    assert (start.port, start.pid, start.store_timeout, start.tickets) == (1, 2, 5.0, ("t",))
    assert start.intervals == {JobKind.VERIFY: 86400.0}
    assert "hush" not in repr(start)


def test_verdicts_are_values() -> None:
    yes = {"operator": "Join", "colocated": True, "code": "COLOCATED", "text": "colocate: true"}
    no = {"operator": "Join", "colocated": False, "code": "STRAY", "text": "colocate: false"}
    text = json.dumps([{**yes, "group": "db.g", "buckets": 4}, {**no, "left": "a", "right": None}])
    assert parse(text) == [
        Verdict("Join", True, "COLOCATED", "colocate: true", "db.g", 4),
        Verdict("Join", False, "STRAY", "colocate: false", left="a"),
    ]


def test_verdicts_of_a_connect_frame_point_to_explain() -> None:
    with pytest.raises(RequestError, match=r"Use df\.explain\(\)"):
        verdicts(object())  # type: ignore[arg-type]
