"""A driver is sent what changed after its version; put together, that is what a new driver is sent at once."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from spark_colocate.bridge import wire
from spark_colocate.store import transaction

from tests.contract.plane import HOUR, Plane, Refused


class Driver:
    """Applies messages as the JVM does (GroupSnapshot.after)."""

    def __init__(self) -> None:
        self.version = 0
        self.groups: dict[str, Any] = {}
        self.members: dict[tuple[str, str], Any] = {}

    def receive(self, plane: Plane) -> dict[str, Any]:
        message: dict[str, Any] = wire.snapshot_json(plane.service.snapshot(self.version or None))
        if message["since"] is None:
            self.groups, self.members = {}, {}
        for name in message["ended"]:
            self.groups.pop(name, None)
        for entry in message["left"]:
            self.members.pop((entry["db"], entry["table"]), None)
        self.groups |= {group["name"]: group for group in message["groups"]}
        self.members |= {(member["db"], member["table"]): member for member in message["members"]}
        self.version = message["version"]
        return message

    def knows(self) -> Any:
        return self.version, self.groups, self.members


def test_changes_put_together_are_the_whole(plane: Plane) -> None:
    choice = random.Random(7)
    patient, eager = Driver(), Driver()
    plane.create("db0.t0")
    for step in range(120):
        _some_statement(plane, choice)
        eager.receive(plane)
        if step % 9 == 0:
            patient.receive(plane)
            new = Driver()
            new.receive(plane)
            assert patient.knows() == new.knows()
            assert eager.knows() == new.knows()


def _some_statement(plane: Plane, choice: random.Random) -> None:
    table, group = f"db{choice.randrange(2)}.t{choice.randrange(5)}", choice.choice(["g", "h", "__global__g"])
    db = table.split(".", maxsplit=1)[0]
    statements: list[Callable[[], Any]] = [
        lambda: plane.create(table, group, buckets=choice.choice([4, 8])),
        lambda: plane.create(table, "", keys=[], buckets=0),
        lambda: plane.alter(table, group),
        lambda: plane.drop(table, purge=choice.random() < 0.5),
        lambda: plane.rename(table, f"{db}.t{choice.randrange(5)}"),
        lambda: plane.call("set_group_stable", group=group, db=db, stable=choice.random() < 0.5),
        lambda: plane.call("set_replication", group=group, db=db, replication=choice.choice([1, 2])),
        lambda: plane.call("purge_group", group=group, db=db),
        lambda: plane.call("drop_database", db=db),
    ]
    weights = [12, 2, 4, 4, 3, 3, 2, 2, 1]
    try:
        choice.choices(statements, weights)[0]()
    except Refused:
        """Some do not fit; what they leave behind is what is looked at."""
    plane.clock.now += choice.choice([1.0, HOUR])


def test_only_what_changed_is_sent(plane: Plane) -> None:
    driver = Driver()
    for number in range(20):
        plane.create(f"db.t{number}", f"g{number % 4}")
    driver.receive(plane)
    assert driver.receive(plane)["members"] == []
    plane.create("db.new", "g1")
    message = driver.receive(plane)
    assert ([g["name"] for g in message["groups"]], [m["table"] for m in message["members"]]) == (["db.g1"], ["new"])
    plane.drop("db.new")
    message = driver.receive(plane)
    assert message["left"] == [{"db": "db", "table": "new"}]
    assert (message["groups"], message["members"], message["ended"]) == ([], [], [])


def test_a_driver_whose_version_is_too_old_is_sent_everything(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "KEPT_REMOVALS", 3)
    plane.create("db.stays")
    late, early = Driver(), Driver()
    late.receive(plane)
    early.receive(plane)
    for number in range(6):
        plane.create(f"db.t{number}")
        plane.drop(f"db.t{number}")
        assert early.receive(plane)["since"] is not None
    message = late.receive(plane)
    assert message["since"] is None
    assert late.knows() == early.knows()


def test_a_version_of_another_store_is_answered_with_everything(plane: Plane) -> None:
    plane.create("db.a")
    for version in (1, 10**15):
        driver = Driver()
        driver.version = version
        assert driver.receive(plane)["since"] is None
        assert list(driver.members) == [("db", "a")]
