"""A bucket sequence that an operator sets, on every store."""

import pytest
from spark_colocate.errors import Code, GroupError
from spark_colocate.service import Request

from tests.contract.plane import Plane

WHO = Request(who="ops")


@pytest.fixture
def ids(plane: Plane) -> list[int]:
    """The backend ids of three hosts; group db.g has 4 buckets with two hosts each."""
    plane.hosts = ("host-a", "host-b", "host-c")
    plane.create("db.a", replication=2)
    return [host.backend_id for host in plane.service.hosts()]


def _sequence(plane: Plane) -> list[list[int]]:
    group = plane.service.groups()[0].group
    return [[host.backend_id for host in placed.hosts] for placed in plane.service.placement(group.id)]


def test_it_is_kept_in_its_order_and_other_drivers_see_it(plane: Plane, ids: list[int]) -> None:
    a, b, c = ids
    wanted = [[c, a], [b, a], [a, c], [c, b]]
    version = plane.service.version()
    changed = plane.service.set_sequence("db.g", wanted, "", WHO)
    assert str(changed.group) == "db.g"
    assert _sequence(plane) == wanted
    assert plane.service.version() == version + 1
    line = plane.service.audit(1)[0]
    assert (line.who, line.verb, line.object, line.detail) == ("ops", "set_sequence", "db.g", "4 buckets")
    plane.service.set_sequence("db.g", wanted, "", WHO)
    assert plane.service.version() == version + 1 and plane.service.audit(1) == [line]


def test_it_warns_while_the_system_may_change_it_again(plane: Plane, ids: list[int]) -> None:
    wanted = [[ids[0], ids[1]]] * 4
    keys = ("disable_colocate_balance", "disable_colocate_relocate")
    assert plane.service.set_sequence("db.g", wanted, "", WHO).warnings == (
        f"The sequence may be changed again by the system: {keys[0]} and {keys[1]} are false. Set to true to keep it.",
    )
    plane.service.set_config(keys[0], "true", WHO)
    (warning,) = plane.service.set_sequence("db.g", wanted, "", WHO).warnings
    assert f"system: {keys[1]} is false." in warning
    plane.service.set_config(keys[1], "true", WHO)
    assert plane.service.set_sequence("db.g", wanted, "", WHO).warnings == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda s: s[:3], "it has 3 buckets, and the group has 4"),
        (lambda s: [*s, s[0]], "it has 5 buckets, and the group has 4"),
        (lambda s: [], "it has 0 buckets, and the group has 4"),
        (lambda s: [[1, s[0][1]], *s[1:]], "bucket 0 names host 1, and the living hosts are "),
        (lambda s: [*s[:3], [s[0][0], 10**30]], f"bucket 3 names host {10**30}, and the living hosts are "),
        (lambda s: [*s[:2], [s[0][0]] * 2, s[3]], "bucket 2 names a host twice "),
        (lambda s: [*s[:3], s[3][:1]], "bucket 3 has 1 hosts, and the group needs 2 (replication 2, 3 hosts)"),
        (lambda s: [*s[:3], []], "bucket 3 has 0 hosts, and the group needs 2"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(plane: Plane, ids: list[int], change, why: str) -> None:  # type: ignore[no-untyped-def]
    before = (_sequence(plane), plane.service.version(), plane.dump())
    with pytest.raises(GroupError) as refused:
        plane.service.set_sequence("db.g", change(before[0]), "", WHO)
    assert refused.value.code is Code.SEQUENCE_INVALID
    assert f"group db.g: {why}" in str(refused.value) and "colocate hosts" in str(refused.value)
    assert (_sequence(plane), plane.service.version(), plane.dump()) == before


def test_with_fewer_hosts_than_the_replication_number_each_bucket_has_them_all(plane: Plane) -> None:
    plane.hosts = ("host-a", "host-b")
    plane.create("db.a", replication=5)
    a, b = (host.backend_id for host in plane.service.hosts())
    plane.service.set_sequence("db.g", [[b, a]] * 4, "", WHO)
    assert _sequence(plane) == [[b, a]] * 4
    with pytest.raises(GroupError, match=r"the group needs 2 \(replication 5, 2 hosts\)"):
        plane.service.set_sequence("db.g", [[b]] * 4, "", WHO)


def test_an_unknown_group_is_named(plane: Plane) -> None:
    with pytest.raises(GroupError, match="There is no group nope"):
        plane.service.set_sequence("nope", [[1]], "", WHO)
