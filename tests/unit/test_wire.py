"""The border to the JVM: names, defaults, faults."""

import json
from pathlib import Path

import pytest
from spark_colocate.catalogues import conf, reasons, settings
from spark_colocate.catalogues.rules import excluded
from spark_colocate.store import Store

from tests.contract.plane import Plane, Refused, keys


def test_an_unknown_verb_points_to_the_version(store: Store) -> None:
    with pytest.raises(Refused, match=r"no verb nope .* The jar and the Python package are of different versions") as e:
        Plane(store).call("nope")
    assert e.value.code == "VERB_UNKNOWN"


def test_a_fault_is_no_answer(store: Store) -> None:
    with pytest.raises(KeyError):
        Plane(store).call("begin_drop", db="db")


def test_names_keep_their_case_when_the_session_tells_cases_apart(store: Store) -> None:
    plane = Plane(store)
    for sensitive, name in ((True, "T"), (False, "t")):
        args = {"db": "db", "table": "T", "group": "g", "format": "delta", "keys": keys("k int"), "buckets": 2}
        reply = plane.endpoint.call("begin_create", json.dumps({**args, "context": {"caseSensitive": sensitive}}))
        plane.finish(json.loads(reply)["ok"])
        assert f"db.{name}" in plane.members()


def test_the_sessions_replication_counts_where_the_table_names_none(store: Store) -> None:
    plane = Plane(store, settings={"spark.colocate.replication": "2"})
    plane.create("db.a")
    assert plane.group("db.g")["replication"] == 2


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"buckets": 0}, "BUCKETS_INVALID"),
        ({"keys": keys("x int")}, "KEY_ABSENT"),
        ({"keys": keys("k int; k int")}, "KEY_DUPLICATE"),
        ({"keys": keys("f float")}, "KEY_TYPE_REFUSED"),
        ({"columns": [{"name": n, "type": "int"} for n in ("k", "_COLOCATE_BUCKET")]}, "COLUMN_RESERVED"),
        ({"format": "json"}, "FORMAT_REFUSED"),
        ({"group": "a b"}, "GROUP_NAME_INVALID"),
        ({"group": "g", "keys": [], "buckets": 0}, "CLUSTERED_BY_MISSING"),
        ({"group": "g", "liquid": True}, "LIQUID_CLUSTERING"),
        ({}, None),
        ({"keys": [], "buckets": 0}, None),
        ({"replication": "many"}, None),  # a number that counts in a group alone
    ],
)
def test_check_layout_needs_no_store_and_no_group(args: dict[str, object], code: str | None, store: Store) -> None:
    columns = [{"name": "k", "type": "int"}, {"name": "f", "type": "float"}]
    given = {"db": "db", "table": "a", "format": "delta", "keys": keys("k int"), "buckets": 4, "columns": columns}
    plane = Plane(store)
    if code is None:
        assert plane.call("check_layout", **{**given, **args}) == {}
    else:
        with pytest.raises(Refused) as refused:
            plane.call("check_layout", **{**given, **args})
        assert refused.value.code == code
    assert not plane.store.exists()


def test_a_system_table_that_there_is_not_is_refused_with_those_there_are(store: Store) -> None:
    with pytest.raises(
        Refused, match="colocation_groups, colocation_hosts, colocation_jobs, colocation_audit"
    ) as refused:
        Plane(store).call("rows", table="colocation_nothing")
    assert refused.value.code == "REQUEST_INVALID"


def test_a_hint_on_the_bucket_count_comes_with_the_ticket(store: Store) -> None:
    plane = Plane(store)
    assert plane.begin("db.a", bytes=1 << 42)["notes"] == [
        "4 buckets for about 4194304 MiB make 1048576.0 MiB per bucket; 410 to 4096 buckets, or "
        "16 to 32 buckets in each of 88 partitions would fit better."
    ]


def test_the_snapshot_has_the_fields_that_the_jvm_reads(store: Store) -> None:
    plane = Plane(store)
    plane.create("db.a")
    assert plane.snapshot is not None
    source = (
        Path(__file__).parents[2] / "jvm-stubs/src/org/apache/spark/sql/colocate/bridge/GroupState.scala"
    ).read_text()
    for part in (plane.snapshot, plane.snapshot["groups"][0], plane.snapshot["members"][0]):
        for field in part:
            assert f"{field}: " in source


def test_conf_is_read_by_key() -> None:
    assert settings.default("spark.colocate.recycle.period") == "1d"
    assert settings.Settings.of({}).recycle_seconds == 86400
    assert all(reason.code == code for code, reason in reasons.catalogue().items())
    assert {rule["active"] for rule in conf.load("rules.json")["rules"]} <= {True, False}


def test_the_statement_that_avoids_a_rule_sets_a_key_that_there_is() -> None:
    for entry in conf.load("rules.json")["rules"]:
        key = entry.get("switch", "SET spark.sql.x = 1").split()[1]
        assert key.startswith("spark.sql.") or key in settings.catalogue()


def test_only_rules_for_speed_can_be_excluded() -> None:
    assert excluded(["SpreadJoins", "FuseHashJoins"]) == "SpreadJoins,FuseHashJoins"
    with pytest.raises(
        ValueError,
        match=r"no rule Spread\. Did you mean SpreadJoins\? Those that can be",
    ):
        excluded(["Spread"])
    with pytest.raises(ValueError, match="The rule KeepTaskDependentValues can't be excluded: it is needed"):
        excluded(["KeepTaskDependentValues"])
