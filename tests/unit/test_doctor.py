"""What the doctor finds, as one table: what is known, and the findings with their cures."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from spark_colocate.catalogues.findings import catalogue
from spark_colocate.model import (
    Column,
    Format,
    Group,
    GroupName,
    GroupSchema,
    Host,
    Job,
    JobKind,
    JobState,
    Member,
    TableName,
)
from spark_colocate.service import BucketFiles, Declaration, InspectedTable, Inspection
from spark_colocate.service.doctor.facts import Leftover, StoreFacts, Unreadable
from spark_colocate.service.doctor.report import findings

MIB, GIB = 1 << 20, 1 << 30
HOUR = 3600.0
NOW = 1_800_000_000.0
G = GroupName("db", "g")
A, B, ODD = TableName("db", "a"), TableName("db", "b"), TableName("my db", "it's")
KEYS = (Column("k", "bigint"),)


def group(name: GroupName = G, sequence: Sequence[Sequence[int]] = ((1,), (1,), (1,), (1,)), **more: object) -> Group:
    schema = GroupSchema(("bigint",), len(sequence), 1)
    return Group(1, 2, name, schema, tuple(map(tuple, sequence)), **more)  # type: ignore[arg-type]


def member(table: TableName, name: GroupName = G, changed: int = 0) -> Member:
    return Member(7, table, name, Format.DELTA, ("k",), 1, changed=changed, joined_at=NOW)


def job(state: JobState, age: float = 2 * HOUR) -> Job:
    return Job(9, JobKind.VERIFY, G, None, {}, "me", NOW - age, state)


def store(**more: object) -> StoreFacts:
    """Group db.g with tables a and b in 4 buckets on one living host, all of it old."""
    usual = {"groups": (group(),), "members": (member(A), member(B)), "hosts": (Host(1, "h1"),)}
    return StoreFacts(NOW, HOUR, **{**usual, **more})  # type: ignore[arg-type]


def table(
    name: TableName = A,
    files: Sequence[BucketFiles] = (),
    format: str = "delta",
    group: str = "g",
    buckets: int = 4,
    **more: object,
) -> InspectedTable:
    return InspectedTable(Declaration(name, group, format, KEYS, buckets), tuple(files), **more)  # type: ignore[arg-type]


def spread(bytes: int, buckets: int = 4, files: int = 1, tablets: int = 1, **more: int) -> list[BucketFiles]:
    """Buckets of one size."""
    return [BucketFiles(bucket, files, bytes, tablets, **more) for bucket in range(buckets)]


def seen(*tables: InspectedTable) -> Inspection:
    """With these, the group's other tables are there and in order."""
    named = {one.name for one in tables}
    return Inspection((*tables, *(table(name) for name in (A, B) if name not in named)))


def cures(facts: StoreFacts, found: Inspection | None = None, db: str = "") -> list[tuple[str, str, str]]:
    return [(one.code, one.object, one.cure) for one in findings(facts, db, found)]


HEALTHY = seen(table(A, spread(2 * GIB)), table(B, spread(200 * MIB)))
LOST = (Host(1, "h1"), Host(2, "h2", is_lost=True))
ON_LOST = group(sequence=((1,), (2,), (1,), (2,)))
MANY = group(sequence=((1,),) * 32)
REWRITE_MANY = (
    "CREATE OR REPLACE TABLE db.{0} USING delta CLUSTERED BY (`k`) INTO 8 BUCKETS TBLPROPERTIES "
    "('colocate_with'='g_8', 'replication_num'='1') AS SELECT * FROM db.{0}"
)

CASES: list[tuple[StoreFacts, Inspection | None, list[tuple[str, str, str]]]] = [
    (store(), None, []),
    (store(), HEALTHY, []),
    (StoreFacts(NOW, HOUR), Inspection(()), []),
    # What the store alone knows.
    (
        store(groups=(group(layout_stable=False),), unstable_since={G: NOW - HOUR}),
        None,
        [("GROUP_NOT_STABLE", "db.g", "CALL system.set_group_stable(group => 'db.g', stable => true)")],
    ),
    (store(groups=(group(layout_stable=False),), unstable_since={G: NOW - HOUR + 1}), None, []),
    (
        store(groups=(group(layout_stable=False),)),  # nobody remembers since when
        None,
        [("GROUP_NOT_STABLE", "db.g", "CALL system.set_group_stable(group => 'db.g', stable => true)")],
    ),
    (
        store(groups=(ON_LOST,), hosts=LOST),
        None,
        [("BUCKETS_ON_LOST_HOSTS", "db.g", "CALL system.repair(group => 'db.g')")],
    ),
    (
        store(groups=(ON_LOST,), hosts=LOST, config={"disable_colocate_relocate": "true"}),
        None,
        [
            (
                "RELOCATE_DISABLED",
                "db.g",
                "CALL system.set_config(key => 'disable_colocate_relocate', value => 'false')",
            )
        ],
    ),
    (
        store(groups=(ON_LOST,), hosts=tuple(replace(host, is_lost=True) for host in LOST)),
        None,
        [("NO_LIVING_HOST", "db.g", "SELECT * FROM system.colocation_hosts")],
    ),
    (store(jobs=(job(JobState.PENDING),)), None, [("JOB_PENDING", "db.g", "CALL system.cancel_job(9)")]),
    (store(jobs=(job(JobState.PAUSED),)), None, [("JOB_PAUSED", "db.g", "CALL system.resume_job(9)")]),
    (store(jobs=(job(JobState.RUNNING),)), None, []),
    (
        store(jobs=(replace(job(JobState.RUNNING), stepped_at=NOW - HOUR),)),
        None,
        [("JOB_HANGS", "db.g", "CALL system.cancel_job(9)")],
    ),
    (store(jobs=(replace(job(JobState.RUNNING), stepped_at=NOW - HOUR + 1),)), None, []),
    (
        store(members=(replace(member(A), joined_at=None), member(B))),
        None,
        [("NOT_VERIFIED", "db.a", "CALL system.verify(table => 'db.a', mode => 'sample')")],
    ),
    (
        store(jobs=(job(JobState.RUNNING, age=1),), abandoned=frozenset({9})),
        None,
        [("JOB_ORPHANED", "db.g", "CALL system.cancel_job(9)")],
    ),
    (
        store(failed=(job(JobState.FAILED, age=1),)),
        None,
        [("JOB_FAILED", "db.g", "CALL system.verify(group => 'db.g')")],
    ),
    (store(jobs=(job(JobState.PENDING, age=60),)), None, []),
    (
        store(members=(member(ODD),)),
        None,
        [
            (
                "GROUP_OF_ONE_TABLE",
                "db.g",
                "ALTER TABLE `my db`.`it's` SET TBLPROPERTIES ('colocate_with' = '')",
            )
        ],
    ),
    (store(members=(member(A),), groups=(group(created_at=NOW - 60),)), None, []),
    (
        store(hosts=(Host(1, "h1"), Host(2, "h2")), store_is_shared=False),
        None,
        [
            (
                "STORE_OF_ONE_HOST",
                "spark.colocate.store",
                "spark.colocate.store = postgresql://user@host/database, in spark-defaults.conf; "
                "its password in ~/.pgpass, or in a file that spark.colocate.store.passwordFile names",
            )
        ],
    ),
    (store(store_is_shared=False), None, []),
    (
        store(store_exposed="/w/store.sqlite (0644)"),
        None,
        [
            (
                "STORE_EXPOSED",
                "spark.colocate.store",
                "chmod go-rwx, as the user that owns them; for several users, "
                "spark.colocate.store = postgresql://user@host/database",
            )
        ],
    ),
    # What a look at the tables adds.
    (
        store(members=(member(A),)),
        Inspection((table(A), table(TableName("db", "o"), group=""), table(TableName("other", "p"), group=""))),
        [("TABLE_COULD_JOIN", "db.g", "ALTER TABLE db.o SET TBLPROPERTIES ('colocate_with' = 'g')")],
    ),
    (
        store(members=(member(A),)),
        Inspection((table(A), table(TableName("db", "o"), group="", buckets=8))),
        [("GROUP_OF_ONE_TABLE", "db.g", "ALTER TABLE db.a SET TBLPROPERTIES ('colocate_with' = '')")],
    ),
    (
        store(),
        seen(table(TableName("db", "new"))),
        [("TABLE_NOT_REGISTERED", "db.new", "CALL system.reconcile()")],
    ),
    (
        store(),
        seen(table(A, format="parquet", unchecked=3)),
        [("TABLE_NOT_REGISTERED", "db.a", "CALL system.reconcile()")],
    ),
    (
        store(),
        seen(table(TableName("db", "new"), buckets=8, unchecked=3)),
        [("TABLE_DOES_NOT_FIT", "db.new", "ALTER TABLE db.new SET TBLPROPERTIES ('colocate_with' = '')")],
    ),
    (
        store(),
        seen(table(A, buckets=8)),
        [("TABLE_DOES_NOT_FIT", "db.a", "ALTER TABLE db.a SET TBLPROPERTIES ('colocate_with' = '')")],
    ),
    (store(pending=frozenset({TableName("db", "new")})), seen(table(TableName("db", "new"))), []),
    (
        store(),
        Inspection((table(A),), (B,), unreadable=(Unreadable(B, "No.", False),)),
        [("TABLE_UNREADABLE", "db.b", "SELECT * FROM db.b")],
    ),
    (
        store(),
        Inspection((table(A), table(B)), unreadable=(Unreadable(ODD, "No.", True, 3),)),
        [("VERSION_UNREADABLE", "my db.it's", "RESTORE TABLE `my db`.`it's` TO VERSION AS OF 3")],
    ),
    (
        store(),
        Inspection((table(A), table(B)), leftovers=(Leftover(ODD, "/w/it's", 1, 9, NOW - HOUR),)),
        [("LEFTOVER_FOLDER", "my db.it's", "CALL system.remove_leftover(table => '`my db`.`it\\'s`')")],
    ),
    (store(), Inspection((table(A),)), [("TABLE_GONE", "db.b", "CALL system.reconcile()")]),
    (store(), Inspection((table(A),), unread=(B,)), []),
    (store(), Inspection((), databases=frozenset({"other"})), []),
    (store(members=(member(A), member(B, changed=9))), Inspection((table(A),), version=8), []),
    (
        store(),
        seen(table(A, strays=1, stray_bytes=5000)),
        [("STRAYS", "db.a", "CALL system.repair(table => 'db.a')")],
    ),
    (store(), seen(table(A, unchecked=3)), [("FILES_NOT_CHECKED", "db.a", "CALL system.verify(table => 'db.a')")]),
    (store(), seen(table(A, spread(MIB, files=8))), [("SMALL_FILES", "db.a", "OPTIMIZE db.a")]),
    (store(), seen(table(A, spread(MIB, files=8, tablets=2))), []),
    (store(), seen(table(A, spread(128 * MIB, files=8))), []),
    (
        store(members=(replace(member(A), format=Format.ORC), member(B))),
        seen(table(A, spread(MIB, files=8), "orc")),
        [
            (
                "SMALL_NATIVE_FILES",
                "db.a",
                "CREATE TABLE db.a_new USING orc CLUSTERED BY (`k`) INTO 4 BUCKETS TBLPROPERTIES "
                "('colocate_with'='g', 'replication_num'='1') AS SELECT * FROM db.a; DROP TABLE db.a; "
                "ALTER TABLE db.a_new RENAME TO db.a",
            )
        ],
    ),
    (
        store(),
        seen(table(A, spread(MIB, files=9, uncompacted=4), has_key_model=True)),
        [("NOT_COMPACTED", "db.a", "CALL system.compact(table => 'db.a')")],
    ),
    (store(), seen(table(A, spread(MIB, files=9, uncompacted=3), has_key_model=True)), []),
    (
        store(),
        seen(table(A, [BucketFiles(0, 1, 4 * GIB), *spread(GIB // 2, 4)[1:]])),
        [
            (
                "SKEWED_BUCKETS",
                "db.a",
                "SELECT k, count(*) FROM db.a GROUP BY k ORDER BY count(*) DESC LIMIT 10",
            )
        ],
    ),
    (
        store(groups=(MANY,)),
        Inspection((table(A, spread(MIB, 32), buckets=32), table(B, spread(100, 32), buckets=32))),
        [("TOO_MANY_BUCKETS", f"db.{name}", REWRITE_MANY.format(name)) for name in "ab"],
    ),
    (store(), seen(table(A, spread(MIB, tablets=20))), []),  # many partitions, each with few buckets
    (
        store(groups=(MANY,), members=(replace(member(A), format=Format.PARQUET),)),
        Inspection((table(A, spread(MIB, 32), "parquet", buckets=32),)),
        [
            (
                "TOO_MANY_BUCKETS",
                "db.a",
                "CREATE TABLE db.a_new USING parquet CLUSTERED BY (`k`) INTO 8 BUCKETS TBLPROPERTIES "
                "('colocate_with'='g', 'replication_num'='1') AS SELECT * FROM db.a; DROP TABLE db.a; "
                "ALTER TABLE db.a_new RENAME TO db.a",
            ),
            ("GROUP_OF_ONE_TABLE", "db.g", "ALTER TABLE db.a SET TBLPROPERTIES ('colocate_with' = '')"),
        ],
    ),
    (
        store(),
        seen(table(ODD, spread(MIB, 32), group="", buckets=32, is_plain=False)),
        [("TOO_MANY_BUCKETS", "my db.it's", "SHOW CREATE TABLE `my db`.`it's`")],
    ),
    (
        store(),
        seen(table(ODD, spread(MIB, 32), group="", buckets=32)),
        [
            (
                "TOO_MANY_BUCKETS",
                "my db.it's",
                "CREATE OR REPLACE TABLE `my db`.`it's` USING delta CLUSTERED BY (`k`) INTO 8 BUCKETS "
                "AS SELECT * FROM `my db`.`it's`",
            )
        ],
    ),
    (
        store(),
        seen(table(A, spread(20 * GIB), is_plain=False), table(B, spread(GIB), is_plain=False)),
        [("BUCKETS_TOO_LARGE", f"db.{name}", f"SHOW CREATE TABLE db.{name}") for name in "ab"],
    ),
    (store(), seen(table(A, spread(20 * GIB, tablets=2))), []),
    (
        store(hosts=tuple(Host(n, f"h{n}") for n in range(1, 9))),
        seen(table(A, spread(4 * GIB), is_plain=False), table(B, is_plain=False)),
        [("TOO_FEW_BUCKETS", f"db.{name}", f"SHOW CREATE TABLE db.{name}") for name in "ab"],
    ),
]


@pytest.mark.parametrize(("facts", "found", "expected"), CASES)
def test_what_is_found(facts: StoreFacts, found: Inspection | None, expected: list[tuple[str, str, str]]) -> None:
    assert cures(facts, found) == expected


def test_each_finding_of_the_catalogue_has_a_case() -> None:
    assert {code for _, _, expected in CASES for code, _, _ in expected} == set(catalogue())


def test_the_store_alone_finds_what_the_catalogue_says_of_it() -> None:
    alone = {code for _, found, expected in CASES if found is None for code, _, _ in expected}
    assert alone == {entry.code for entry in catalogue().values() if entry.needs == "store"}


def test_no_word_in_braces_is_left() -> None:
    for facts, found, _ in CASES:
        for one in findings(facts, "", found):
            assert "{" not in one.finding + one.cure


def test_of_one_database_only_its_groups_and_global_ones_are_looked_at() -> None:
    everywhere = GroupName("", "__global__x")
    both = {"members": (member(A), member(B), member(A, everywhere), member(B, everywhere))}
    facts = store(groups=(group(layout_stable=False), group(everywhere, layout_stable=False)), **both)
    assert {one.object for one in findings(facts, "db")} == {"db.g", "__global__x"}
    assert {one.object for one in findings(facts, "other")} == {"__global__x"}


def test_the_worst_comes_first() -> None:
    found = findings(store(groups=(ON_LOST,), hosts=LOST), "", seen(table(A, unchecked=1), table(ODD)))
    assert [one.code for one in found] == ["TABLE_NOT_REGISTERED", "BUCKETS_ON_LOST_HOSTS", "FILES_NOT_CHECKED"]


def test_a_sentence_says_how_much() -> None:
    [one] = findings(store(), "", seen(table(A, [BucketFiles(2, 9, 9000), *spread(MIB, 2)])))
    assert one.finding == "1 of 4 buckets have many small files (9 files of 1000 bytes on average)"
