"""Hosts come and go, and the bucket sequences follow; the same on every store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from spark_colocate.service import HostWatch, Request

from tests.contract.plane import Plane

GRACE = 60.0


@dataclass
class Driver:
    """A driver that looks at its hosts every ten seconds of its own clock."""

    plane: Plane
    steady: float = 0.0

    def __post_init__(self) -> None:
        self.plane.service.host_watch = HostWatch(GRACE)
        self.plane.service.steady = lambda: self.steady

    def look(self, *hosts: str, local: bool = False, seconds: float = 10.0) -> None:
        self.steady += seconds
        self.plane.service.see_hosts(Request(who="watch", hosts=hosts, local=local))

    def look_for(self, seconds: float, *hosts: str, local: bool = False) -> None:
        for _ in range(int(seconds // 10)):
            self.look(*hosts, local=local)

    def placed(self, group: str = "10001.10002") -> list[list[str]]:
        return self.plane.call("bucket_hosts", group_id=group)  # type: ignore[no-any-return]

    def states(self) -> dict[str, str]:
        return {row["host"]: row["state"] for row in self.plane.call("rows", table="colocation_hosts")}


@pytest.fixture
def driver(plane: Plane) -> Driver:
    plane.hosts = ("a", "b", "c")
    plane.create("db.t", buckets=6)
    return Driver(plane)


def test_the_buckets_of_a_lost_host_go_to_others_after_the_grace_period(driver: Driver) -> None:
    before = driver.placed()
    driver.look("a", "b", "c")
    driver.look_for(GRACE, "a", "b")
    assert driver.placed() == before
    driver.look_for(20, "a", "b")
    assert driver.states() == {"a": "alive", "b": "alive", "c": "lost"}
    after = driver.placed()
    assert {host for entry in after for host in entry} == {"a", "b"}
    assert all(new == old for old, new in zip(before, after, strict=True) if old != ["c"])
    assert driver.plane.group("db.g")["is_stable"]


def test_executors_that_are_away_for_a_while_change_nothing(driver: Driver) -> None:
    before, version = driver.placed(), driver.plane.service.version()
    for _ in range(5):
        driver.look_for(GRACE - 20, "a", "b")
        driver.look_for(30, "a", "b", "c")
    assert driver.placed() == before
    assert driver.plane.service.version() == version


def test_a_host_that_comes_back_gets_its_share_again(driver: Driver) -> None:
    driver.look_for(GRACE + 30, "a", "b")
    assert driver.states()["c"] == "lost"
    driver.look("a", "b", "c")
    assert driver.states()["c"] == "alive"
    held = [host for entry in driver.placed() for host in entry]
    assert [held.count(host) for host in "abc"] == [2, 2, 2]


def test_a_new_host_gets_its_share(driver: Driver) -> None:
    driver.look("a", "b", "c", "d", "e", "f")
    held = [host for entry in driver.placed() for host in entry]
    assert sorted(held) == ["a", "b", "c", "d", "e", "f"]


def test_what_another_driver_sees_is_not_lost(driver: Driver, another: Callable[..., Plane]) -> None:
    other = Driver(another(), steady=1e6)  # clocks that differ do not matter
    for _ in range(20):
        driver.look("a", "b")
        other.look("c")
    assert set(driver.states().values()) == {"alive"}


def test_with_every_host_gone_the_sequence_stays_and_the_group_is_not_stable(driver: Driver) -> None:
    before = driver.placed()
    driver.look_for(GRACE + 30)
    assert set(driver.states().values()) == {"lost"}
    assert driver.placed() == before
    assert not driver.plane.group("db.g")["placement_stable"]
    driver.look("a", "b", "c")
    assert driver.plane.group("db.g")["placement_stable"]
    assert driver.placed() == before


SWITCHES = {"disable_colocate_relocate": "ab", "disable_colocate_balance": "abcd"}


@pytest.mark.parametrize(("switch", "seen"), SWITCHES.items())
def test_switched_off_nothing_moves_until_it_is_switched_on(driver: Driver, switch: str, seen: Sequence[str]) -> None:
    before = driver.placed()
    for key in SWITCHES:
        driver.plane.call("set_config", key=key, value="true")
    driver.look_for(GRACE + 30, *seen)
    assert driver.placed() == before
    assert driver.plane.group("db.g")["placement_stable"] == (seen == "abcd")
    driver.plane.call("set_config", key=switch, value="false")
    assert {host for entry in driver.placed() for host in entry} == set(seen)


def test_a_driver_alone_is_a_host_only_while_there_are_no_others(driver: Driver) -> None:
    driver.look("laptop", local=True)
    assert "laptop" not in driver.states()
    driver.look_for(GRACE + 30, "laptop", local=True)
    driver.look("laptop", local=True)
    assert driver.states() == {"laptop": "alive", "a": "lost", "b": "lost", "c": "lost"}
    assert driver.placed() == [["laptop"]] * 6
    driver.look_for(GRACE + 30, "a", "b")
    assert driver.states() == {"laptop": "lost", "a": "alive", "b": "alive", "c": "lost"}
    assert {host for entry in driver.placed() for host in entry} == {"a", "b"}


def test_capacities_are_told_by_the_setting(driver: Driver) -> None:
    driver.plane.call("set_config", key="disable_colocate_balance", value="true")
    driver.look("a=4", "b", "c=nonsense")
    rows: list[dict[str, Any]] = driver.plane.call("rows", table="colocation_hosts")
    assert {row["host"]: row["capacity"] for row in rows} == {"a": 4.0, "b": 1.0, "c": 1.0}
    driver.plane.call("set_config", key="disable_colocate_balance", value="false")
    held = [host for entry in driver.placed() for host in entry]
    assert held.count("a") == 4


def test_more_copies_go_to_hosts_that_have_none_and_fewer_leave_the_first(driver: Driver) -> None:
    before = driver.placed()
    driver.plane.call("set_replication", group="db.g", replication=2)
    more = driver.placed()
    assert all(new[:1] == old and len(set(new)) == 2 for old, new in zip(before, more, strict=True))
    driver.plane.call("set_replication", group="db.g", replication=1)
    assert driver.placed() == before


def test_a_group_that_was_made_before_there_were_hosts_gets_them(plane: Plane) -> None:
    plane.hosts = ()
    plane.create("db.t", buckets=2)
    driver = Driver(plane)
    assert driver.placed() == [[], []]
    driver.look("a", "b")
    assert sorted(driver.placed()) == [["a"], ["b"]]


def test_a_catalog_without_groups_is_left_alone(plane: Plane) -> None:
    Driver(plane).look("a")
    assert plane.service.version() == 0


def test_a_group_is_stable_if_all_its_buckets_are(driver: Driver) -> None:
    plane = driver.plane

    def stable() -> list[bool]:
        found = plane.call("stable_buckets", group_id="10001.10002")
        assert plane.group("db.g")["is_stable"] is all(found)
        return found  # type: ignore[no-any-return]

    assert stable() == [True] * 6
    plane.call("set_config", key="disable_colocate_relocate", value="true")
    driver.look_for(GRACE + 30, "a", "b")
    assert stable() == [entry != ["c"] for entry in driver.placed()]
    plane.call("set_group_stable", group="db.g", stable=False)
    assert stable() == [False] * 6
    plane.call("set_group_stable", group="db.g", stable=True)
    driver.look_for(GRACE + 30)
    assert stable() == [False] * 6  # no host lives
    driver.look("a", "b", "c")
    assert stable() == [True] * 6
