"""The tables' properties are the truth: what other sessions did is mended."""

from collections.abc import Callable
from typing import Any

from tests.contract.plane import Plane, keys


def table(name: str, group: str = "g", **more: Any) -> dict[str, Any]:
    db, bare = name.split(".")
    given = {"format": "delta", "keys": keys("k int"), "buckets": 4, "replication": None, "location": f"file:/w/{name}"}
    return {"db": db, "table": bare, "group": group, **given, **more}


def changed(plane: Plane, *tables: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    answer = plane.call("reconcile", tables=list(tables), **more)
    return [(f"{c['db']}.{c['table']}", c["action"]) for c in answer["changed"]]


def test_a_table_that_was_dropped_elsewhere_leaves(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")
    assert changed(plane, table("db.b")) == [("db.a", "left")]
    assert plane.members() == {"db.b": "db.g"}


def test_a_clone_that_brought_the_property_along_joins(plane: Plane) -> None:
    plane.create("db.a")
    assert changed(plane, table("db.a"), table("db.copy")) == [("db.copy", "joined")]
    assert plane.members() == {"db.a": "db.g", "db.copy": "db.g"}


def test_a_table_that_does_not_fit_is_reported_and_stays_out(plane: Plane) -> None:
    plane.create("db.a")
    [change] = plane.call("reconcile", tables=[table("db.a"), table("db.b", buckets=8)])["changed"]
    assert (change["table"], change["action"]) == ("b", "conflict")
    assert "bucket counts differ (table: 8, group: 4)" in change["message"]
    assert plane.members() == {"db.a": "db.g"}


def test_a_property_that_was_changed_elsewhere_moves_the_table(plane: Plane) -> None:
    plane.create("db.a")
    assert changed(plane, table("db.a", "g2")) == [("db.a", "moved")]
    assert plane.members() == {"db.a": "db.g2"}


def test_a_second_pass_changes_nothing(plane: Plane) -> None:
    tables = [table("db.a"), table("db.b"), table("db2.c", "__global__x")]
    assert len(changed(plane, *tables)) == 3
    before = plane.dump()
    assert changed(plane, *tables) == []
    assert plane.dump() == before


def test_only_the_databases_that_were_listed_are_compared(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db2.a")
    assert changed(plane, databases=["db"]) == [("db.a", "left")]
    assert plane.members() == {"db2.a": "db2.g"}


def test_a_table_that_joined_after_the_listing_began_stays(plane: Plane) -> None:
    plane.create("db.a")
    assert plane.snapshot is not None
    listed_at = plane.snapshot["version"]
    plane.create("db.b")
    assert changed(plane, table("db.a"), version=listed_at) == []
    assert plane.members() == {"db.a": "db.g", "db.b": "db.g"}


def test_a_table_that_could_not_be_looked_at_stays(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")
    assert changed(plane, unread=[{"db": "db", "table": "B"}]) == [("db.a", "left")]


def test_a_statement_under_way_is_left_alone(plane: Plane, another: Callable[..., Plane]) -> None:
    plane.create("db.a")
    begun = plane.begin("db.a", "g2", "begin_alter")
    assert changed(another(), table("db.b")) == [("db.b", "joined")]
    plane.finish(begun)
    assert plane.members() == {"db.b": "db.g", "db.a": "db.g2"}


def test_a_driver_that_died_after_its_table_was_made_is_mended(plane: Plane, another: Callable[..., Plane]) -> None:
    plane.begin("db.a")
    other = another(gone={"driver"})
    assert changed(other, table("db.a")) == [("db.a", "joined")]


def test_without_a_store_and_without_members_nothing_is_made(plane: Plane) -> None:
    assert changed(plane, table("db.plain", "")) == []
