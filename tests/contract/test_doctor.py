"""The verb `doctor` as the driver calls it, on every store."""

from typing import Any

from spark_colocate.model import TableName

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


def test_a_table_is_listed_when_no_verify_has_read_it_for_a_month(plane: Plane, clock: Clock) -> None:
    pair(plane)
    month = 30 * 24 * HOUR
    clock.now += month - 1
    assert codes(plane) == []
    clock.now += 1
    assert codes(plane) == ["NOT_VERIFIED"] * 2
    assert codes(plane, db="other") == []
    plane.service.note_verified(TableName("db", "a"), "sample", clock.now)
    plane.service.note_verified(TableName("db", "b"), "sample", clock.now)
    assert codes(plane) == []
    plane.create("db.c")
    clock.now += month - 1
    plane.create("db.b", replace=True)
    clock.now += 1
    found = plane.call("doctor")
    assert [one["object"] for one in found if one["code"] == "NOT_VERIFIED"] == ["db.a", "db.c"], "b was made anew"
    assert "since 2027-02-14" in found[0]["finding"] and "ever" in found[1]["finding"]
    plane.settings = {"spark.colocate.doctor.verifyAge": "8640000"}
    assert codes(plane) == []


def test_a_table_that_was_made_anew_during_a_verify_was_not_verified(plane: Plane, clock: Clock) -> None:
    pair(plane)
    began = clock.now
    clock.now += 1
    plane.create("db.b", replace=True)
    for table in "ab":
        plane.service.note_verified(TableName("db", table), "rows", began)
    assert [row["verified_mode"] for row in plane.call("table_rows")] == ["rows", None]


def test_what_can_not_be_read_is_told_of_members_and_bucketed_tables(plane: Plane) -> None:
    pair(plane)
    tables = [looked_at("db.a")]
    why = {"why": "[KEY_MODEL_COLUMN] No."}
    assert codes(plane, tables=tables, unread=[{"db": "db", "table": "b", **why}]) == ["TABLE_UNREADABLE"]
    readable = {"db": "db", "table": "c", **why, "isBucketed": True, "readable": 3}
    other = {"db": "db", "table": "d", **why}
    found = plane.call("doctor", tables=[*tables, looked_at("db.b")], unread=[readable, other])
    assert found[0]["cure"] == "RESTORE TABLE db.c TO VERSION AS OF 3"
    assert found[0]["finding"].startswith("queries can't read the table: [KEY_MODEL_COLUMN] No. Version 3 is the last")
    assert [one["object"] for one in found if one["severity"] == "error"] == ["db.c"]


def test_a_folder_of_no_table_is_told_when_it_is_old_and_no_statement_makes_its_table(
    plane: Plane, clock: Clock
) -> None:
    pair(plane)
    tables = [looked_at("db.a"), looked_at("db.b")]

    def told(name: str, age: float) -> list[str]:
        left = {"db": "db", "table": name, "path": f"/w/{name}", "files": 1, "bytes": 9, "modified": clock.now - age}
        allowed = plane.call("leftovers", leftovers=[left])
        found = codes(plane, tables=tables, leftovers=[left])
        assert [one["path"] for one in allowed] == [f"/w/{name}"] * len(found)
        return found

    assert told("c", HOUR) == ["LEFTOVER_FOLDER"]
    assert told("c", HOUR - 1) == []
    assert told("a", HOUR) == []
    begun = plane.begin("db.c")
    assert told("c", HOUR) == []
    plane.finish(begun, "abort")
    assert told("c", HOUR) == ["LEFTOVER_FOLDER"]


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
