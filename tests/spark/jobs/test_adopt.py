"""A Delta table as it is becomes a member of a group: what stays, what is refused, and that nothing is left behind."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.foreign import constrain, without_us
from tests.spark.jobs.adoptions import adopt, data_files, folders, live_files, paused, rows, until_over
from tests.spark.members import create_member, database, folder, unstable
from tests.spark.oracle import assert_no_exchange, compare
from tests.tiers.params import rest_slow

INTERPRETED = True

JOIN = "SELECT a.k, a.v, b.w FROM {table} a JOIN other b ON a.k = b.k"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    def make(session: SparkSession) -> None:
        create_member(session, "other", "k INT, w BIGINT", ["k"], 4)
        session.sql("INSERT INTO other SELECT CAST(id AS INT), id FROM range(0, 300)")

    yield from database(spark, "adopt", make)


@pytest.fixture
def table(session: SparkSession, request: pytest.FixtureRequest) -> str:
    """A plain table of 200 rows, in three loads."""
    return _plain(session, f"t{abs(hash(request.node.name)) % 10**8}")


def _plain(spark: SparkSession, name: str, columns: str = "k INT, v BIGINT", tail: str = "", more: str = "") -> str:
    spark.sql(f"CREATE TABLE {name} ({columns}) USING delta {tail}")
    for start in (0, 100, 150):
        rest = f", {more}" if more else ""
        end = {0: 100, 100: 150, 150: 200}[start]
        spark.sql(
            f"INSERT INTO {name} (k, v{_names(columns)}) SELECT CAST(id AS INT), id{rest} FROM range({start}, {end})"
        )
    return name


def _names(columns: str) -> str:
    """Those columns after k and v that a load gives a value."""
    rest = [
        column.split()[0] for column in columns.split(", ")[2:] if "GENERATED" not in column and "DEFAULT" not in column
    ]
    return "".join(f", {name}" for name in rest)


def _schema(spark: SparkSession, table: str) -> dict[str, Any]:
    """The newest metadata in the log."""
    versions = sorted((folder(spark, table) / "_delta_log").glob("*.json"))
    lines = [line for path in versions for line in path.read_text().splitlines() if '"metaData"' in line]
    found: dict[str, Any] = json.loads(lines[-1])["metaData"]
    return found


def _history(spark: SparkSession, table: str) -> int:
    return spark.sql(f"DESCRIBE HISTORY {table}").count()


def _assert_member(spark: SparkSession, table: str) -> None:
    """It is read by bucket, and listed."""
    assert_no_exchange(spark, JOIN.format(table=table), "adopt.g")
    listed = spark.sql(f"SELECT `group`, strays FROM system.colocation_tables WHERE `table` = '{table}'").collect()
    assert [tuple(row) for row in listed] == [("adopt.g", 0)]


def test_a_table_becomes_a_member_in_one_commit(session: SparkSession, table: str) -> None:
    before, versions = rows(session, table), _history(session, table)
    done = adopt(session, table)
    assert (done.kind, done.state, done.error) == ("adopt", "done", None), done
    assert done.target == f"adopt.{table}"
    assert _history(session, table) == versions + 1
    assert rows(session, table) == before
    _assert_member(session, table)
    compare(session, JOIN.format(table=table))
    assert session.sql("CALL system.reconcile(db => 'adopt')").count() == 0
    assert session.sql(f"SELECT count(*) FROM {table} VERSION AS OF {versions - 1}").head() == (200,)
    told = session.sql(f"DESCRIBE HISTORY {table}").head()
    assert told is not None and "joined colocation group adopt.g" in told.userMetadata
    assert session.table(table).columns == ["k", "v"]


def test_its_metadata_is_that_of_a_table_made_in_the_group(session: SparkSession, table: str) -> None:
    adopt(session, table)
    create_member(session, f"{table}_made", "k INT, v BIGINT", ["k"], 4)
    adopted, made = _schema(session, table), _schema(session, f"{table}_made")
    for part in ("schemaString", "partitionColumns", "configuration"):
        assert adopted[part] == made[part]


def test_nothing_is_left_beside_the_files_of_the_table(session: SparkSession, table: str) -> None:
    old = data_files(session, table)
    adopt(session, table)
    assert data_files(session, table) == old | live_files(session, table)
    assert len(live_files(session, table)) == 4, "a file for each bucket"
    assert {name for name in folders(session, table) if name.startswith("_colocate")} == set()


def test_the_table_is_written_afterwards_by_sessions_with_and_without_us(session: SparkSession, table: str) -> None:
    adopt(session, table)
    session.sql(f"INSERT INTO {table} VALUES (1000, 1)")
    without_us(session, f"INSERT INTO adopt.{table} (k, v) VALUES (1001, 2)")
    session.sql(f"UPDATE {table} SET v = -1 WHERE k = 5")
    session.sql(f"DELETE FROM {table} WHERE k = 6")
    assert session.table(table).count() == 201
    _assert_member(session, table)


FEATURES = {
    "partitioned": ("k INT, v BIGINT, p INT", "PARTITIONED BY (p)", "CAST(id % 3 AS INT)"),
    "vectors": ("k INT, v BIGINT", "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", ""),
    "mapping": ("k INT, v BIGINT, n INT", "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "1"),
    "ids": ("k INT, v BIGINT", "TBLPROPERTIES ('delta.columnMapping.mode' = 'id')", ""),
    "tracking": ("k INT, v BIGINT", "TBLPROPERTIES ('delta.enableRowTracking' = 'true')", ""),
    "feed": ("k INT, v BIGINT", "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", ""),
    "generated": ("k INT, v BIGINT, d BIGINT GENERATED ALWAYS AS (v * 2)", "", ""),
    "identity": ("k INT, v BIGINT, i BIGINT GENERATED ALWAYS AS IDENTITY", "", ""),
    "defaults": (
        "k INT, v BIGINT, d INT DEFAULT 7",
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
        "",
    ),
    "append_only": ("k INT, v BIGINT", "TBLPROPERTIES ('delta.appendOnly' = 'true')", ""),
    "optimized_writes": ("k INT, v BIGINT", "TBLPROPERTIES ('delta.autoOptimize.optimizeWrite' = 'true')", ""),
    "commented": ("k INT COMMENT 'the key', v BIGINT", "COMMENT 'of all orders'", ""),
}


KEPT = ("partitioned", "vectors", "mapping", "tracking", "feed", "identity")


@pytest.mark.parametrize("feature", rest_slow(FEATURES, *KEPT))
def test_what_a_table_has_stays(session: SparkSession, feature: str) -> None:
    columns, tail, more = FEATURES[feature]
    table = _plain(session, f"has_{feature}", columns, tail, more)
    if feature == "vectors":
        session.sql(f"DELETE FROM {table} WHERE k IN (3, 120)")
    if feature == "mapping":
        session.sql(f"ALTER TABLE {table} RENAME COLUMN n TO `a b`")
    session.sql(f"ALTER TABLE {table} ADD CONSTRAINT small CHECK (k < 100000)")
    names = session.table(table).columns
    kept = ["*", "_metadata.row_id"] if feature == "tracking" else ["*"]
    before, numbers = rows(session, table, names), rows(session, table, kept)
    old, versions = _schema(session, table), _history(session, table)
    done = adopt(session, table)
    assert (done.state, done.error) == ("done", None), done
    assert rows(session, table, names) == before
    assert rows(session, table, kept) == numbers
    _assert_member(session, table)
    new = _schema(session, table)
    given = {k: v for k, v in new["configuration"].items() if k in old["configuration"] and "maxColumnId" not in k}
    assert given == {k: v for k, v in old["configuration"].items() if "maxColumnId" not in k}
    assert (new["id"], new.get("description")) == (old["id"], old.get("description"))
    assert json.loads(new["schemaString"])["fields"][:-1] == json.loads(old["schemaString"])["fields"]
    assert new["partitionColumns"] == [*old["partitionColumns"], "_colocate_bucket"]
    breaks = "UPDATE {} SET k = 100001 WHERE k = 5"
    if feature == "append_only":
        breaks = "INSERT INTO {} VALUES (100001, 1)"
    with pytest.raises(Py4JJavaError, match=r"CHECK constraint small"):
        session.sql(breaks.format(table))
    if feature == "feed":
        changed = session.sql(f"SELECT count(*) FROM table_changes('{table}', {versions}, {versions})").head()
        assert changed == (0,), "the change feed shows no change of rows"
        assert session.sql(f"SELECT count(*) FROM table_changes('{table}', 0, {versions})").head() == (200,)


def test_a_widened_column_that_is_no_key(session: SparkSession) -> None:
    _plain(
        session,
        "widened",
        "k INT, v BIGINT, n SMALLINT",
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "CAST(1 AS SMALLINT)",
    )
    session.sql("ALTER TABLE widened ALTER COLUMN n TYPE INT")
    session.sql("INSERT INTO widened VALUES (500, 500, 70000)")
    assert adopt(session, "widened").state == "done"
    assert session.sql("SELECT sum(n) FROM widened").head() == (70200,)
    _assert_member(session, "widened")
    _plain(session, "widened_key", "k SMALLINT, v BIGINT", "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    session.sql("ALTER TABLE widened_key ALTER COLUMN k TYPE INT")
    with pytest.raises(PySparkException, match=r"type of k was widened.*DROP FEATURE 'typeWidening'"):
        adopt(session, "widened_key")


def test_an_empty_table(session: SparkSession) -> None:
    session.sql("CREATE TABLE empty (k INT, v BIGINT) USING delta")
    assert adopt(session, "empty").state == "done"
    session.sql("INSERT INTO empty VALUES (1, 1)")
    _assert_member(session, "empty")


def test_nulls_and_keys_in_another_case_and_a_new_group_with_several_keys(session: SparkSession, table: str) -> None:
    session.sql(f"INSERT INTO {table} VALUES (NULL, 1), (NULL, NULL)")
    before = session.table(table).count()
    assert adopt(session, table, f"g_{table}", "V, K", buckets=3).state == "done"
    assert session.table(table).count() == before
    listed = session.sql(f"SELECT keys FROM system.colocation_tables WHERE `table` = '{table}'").head()
    assert listed == (["v", "k"],)


# --- Dry run ---


def test_a_dry_run_changes_nothing_and_says_what_would_be(session: SparkSession, table: str) -> None:
    files, versions = data_files(session, table), _history(session, table)
    call = f"CALL system.colocate(table => '{table}', group => 'new', keys => array('k'), dry_run => true)"
    facts = [tuple(row) for row in session.sql(call).collect()]
    named = dict(facts)
    assert re.fullmatch(rf"adopt\.{table}: 6 files, [0-9.]+ KiB", named["table"])
    assert named["group"] == "adopt.new, a new group"
    assert named["layout"] == "CLUSTERED BY (k) INTO 8 BUCKETS (advised for its size)"
    assert "VACUUM removes the old files" in named["temporary space"]
    assert any("_colocate_bucket INT" in text for fact, text in facts if fact == "sessions without the extension")
    assert any("MetadataChangedException" in text for _, text in facts)
    assert (data_files(session, table), _history(session, table)) == (files, versions)
    assert session.sql(f"SELECT * FROM system.colocation_jobs WHERE target = 'adopt.{table}'").count() == 0
    in_group = session.sql(call.replace("'new'", "'g'")).collect()
    assert ("layout", "CLUSTERED BY (k) INTO 4 BUCKETS (of the group)") in [tuple(row) for row in in_group]


# --- Bad input ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("table => 'nowhere', group => 'g', keys => array('k')", "catalog has no such table"),
        ("table => '{t}', group => 'g', keys => array('x')", "KEY_ABSENT"),
        ("table => '{t}', group => 'g', keys => array()", "without keys"),
        ("table => '{t}', group => 'g', keys => array('k', 'K')", "KEY_DUPLICATE"),
        ("table => '{t}', group => 'g', keys => array('v')", "KEY_TYPES_DIFFER.*Name keys of the types \\(int\\)"),
        ("table => '{t}', group => 'g', keys => array('k'), buckets => 5", "BUCKETS_DIFFER.*Leave buckets out"),
        ("table => '{t}', group => 'g', keys => array('k'), buckets => -1", "must be at least 1"),
        ("table => '{t}', group => 'elsewhere.g', keys => array('k')", "a group belongs to the database"),
        ("table => '{t}', group => '1 g', keys => array('k')", "GROUP_NAME_INVALID"),
        ("table => 'other', group => 'g', keys => array('k')", "in group adopt.g already|has 4 buckets"),
        ("table => 'refused_view', group => 'g', keys => array('k')", "it is a view"),
        ("table => 'refused_temp', group => 'g', keys => array('k')", "it is a temporary view"),
        ("table => 'a.b.c', group => 'g', keys => array('k')", "not a table of Spark's session catalog"),
        (
            "table => 'refused_parquet', group => 'g', keys => array('k')",
            "only Delta can .*CREATE TABLE .*USING parquet",
        ),
        ("table => 'refused_csv', group => 'g', keys => array('k')", "FORMAT_REFUSED"),
        ("table => 'refused_double', group => 'new', keys => array('k')", "KEY_TYPE_REFUSED"),
        ("table => 'refused_liquid', group => 'g', keys => array('k')", "liquid clustering.*CREATE TABLE"),
        ("table => 'refused_part', group => 'new', keys => array('p')", "KEY_PARTITIONED"),
        ("table => 'refused_made', group => 'new', keys => array('d')", "KEY_GENERATED"),
        ("table => 'refused_made', group => 'new', keys => array('i')", "KEY_IDENTITY"),
    ],
)
def test_what_can_not_be_adopted_is_refused_at_once(session: SparkSession, call: str, message: str) -> None:
    _refused(session)
    files, jobs = data_files(session, "refused"), _jobs(session)
    with pytest.raises(PySparkException, match=f"(?s){message}"):
        session.sql(f"CALL system.colocate({call.format(t='refused')}, wait => true)").collect()
    assert (data_files(session, "refused"), _jobs(session)) == (files, jobs)


def _jobs(spark: SparkSession) -> int:
    return spark.sql("SELECT * FROM system.colocation_jobs").count()


def _refused(spark: SparkSession) -> None:
    """Once for the module."""
    if spark.catalog.tableExists("refused"):
        return
    _plain(spark, "refused")
    for statement in (
        "CREATE VIEW refused_view AS SELECT * FROM refused",
        "CREATE TEMPORARY VIEW refused_temp AS SELECT * FROM refused",
        "CREATE TABLE refused_parquet (k INT, v BIGINT) USING parquet",
        "CREATE TABLE refused_csv (k INT, v BIGINT) USING csv",
        "CREATE TABLE refused_double (k DOUBLE, v BIGINT) USING delta",
        "CREATE TABLE refused_liquid (k INT, v BIGINT) USING delta CLUSTER BY (k)",
        "CREATE TABLE refused_part (k INT, v BIGINT, p INT) USING delta PARTITIONED BY (p)",
        "CREATE TABLE refused_made (k INT, d INT GENERATED ALWAYS AS (k + 1), i BIGINT GENERATED ALWAYS AS IDENTITY) "
        "USING delta",
    ):
        spark.sql(statement)


def test_an_unstable_group_takes_no_table(session: SparkSession, table: str) -> None:
    with unstable(session, "adopt.g"), pytest.raises(PySparkException, match=r"GROUP_UNSTABLE.*set_group_stable"):
        adopt(session, table)


def test_a_row_that_breaks_a_constraint_fails_the_job_and_leaves_nothing(session: SparkSession, table: str) -> None:
    """A writer that does not know constraints has let the row in."""
    constrain(session, table, "small", "k < 150")
    files = data_files(session, table)
    with pytest.raises(PySparkException, match="a row breaks a rule of the table"):
        adopt(session, table)
    assert [one.kind for one in until_over(session, f"adopt.{table}")] == ["adopt", "discard"]
    assert data_files(session, table) == files
    assert {name for name in folders(session, table) if "adopt" in name or name.startswith("_colocate")} == set()


# --- While others write ---

LATE = {
    "append": "INSERT INTO {t} VALUES (1000, 1000)",
    "update": "UPDATE {t} SET v = v + 1 WHERE k < 120",
    "delete": "DELETE FROM {t} WHERE k % 2 = 0",
    "merge": "MERGE INTO {t} t USING (SELECT 7 AS k, 70L AS v UNION ALL SELECT 2000, 2000L) s ON t.k = s.k "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)",
    "optimize": "OPTIMIZE {t}",
    "overwrite": "INSERT OVERWRITE {t} VALUES (1, 1)",
    "truncate": "DELETE FROM {t}",
}
POINTS = ["adopt:staged", "adopt:marked", "adopt:ready"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("change", LATE)
@pytest.mark.each_value
def test_what_others_commit_meanwhile_is_caught_up(session: SparkSession, change: str, point: str) -> None:
    """At the last point the commit's transaction has begun; half of the changes are of a session without us."""
    table = _plain(session, f"late_{change}_{point[6:]}")
    with paused(session, point, lambda: adopt(session, table)) as running:
        statement = LATE[change].format(t=f"adopt.{table}")
        session.sql(statement) if point == "adopt:marked" else without_us(session, statement)
        expected, versions = rows(session, table), _history(session, table)
    done = running.result(timeout=300)
    assert (done.state, done.error) == ("done", None), done
    assert rows(session, table) == expected
    assert _history(session, table) == versions + 1, "one commit"
    assert data_files(session, table) >= live_files(session, table)
    if expected:  # a join with an empty table is none
        _assert_member(session, table)
