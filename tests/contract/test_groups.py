"""The life of groups and members, the same on every store."""

from collections.abc import Callable

import pytest
from spark_colocate.store import CatalogId, Store

from tests.contract.plane import HOUR, Clock, Plane, Refused, keys


def test_the_first_table_makes_the_group_and_sets_its_schema(plane: Plane) -> None:
    plane.create("db.a", keys=keys("k int; v varchar(10)"), buckets=16)
    assert plane.members() == {"db.a": "db.g"}
    made = plane.group("db.g")
    assert (made["buckets"], made["key_types"], made["replication"]) == (16, ["int", "string"], 1)
    assert (made["layout_stable"], made["placement_stable"], made["is_stable"]) == (True, True, True)


def test_ids_come_from_one_counter_as_in_doris(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")
    listed = plane.call("show_proc", path="/colocation_group")
    assert [name for name, _type in listed["columns"]] == [
        "GroupId", "GroupName", "TableIds", "BucketsNum", "ReplicationNum", "DistCols", "IsStable",
    ]  # fmt: skip
    assert listed["rows"] == [["10001.10002", "10001_g", "10004, 10006", 4, 1, "int", True]]


def test_show_proc_of_a_group_lists_the_backends_of_each_bucket(plane: Plane) -> None:
    plane.hosts = ("host-c", "host-a", "host-b")
    plane.create("db.a", replication=2)
    listed = plane.call("show_proc", path="/colocation_group/10001.10002")
    assert [name for name, _type in listed["columns"]] == ["BucketIndex", "BackendIds"]
    hosts = {row["backend_id"]: row["host"] for row in plane.call("rows", table="colocation_hosts")}
    placed = [[hosts[int(b)] for b in backends.split(", ")] for _bucket, backends in listed["rows"]]
    assert placed == [["host-a", "host-b"], ["host-b", "host-c"], ["host-c", "host-a"], ["host-a", "host-b"]]
    assert plane.call("bucket_hosts", group_id="10001.10002") == placed


BEYOND_64_BITS = ("9223372036854775808.1", f"10001.{10**19}", f"{'9' * 5000}.1")


@pytest.mark.parametrize("group", ["10001.10003", "10001", "db.g", "", "a\0.1", *BEYOND_64_BITS])
def test_a_group_id_that_there_is_not_is_refused(plane: Plane, group: str) -> None:
    for _ in range(2):  # without a store, and with one
        with pytest.raises(Refused, match="There is no group with GroupId") as refused:
            plane.call("bucket_hosts", group_id=group)
        assert refused.value.code == "GROUP_UNKNOWN"
        plane.create("db.a")


@pytest.mark.parametrize("group", ["db.", ".g", "a\0b", "d\0.g", "__global__\0", "\ud800", *BEYOND_64_BITS])
def test_a_text_that_no_store_can_look_up_names_no_group(plane: Plane, group: str) -> None:
    plane.create("db.a")
    with pytest.raises(Refused, match="There is no group") as refused:
        plane.call("set_group_stable", group=group, stable=False, db="db")
    assert refused.value.code == "GROUP_UNKNOWN"


def test_of_many_groups_an_unknown_one_names_the_nearest(plane: Plane) -> None:
    for number in range(30):
        plane.create(f"db{number % 3}.t{number}", f"orders_{number}")
    names = r"nearest of 30 groups: db1\.orders_13, [^,]*, [^,]*\)"
    with pytest.raises(Refused, match=rf"no group db0\.orders_13 \({names}"):
        plane.call("set_group_stable", group="db0.orders_13", stable=False, db="db0")
    near = plane.group("db1.orders_13")["group_id"]
    with pytest.raises(Refused, match=rf"GroupId {near}0 \(nearest of 30 GroupIds: {near}, [^,]*, [^,]*\)"):
        plane.call("bucket_hosts", group_id=f"{near}0")


def test_a_global_group_has_database_id_0_and_takes_tables_of_every_database(plane: Plane) -> None:
    plane.create("db1.a", "__global__g")
    plane.create("db2.a", "__global__g")
    [row] = plane.call("show_proc", path="/colocation_group")["rows"]
    assert row[0].startswith("0.")
    assert row[1] == "__global__g"
    assert plane.members() == {"db1.a": "__global__g", "db2.a": "__global__g"}


def test_groups_of_one_name_in_two_databases_are_two_groups(plane: Plane) -> None:
    plane.create("db1.a", buckets=4)
    plane.create("db2.a", buckets=8)
    assert plane.groups() == ["db1.g", "db2.g"]


def test_names_are_folded_as_the_catalog_does(plane: Plane) -> None:
    plane.create("DB.Orders")
    assert plane.members() == {"db.orders": "db.g"}


def test_a_group_that_differs_in_case_only_is_new_and_noted(plane: Plane) -> None:
    plane.create("db.a", "g")
    assert plane.begin("db.b", "G")["notes"] == ["Group db.G is new; db.g differs from it in case only."]
    plane.create("other.a", "G")  # another database's groups are its own
    assert plane.begin("third.a", "g")["notes"] == []


def test_a_group_of_a_database_that_differs_from_a_global_one_in_case_only_is_noted(plane: Plane) -> None:
    plane.create("db.a", "__global__g")
    noted = "Group db.__GLOBAL__g is new; __global__g differs from it in case only."
    assert plane.begin("db.b", "__GLOBAL__g")["notes"] == [noted]


def test_an_aborted_statement_leaves_nothing_that_can_be_seen(plane: Plane) -> None:
    plane.create("db.a", "g")
    before = plane.dump()
    plane.finish(plane.begin("db.b", "other", buckets=99), "abort")
    assert plane.dump() == before


def test_a_group_that_was_only_begun_is_in_no_listing_and_no_snapshot(plane: Plane) -> None:
    plane.begin("db.a")
    assert plane.groups() == []
    assert plane.snapshot is not None
    assert (plane.snapshot["groups"], plane.snapshot["members"]) == ([], [])


def test_a_refused_statement_changes_nothing(plane: Plane) -> None:
    plane.create("db.a")
    before = plane.dump()
    with pytest.raises(Refused):
        plane.begin("db.b", buckets=5)
    assert plane.dump() == before
    assert plane.call("begin_drop", db="db", table="b")["ticket"] == ""


def test_a_table_moves_to_another_group_and_keeps_its_id(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")
    [before] = [row["table_id"] for row in plane.call("table_rows") if row["table"] == "b"]
    plane.alter("db.b", "g2")
    [after] = [row["table_id"] for row in plane.call("table_rows") if row["table"] == "b"]
    assert plane.members() == {"db.a": "db.g", "db.b": "db.g2"}
    assert before == after


def test_an_empty_name_leaves_the_group_and_the_last_one_ends_it_at_once(plane: Plane) -> None:
    plane.create("db.a")
    plane.alter("db.a", "")
    assert plane.members() == {}
    assert plane.groups() == []


def test_the_oldest_child_becomes_the_parent(plane: Plane) -> None:
    for table in ("db.a", "db.b", "db.c"):
        plane.create(table)
    assert roles(plane) == {"a": "parent", "b": "child", "c": "child"}
    plane.drop("db.a")
    assert roles(plane) == {"b": "parent", "c": "child"}
    assert "db.a -> db.b" in [row["detail"] for row in plane.call("rows", table="colocation_audit")]


def test_a_replaced_parent_stays_the_parent(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")
    plane.create("db.a", replace=True)
    assert roles(plane) == {"a": "parent", "b": "child"}


def roles(plane: Plane) -> dict[str, str]:
    return {row["table"]: row["role"] for row in plane.call("table_rows")}


def test_a_group_without_tables_keeps_its_schema_for_the_recycle_period(plane: Plane, clock: Clock) -> None:
    plane.create("db.a")
    plane.drop("db.a")
    assert plane.group("db.g")["recycled_until"] == "2027-01-16T08:00:00+00:00"
    with pytest.raises(Refused, match=r"keeps its schema until 2027-01-16 08:00:00 UTC") as refused:
        plane.begin("db.b", buckets=8)
    assert refused.value.code == "GROUP_IN_RECYCLE"
    clock.now += 23 * HOUR
    plane.create("db.b", buckets=4)
    assert plane.group("db.g")["recycled_until"] is None


def test_a_group_comes_back_from_recycle_under_its_old_id_and_flag(plane: Plane) -> None:
    plane.create("db.a")
    plane.call("set_group_stable", group="db.g", stable=False, db="")
    before = plane.group("db.g")["group_id"]
    plane.drop("db.a")
    plane.create("db.b")
    assert (plane.group("db.g")["group_id"], plane.group("db.g")["is_stable"]) == (before, False)


def test_after_the_recycle_period_the_name_is_free(plane: Plane, clock: Clock) -> None:
    plane.create("db.a")
    plane.drop("db.a")
    clock.now += 25 * HOUR
    assert plane.groups() == []
    plane.create("db.b", buckets=8)
    assert plane.group("db.g")["buckets"] == 8


def test_purge_ends_the_recycle_period(plane: Plane) -> None:
    plane.create("db.a")
    with pytest.raises(Refused, match=r"it has 1 tables \(db\.a\)"):
        plane.call("purge_group", group="g", db="db")
    plane.drop("db.a")
    assert plane.call("purge_group", group="g", db="db") == {"group": "db.g"}
    plane.create("db.b", buckets=8)


def test_drop_with_purge_and_a_recycle_period_of_0_end_the_group_at_once(plane: Plane) -> None:
    plane.create("db.a")
    plane.drop("db.a", purge=True)
    assert plane.groups() == []
    plane.settings = {"spark.colocate.recycle.period": "0"}
    plane.create("db.a")
    plane.drop("db.a")
    assert plane.groups() == []


def test_a_table_that_names_no_replication_number_takes_its_groups(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.moved", "h")
    plane.call("set_replication", group="g", replication=2, db="db")
    plane.create("db.b")
    plane.alter("db.moved", "g")
    plane.alter("db.late", "g")
    members = plane.members()
    assert {members[table] for table in ("db.a", "db.b", "db.moved", "db.late")} == {"db.g"}
    assert plane.group("db.g")["replication"] == 2
    with pytest.raises(Refused, match=r"replication numbers differ \(table: 1, group: 2\)"):
        plane.begin("db.c", replication=1)


def test_reconcile_takes_the_groups_replication_number_too(plane: Plane) -> None:
    plane.create("db.a")
    plane.call("set_replication", group="g", replication=2, db="db")
    tables = [
        {"db": "db", "table": t, "group": "g", "format": "delta", "keys": keys("k int"), "buckets": 4} for t in "ab"
    ]
    changed = plane.call("reconcile", tables=tables, version=None, databases=None)["changed"]
    assert [(change["table"], change["action"]) for change in changed] == [("b", "joined")]


def test_a_group_ends_at_once_when_its_last_table_leaves_by_alter(plane: Plane) -> None:
    plane.create("db.a")
    plane.alter("db.a", "")
    assert plane.groups() == []
    plane.create("db.b", buckets=8)


def test_create_or_replace_of_the_only_member_changes_the_schema(plane: Plane) -> None:
    plane.create("db.a", buckets=4)
    plane.create("db.a", buckets=8, replace=True)
    assert plane.group("db.g")["buckets"] == 8
    assert len(plane.call("show_proc", path="/colocation_group/10001.10002")["rows"]) == 8
    plane.create("db.b", buckets=8)
    with pytest.raises(Refused, match=r"bucket counts differ \(table: 16, group: 8\)"):
        plane.begin("db.a", buckets=16, replace=True)


def test_create_or_replace_without_a_group_leaves_it(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.a", "", replace=True)
    assert plane.members() == {}


def test_a_rename_keeps_the_membership(plane: Plane) -> None:
    plane.create("db.a")
    plane.rename("db.a", "db.b")
    assert plane.members() == {"db.b": "db.g"}
    plane.rename("db.unknown", "db.c")
    assert plane.members() == {"db.b": "db.g"}


def test_a_rename_onto_the_name_of_a_vanished_member_replaces_it(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b")
    plane.rename("db.a", "db.b")
    assert plane.members() == {"db.b": "db.g"}


def test_a_rename_into_another_database_needs_a_global_group(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b", "__global__x")
    with pytest.raises(Refused, match=r"its group db\.g belongs to database db"):
        plane.rename("db.a", "db2.a")
    plane.rename("db.b", "db2.b")
    assert plane.members()["db2.b"] == "__global__x"


def test_a_dropped_database_takes_its_groups_along(plane: Plane) -> None:
    plane.create("db.a")
    plane.create("db.b", "__global__x")
    plane.create("db2.b", "__global__x")
    plane.create("db2.c", buckets=8)
    plane.call("drop_database", db="db")
    assert plane.members() == {"db2.b": "__global__x", "db2.c": "db2.g"}
    assert plane.groups() == ["__global__x", "db2.g"]


def test_the_flag_is_in_the_reply_snapshot(plane: Plane) -> None:
    plane.create("db.a")
    for name, db in (("db.g", ""), ("g", "db"), ("10001.10002", "")):
        assert plane.call("set_group_stable", group=name, stable=False, db=db) == {"group": "db.g"}
        assert plane.snapshot is not None
        assert plane.snapshot["groups"][0]["stable"] is False
        plane.call("set_group_stable", group=name, stable=True, db=db)
    with pytest.raises(Refused, match=r"There is no group nope \(groups: db\.g\)"):
        plane.call("set_group_stable", group="nope", stable=True, db="db")


def test_replication_is_changed_for_all_members_at_once(plane: Plane) -> None:
    plane.hosts = ("host-a", "host-b")
    plane.create("db.a")
    plane.create("db.b")
    answer = plane.call("set_replication", group="g", replication=2, db="db")
    assert answer == {"group": "db.g", "tables": [{"db": "db", "table": "a"}, {"db": "db", "table": "b"}]}
    assert plane.group("db.g")["replication"] == 2
    with pytest.raises(Refused, match=r"whose replication number is 2"):
        plane.begin("db.a", verb="begin_alter", replication=3)


def test_every_visible_change_moves_the_version_and_nothing_else_does(plane: Plane, store: Store) -> None:
    def version() -> int:
        return store.version(plane.catalog)

    plane.create("db.a")
    start = version()
    begun = plane.begin("db.b")
    assert version() == start
    plane.finish(begun)
    assert version() == start + 1
    plane.finish(plane.begin("db.c"), "abort")
    assert version() == start + 1
    plane.call("set_group_stable", group="db.g", stable=False, db="")
    assert version() == start + 2


def test_a_change_of_one_driver_is_in_the_next_snapshot_of_another(plane: Plane, another: Callable[..., Plane]) -> None:
    other = another()
    plane.create("db.a")
    other.call("table_rows")
    assert other.snapshot == plane.snapshot


def test_catalogs_in_one_store_do_not_see_each_other(plane: Plane, store: Store) -> None:
    foreign = Plane(store, catalog=CatalogId(plane.catalog.identity + "-foreign"))
    plane.create("db.a", buckets=4)
    foreign.create("db.a", buckets=8)
    assert plane.group("db.g")["buckets"] == 4
    assert foreign.group("db.g")["buckets"] == 8
    store.forget(foreign.catalog)
    assert foreign.groups() == []
    assert plane.groups() == ["db.g"]


def test_the_audit_log_tells_who_did_what(plane: Plane) -> None:
    plane.create("db.a")
    lines = [(row["who"], row["verb"], row["object"]) for row in plane.call("rows", table="colocation_audit")]
    assert lines == [
        ("tester", "join", "db.a"),
        ("tester", "group_created", "db.g"),
        ("tester", "host_added", "host-a"),
    ]
