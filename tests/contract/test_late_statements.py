"""Two drivers with a statement on the same table at the same time: only the catalog knows which one it did last."""

from collections.abc import Callable
from typing import Any

import pytest
from spark_colocate.service import LEASE_SECONDS

from tests.contract.plane import Clock, Plane, Refused
from tests.contract.test_reconcile import table

Another = Callable[..., Plane]


@pytest.fixture
def other(another: Another) -> Plane:
    """A second driver."""
    return another("other")


def settle(plane: Plane, *found: dict[str, Any], names: str) -> list[str]:
    wanted = [dict(zip(("db", "table"), name.split("."), strict=True)) for name in names.split()]
    answer = plane.call("settle", tables=list(found), names=wanted)
    return [f"{change['table']} {change['action']}" for change in answer["changed"]]


def test_a_driver_that_stood_still_changes_nothing_after_another_one(plane: Plane, other: Plane, clock: Clock) -> None:
    plane.create("db.a")
    late = plane.begin("db.a", "late", "begin_alter")
    clock.now += LEASE_SECONDS + 1
    assert not other.finish(other.begin("db.a", "newer", "begin_alter"))["follows"]  # The first may have been quicker.
    assert settle(other, table("db.a", "newer"), names="db.a") == ["a moved"]
    clock.now += LEASE_SECONDS + 1
    assert not plane.finish(late)["follows"]
    assert plane.members() == {"db.a": "db.newer"}
    assert settle(plane, table("db.a", "newer"), names="db.a") == []


def test_the_last_of_two_at_once_reads_what_the_catalog_has(plane: Plane, other: Plane) -> None:
    plane.create("db.a")
    one, two = plane.begin("db.a", "one", "begin_alter"), other.begin("db.a", "two", "begin_alter")
    assert [plane.finish(one)["follows"], other.finish(two)["follows"]] == [False, False]
    assert settle(other, table("db.a", "one"), names="db.a") == ["a moved"]
    assert plane.members() == {"db.a": "db.one"}


def test_a_table_that_another_driver_dropped_is_no_member_again(plane: Plane, other: Plane) -> None:
    plane.create("db.a")
    late = plane.begin("db.a", "g", "begin_alter")
    other.drop("db.a")
    assert not plane.finish(late)["follows"]
    assert settle(plane, names="db.a") == ["a left"]
    assert plane.members() == {}


def test_a_table_that_another_driver_renamed(plane: Plane, other: Plane) -> None:
    plane.create("db.a")
    late = plane.begin("db.a", "late", "begin_alter")
    other.rename("db.a", "db.b")
    settle(other, table("db.b", "late"), names="db.a db.b")
    assert not plane.finish(late)["follows"]
    assert settle(plane, names="db.a") == []
    assert plane.members() == {"db.b": "db.late"}


def test_settling_leaves_all_other_tables_alone(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")
    assert settle(plane, table("db.c"), names="db.c") == ["c joined"]
    assert set(plane.members()) == {"db.a", "db.b", "db.c"}


def test_the_outcome_may_be_reported_again(plane: Plane, other: Plane) -> None:
    plane.create("db.a")
    late = plane.begin("db.a", "late", "begin_alter")
    other.finish(other.begin("db.a", "newer", "begin_alter"))
    assert [plane.finish(late)["follows"] for _ in range(2)] == [False, False]


def test_one_driver_alone_needs_no_catalog(plane: Plane, other: Plane, clock: Clock) -> None:
    plane.create("db.a")
    clock.now += 120
    other.create("db.b")
    assert other.finish(other.begin("db.a", "g2", "begin_alter"))["follows"]
    assert other.finish(other.begin("db.a", "g3", "begin_alter"))["follows"]
    assert other.finish(other.begin("db.a", "g4", "begin_alter"), "abort")["follows"]


def test_a_table_that_does_not_fit_any_more_is_not_made(plane: Plane, other: Plane, clock: Clock) -> None:
    late = plane.begin("db.a", buckets=4)
    clock.now += LEASE_SECONDS + 1
    other.create("db.b", buckets=8)
    with pytest.raises(Refused, match=r"bucket counts differ \(table: 4, group: 8\)"):
        plane.call("hold", ticket=late["ticket"])
    plane.finish(late, "abort")
    assert plane.members() == {"db.b": "db.g"}


def test_a_statement_that_is_held_reserves_its_group_anew(plane: Plane, other: Plane, clock: Clock) -> None:
    late = plane.begin("db.a", buckets=4)
    clock.now += LEASE_SECONDS + 1
    plane.call("hold", ticket=late["ticket"])
    with pytest.raises(Refused, match="is just being changed"):
        other.begin("db.b", buckets=8)


def test_a_statement_without_a_ticket_is_not_made(plane: Plane) -> None:
    plane.create("db.b")
    with pytest.raises(Refused, match="the store holds no such ticket"):
        plane.call("hold", ticket="feed")


def test_a_statement_that_another_driver_began_long_ago_and_still_runs_counts(
    plane: Plane, other: Plane, clock: Clock
) -> None:
    plane.create("db.a")
    other.begin("db.a", "other", "begin_alter")
    clock.now += 600
    assert not plane.finish(plane.begin("db.a", "late", "begin_alter"))["follows"]


def test_a_table_that_another_driver_has_given_the_name(plane: Plane, other: Plane, clock: Clock) -> None:
    plane.create("db.a")
    late = plane.begin("db.b", "late")
    clock.now += LEASE_SECONDS + 1
    other.rename("db.a", "db.b")
    assert not plane.finish(late)["follows"]
