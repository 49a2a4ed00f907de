"""Golden texts: what a user reads for each bad input. Headline with both sides, then the cure."""

from typing import Any

import pytest
from spark_colocate.service import LEASE_SECONDS
from spark_colocate.store import Store

from tests.contract.plane import Plane, Refused, keys

ALLOWED = (
    "boolean, tinyint, smallint, int, bigint, decimal(p,s), string, varchar(n), binary, date, timestamp, timestamp_ntz"
)


@pytest.fixture
def plane(store: Store) -> Plane:
    """Group db.g: (bigint, string) into 16 buckets, replication 1, parent db.parent."""
    plane = Plane(store)
    plane.create("db.parent", keys=keys("k bigint; v string"), buckets=16)
    return plane


def text(plane: Plane, **declared: Any) -> str:
    given = {"keys": keys("k bigint; v string"), "buckets": 16, **declared}
    with pytest.raises(Refused) as refused:
        plane.begin("db.a", **given)
    return f"{refused.value.code}: {refused.value}"


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "bucket count": (
        {"buckets": 32},
        "BUCKETS_DIFFER: Cannot colocate db.a with group db.g: bucket counts differ (table: 32, group: 16). "
        "Recreate db.a with 16 buckets, or choose another group.",
    ),
    "key types": (
        {"keys": keys("k int; v string")},
        "KEY_TYPES_DIFFER: Cannot colocate db.a with group db.g: key types differ "
        "(table: int, string; group: bigint, string). "
        "Recreate db.a with keys of the types (bigint, string) in this order, or choose another group.",
    ),
    "key order": (
        {"keys": keys("v string; k bigint")},
        "KEY_ORDER_DIFFERS: Cannot colocate db.a with group db.g: orders of key types differ "
        "(table: string, bigint; group: bigint, string). "
        "Recreate db.a with keys of the types (bigint, string) in this order, or choose another group.",
    ),
    "number of keys": (
        {"keys": keys("k bigint")},
        "KEY_COUNT_DIFFERS: Cannot colocate db.a with group db.g: numbers of bucket keys differ "
        "(table: bigint; group: bigint, string). "
        "Recreate db.a with keys of the types (bigint, string) in this order, or choose another group.",
    ),
    "replication": (
        {"replication": 3},
        "REPLICATION_DIFFERS: Cannot colocate db.a with group db.g: replication numbers differ (table: 3, group: 1). "
        "Set 'replication_num'='1' in the table's properties, or choose another group.",
    ),
    "replication of 0": (
        {"replication": 0},
        "REPLICATION_INVALID: Cannot colocate db.a: replication_num is 0, and a bucket needs at least 1 host. "
        "Set 'replication_num' to 1 or more.",
    ),
    "replication that is no number": (
        {"replication": "two"},
        "REPLICATION_INVALID: Cannot use 'two' for replication_num: an integer is needed. "
        "Write a number of at least 1.",
    ),
    "float key": (
        {"keys": keys("k float; v string")},
        "KEY_TYPE_REFUSED: Cannot cluster db.a by k: type FLOAT is refused as a bucket key, because -0.0 and NaN have "
        "several bit patterns, so equal values could lie in different buckets. "
        f"Cluster by a column of one of these types: {ALLOWED}.",
    ),
    "char key": (
        {"keys": keys("k char(3); v string")},
        "KEY_TYPE_REFUSED: Cannot cluster db.a by k: type CHAR(3) is refused as a bucket key, because Spark pads CHAR "
        "on every read, so the value that is read is not the one that was hashed. "
        f"Cluster by a column of one of these types: {ALLOWED}.",
    ),
    "collated key": (
        {"keys": keys("k string collate UTF8_LCASE; v string")},
        "KEY_TYPE_REFUSED: Cannot cluster db.a by k: type STRING COLLATE UTF8_LCASE is refused as a bucket key, "
        "because a collation other than UTF8_BINARY makes different bytes equal. "
        f"Cluster by a column of one of these types: {ALLOWED}.",
    ),
    "absent key": (
        {"columns": [{"name": "id", "type": "bigint"}, {"name": "v", "type": "string"}]},
        "KEY_ABSENT: Cannot cluster db.a by k: the table has no such column (columns: id, v). "
        "Name an existing column in CLUSTERED BY.",
    ),
    "duplicate key": (
        {"keys": keys("k bigint; K bigint")},
        "KEY_DUPLICATE: Cannot cluster db.a by (k, K): K is named twice. Name each key column once in CLUSTERED BY.",
    ),
    "identity key": (
        {"columns": [{"name": "k", "type": "bigint", "identity": True}, {"name": "v", "type": "string"}]},
        "KEY_IDENTITY: Cannot cluster db.a by k: it is an IDENTITY column, and its value is not known when the bucket "
        "is computed. Cluster by a column that the writer gives.",
    ),
    "generated key": (
        {"columns": [{"name": "k", "type": "bigint", "generated": True}, {"name": "v", "type": "string"}]},
        "KEY_GENERATED: Cannot cluster db.a by k: it is a generated column, and its value is not known when the bucket "
        "is computed. Cluster by a column that the writer gives.",
    ),
    "0 buckets": (
        {"buckets": 0},
        "BUCKETS_INVALID: Cannot cluster db.a into 0 buckets: the number must be between 1 and 100000. "
        "Write CLUSTERED BY (...) INTO n BUCKETS with such an n.",
    ),
    "negative buckets": (
        {"buckets": -4},
        "BUCKETS_INVALID: Cannot cluster db.a into -4 buckets: the number must be between 1 and 100000. "
        "Write CLUSTERED BY (...) INTO n BUCKETS with such an n.",
    ),
    "no CLUSTERED BY": (
        {"keys": [], "buckets": 0},
        "CLUSTERED_BY_MISSING: Cannot colocate db.a with group db.g: the table is not bucketed, and the group's tables "
        "are. Add CLUSTERED BY (key, ...) INTO n BUCKETS to the statement, or leave out 'colocate_with'.",
    ),
    "reserved column": (
        {"columns": [{"name": c, "type": "bigint"} for c in ("k", "v", "_Colocate_Bucket")]},
        "COLUMN_RESERVED: Cannot cluster db.a: its column _Colocate_Bucket clashes with _colocate_bucket, "
        "which holds the bucket id. Rename the column _Colocate_Bucket.",
    ),
    "csv": (
        {"format": "csv"},
        "FORMAT_REFUSED: Cannot colocate db.a: format CSV has no bucket layout that can be proven "
        "(supported: DELTA, PARQUET, ORC). Create db.a with USING delta, USING parquet or USING orc.",
    ),
    "liquid clustering": (
        {"liquid": True, "keys": [], "buckets": 0},
        "LIQUID_CLUSTERING: Cannot colocate db.a with group db.g: it uses liquid clustering (CLUSTER BY), which moves "
        "rows between files, and a group needs buckets (CLUSTERED BY). "
        "Write CLUSTERED BY (key, ...) INTO n BUCKETS instead of CLUSTER BY, or leave out 'colocate_with'.",
    ),
    "group of another database": (
        {"group": "other.g"},
        "GROUP_NAME_INVALID: Cannot use 'other.g' as a group name in database db: a name is a letter or _, then up to "
        "127 letters, digits, _ or -, and a group belongs to its table's database. "
        "Write 'colocate_with'='g', or 'colocate_with'='__global__g' for a group that every database can use.",
    ),
    "ALTER of another layout": (
        {"verb": "begin_alter", "buckets": 32},
        "BUCKETS_DIFFER: Cannot colocate db.a with group db.g: bucket counts differ (table: 32, group: 16). "
        "Rewrite it with: CREATE OR REPLACE TABLE db.a USING delta CLUSTERED BY (`k`, `v`) INTO 16 BUCKETS "
        "TBLPROPERTIES ('colocate_with'='g', 'replication_num'='1') AS SELECT * FROM db.a, or choose another group.",
    ),
    "ALTER of another native layout": (
        {"verb": "begin_alter", "buckets": 32, "format": "parquet"},
        "BUCKETS_DIFFER: Cannot colocate db.a with group db.g: bucket counts differ (table: 32, group: 16). "
        "Rewrite it with: CREATE TABLE db.a_new USING parquet CLUSTERED BY (`k`, `v`) INTO 16 BUCKETS "
        "TBLPROPERTIES ('colocate_with'='g', 'replication_num'='1') AS SELECT * FROM db.a; "
        "DROP TABLE db.a; ALTER TABLE db.a_new RENAME TO db.a, or choose another group.",
    ),
    "ALTER of a table without buckets": (
        {"verb": "begin_alter", "keys": [], "buckets": 0},
        "CLUSTERED_BY_MISSING: Cannot colocate db.a with group db.g: the table is not bucketed, and the group's tables "
        "are. Rewrite it with keys of the types (bigint, string): CREATE OR REPLACE TABLE db.a USING delta "
        "CLUSTERED BY (key, ...) INTO 16 BUCKETS TBLPROPERTIES ('colocate_with'='g') AS SELECT * FROM db.a.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_gets_its_text_and_changes_nothing(plane: Plane, case: str) -> None:
    declared, expected = CASES[case]
    before = plane.dump()
    assert text(plane, **declared) == expected
    assert plane.dump() == before


def test_the_replication_of_a_member_is_the_groups(plane: Plane) -> None:
    with pytest.raises(Refused) as refused:
        plane.begin("db.parent", verb="begin_alter", keys=keys("k bigint; v string"), buckets=16, replication=3)
    assert str(refused.value) == (
        "Cannot set replication_num of db.parent to 3: it is a member of group db.g, whose replication number is 1. "
        "Change all members at once: CALL system.set_replication(group => 'db.g', n => 3)."
    )


def test_a_group_in_recycle_names_the_hour_and_the_way_out(plane: Plane) -> None:
    plane.drop("db.parent")
    assert text(plane, buckets=32) == (
        "GROUP_IN_RECYCLE: Cannot colocate db.a with group db.g: bucket counts differ (table: 32, group: 16). "
        "The group has no table any more, but keeps its schema until 2027-01-16 08:00:00 UTC. "
        "Use the group's schema, or end it now: CALL system.purge_group(group => 'db.g')."
    )


def test_a_group_that_another_statement_is_making_names_that_statement(plane: Plane) -> None:
    plane.begin("db.first", "new", buckets=4)
    assert text(plane, group="new", keys=keys("k int"), buckets=8) == (
        "GROUP_BUSY: Cannot colocate db.a with group db.new: bucket counts differ (table: 8, group: 4). "
        "Group db.new is just being changed by a statement on db.first. "
        "Try again when that statement has ended, or choose another group."
    )
    plane.clock.now += LEASE_SECONDS + 1
    plane.begin("db.a", "new", buckets=8)


@pytest.mark.parametrize(
    ("verb", "args", "expected"),
    [
        (
            "show_proc",
            {"path": "/frontends"},
            "There is no proc path '/frontends' (paths: /colocation_group, /colocation_group/<GroupId>). "
            "Write SHOW PROC '/colocation_group'.",
        ),
        (
            "show_proc",
            {"path": "/colocation_group/1.2"},
            "There is no group with GroupId 1.2 (GroupIds: 10001.10002). "
            "SHOW PROC '/colocation_group' lists the groups with their GroupIds.",
        ),
        (
            "set_group_stable",
            {"group": "x", "db": "db", "stable": True},
            "There is no group x (groups: db.g). "
            "Name an existing group as db.g or __global__g; SHOW PROC '/colocation_group' lists them.",
        ),
        (
            "purge_group",
            {"group": "db.g"},
            "Cannot purge group db.g: it has 1 tables (db.parent). Drop them or let them leave the group first.",
        ),
        (
            "begin_rename",
            {"db": "db", "table": "parent", "new_db": "db2", "new_table": "parent"},
            "Cannot rename db.parent to db2.parent: its group db.g belongs to database db. "
            "Leave the group first: ALTER TABLE db.parent SET TBLPROPERTIES ('colocate_with'=''), "
            "or use a __global__ group.",
        ),
    ],
)
def test_other_verbs_name_both_sides_too(plane: Plane, verb: str, args: dict[str, Any], expected: str) -> None:
    with pytest.raises(Refused) as refused:
        plane.call(verb, **args)
    assert str(refused.value) == expected


def test_a_setting_that_is_no_number_is_named(plane: Plane) -> None:
    plane.settings = {"spark.colocate.replication": "many"}
    assert text(plane) == (
        "SETTING_INVALID: Cannot use 'many' for spark.colocate.replication: it must be an integer, not negative. "
        "Write SET spark.colocate.replication=1, or another value."
    )
