"""The verb `doctor` as the driver calls it, on every store."""

from typing import Any

from tests.contract.plane import HOUR, Clock, Plane, keys


def codes(plane: Plane, **args: Any) -> list[str]:
    return [one["code"] for one in plane.call("doctor", **args) if one["code"] != "STORE_OF_ONE_HOST"]


def looked_at(name: str, group: str = "g", **seen: Any) -> dict[str, Any]:
    """A table as the driver describes it."""
    db, table = name.split(".")
    declared = {"db": db, "table": table, "group": group, "format": "delta", "keys": keys("k int"), "buckets": 4}
    files = {"files": [], "strays": 0, "strayBytes": 0, "unchecked": 0, "hasKeyModel": False, "isPlain": True}
    return {**declared, **files, **seen}


def pair(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")


def test_nothing_is_wrong_where_there_is_no_store_yet(plane: Plane) -> None:
    assert plane.call("doctor") == []
    assert codes(plane, tables=[looked_at("db.a", "")]) == []


def test_a_group_is_listed_when_it_was_unstable_for_an_hour(plane: Plane, clock: Clock) -> None:
    pair(plane)
    for _ in range(2):
        clock.now += HOUR
        plane.call("set_group_stable", group="db.g", stable=False)
        assert codes(plane) == []
        clock.now += HOUR - 1
        assert codes(plane) == []
        clock.now += 1
        assert codes(plane) == ["GROUP_NOT_STABLE"]
        plane.call("set_group_stable", group="db.g", stable=True)
        assert codes(plane) == []


def test_the_hour_is_a_setting(plane: Plane) -> None:
    plane.create("db.a")
    assert codes(plane) == []
    plane.settings = {"spark.colocate.doctor.minAge": "0"}
    assert codes(plane) == ["GROUP_OF_ONE_TABLE"]
    assert codes(plane, db="other") == []


def test_tables_are_compared_with_the_registry(plane: Plane) -> None:
    pair(plane)
    assert codes(plane, tables=[looked_at("db.a"), looked_at("db.b")]) == []
    assert codes(plane, tables=[looked_at("db.a")]) == ["TABLE_GONE"]
    assert codes(plane, tables=[looked_at("db.a")], unread=[{"db": "db", "table": "b"}]) == []
    assert codes(plane, tables=[], databases=["other"]) == []
    assert codes(plane, tables=[looked_at(f"db.{name}") for name in "abc"]) == ["TABLE_NOT_REGISTERED"]
    assert codes(plane, tables=[looked_at("db.a", "h"), looked_at("db.b")]) == ["TABLE_NOT_REGISTERED"]


def test_a_table_that_joins_while_the_driver_looks_is_not_missing(plane: Plane) -> None:
    pair(plane)
    before = plane.service.version()
    plane.create("db.c")
    plane.begin("db.d")
    tables = [looked_at("db.a"), looked_at("db.b")]
    assert codes(plane, tables=tables, version=before) == []
    assert codes(plane, tables=[*tables, looked_at("db.c"), looked_at("db.d")]) == []
    assert codes(plane, tables=tables) == ["TABLE_GONE"]


def test_files_are_told_by_bucket(plane: Plane) -> None:
    pair(plane)
    files = [{"bucket": 0, "files": 9, "bytes": 900, "tablets": 1, "uncompacted": 0}]
    assert codes(plane, tables=[looked_at("db.a", files=files), looked_at("db.b", strays=1, strayBytes=9)]) == [
        "STRAYS",
        "SMALL_FILES",
    ]


def test_a_group_in_its_recycle_period_is_not_looked_at(plane: Plane, clock: Clock) -> None:
    plane.create("db.a")
    plane.drop("db.a")
    clock.now += HOUR
    assert codes(plane, tables=[]) == []
