"""What happens between begin and finish: reservations, lost answers, dead drivers."""

from collections.abc import Callable

import pytest
from spark_colocate.service import LEASE_SECONDS

from tests.contract.plane import HOUR, Clock, Plane, Refused

Another = Callable[..., Plane]


def test_a_statement_under_way_reserves_its_schema(plane: Plane, another: Another) -> None:
    first = plane.begin("db.a", buckets=4)
    with pytest.raises(Refused, match=r"Group db\.g is just being changed by a statement on db\.a") as refused:
        another().begin("db.b", buckets=8)
    assert refused.value.code == "GROUP_BUSY"
    plane.finish(first, "abort")
    another().create("db.b", buckets=8)
    assert plane.group("db.g")["buckets"] == 8


def test_two_statements_of_the_same_schema_share_the_new_group(plane: Plane, another: Another) -> None:
    first, second = plane.begin("db.a"), another().begin("db.b")
    plane.finish(first, "abort")
    plane.finish(second)
    assert plane.members() == {"db.b": "db.g"}


def test_a_table_that_is_joining_stops_the_only_member_from_redefining_the_group(
    plane: Plane, another: Another
) -> None:
    plane.create("db.a", buckets=4)
    other = another()
    joining = other.begin("db.b", buckets=4)
    with pytest.raises(Refused) as refused:
        plane.begin("db.a", buckets=8, replace=True)
    assert refused.value.code == "GROUP_BUSY"
    other.finish(joining)
    assert plane.members() == {"db.a": "db.g", "db.b": "db.g"}


def test_a_driver_that_died_holds_nothing(plane: Plane, another: Another) -> None:
    plane.begin("db.a", buckets=4)
    other = another(gone={"driver"})
    other.create("db.b", buckets=8)
    assert other.group("db.g")["buckets"] == 8
    assert other.members() == {"db.b": "db.g"}


def test_a_lease_that_ends_frees_the_name_where_the_driver_cannot_be_asked(
    plane: Plane, another: Another, clock: Clock
) -> None:
    late = plane.begin("db.a", buckets=4)
    clock.now += LEASE_SECONDS + 1
    other = another()
    other.create("db.b", buckets=8)
    with pytest.raises(Refused, match=r"bucket counts differ \(table: 4, group: 8\)"):
        plane.finish(late)
    assert other.members() == {"db.b": "db.g"}


def test_a_renewed_lease_holds(plane: Plane, another: Another, clock: Clock) -> None:
    long = plane.begin("db.a", buckets=4)
    for _ in range(10):
        clock.now += LEASE_SECONDS / 3
        plane.service.renew()
    with pytest.raises(Refused):
        another().begin("db.b", buckets=8)
    plane.finish(long)
    assert plane.members() == {"db.a": "db.g"}


def test_another_process_of_the_same_driver_ends_the_statement(plane: Plane, another: Another) -> None:
    begun = plane.begin("db.a")
    restarted = another("driver")
    restarted.finish(begun)
    assert restarted.members() == {"db.a": "db.g"}


def test_finish_may_be_repeated(plane: Plane) -> None:
    begun = plane.begin("db.a")
    plane.finish(begun)
    before = plane.dump()
    plane.finish(begun)
    plane.finish(begun, "abort")
    assert plane.dump() == before
    dropped = plane.begin("db.b")
    plane.finish(dropped, "abort")
    plane.finish(dropped, "abort")
    assert plane.dump() == before


def test_a_commit_that_the_store_knows_nothing_of_is_an_error(plane: Plane) -> None:
    plane.create("db.a")
    with pytest.raises(Refused, match=r"the store holds no such ticket") as refused:
        plane.finish({"ticket": "feed"})
    assert refused.value.code == "TICKET_UNKNOWN"


def test_old_tickets_are_swept_away(plane: Plane, clock: Clock) -> None:
    committed = plane.begin("db.a")
    plane.finish(committed)
    plane.begin("db.b")
    clock.now += 2 * HOUR
    plane.begin("db.c")
    with plane.store.read(plane.catalog) as tx:
        assert [ticket.intent.table.table for ticket in tx.open_tickets()] == ["c"]
        assert tx.ticket(committed["ticket"]) is None
