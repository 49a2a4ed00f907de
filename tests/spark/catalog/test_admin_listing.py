"""SHOW PROC, system tables and procedures."""

from collections.abc import Iterator

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from tests.spark.golden import GOLDENS, assert_golden
from tests.spark.native import bucketed

GOLDEN = GOLDENS
DATABASE = "listed"


@pytest.fixture(scope="module")
def listed(spark: SparkSession) -> Iterator[SparkSession]:
    """Group listed.g: orders (parquet, partitioned) and lines (orc), both with 100 rows in 4 buckets."""
    spark.sql(f"CREATE DATABASE {DATABASE}")
    columns = "(k BIGINT, v STRING, p INT)"
    spark.sql(f"CREATE TABLE {DATABASE}.orders {bucketed(columns, 4, 'g', more='PARTITIONED BY (p)')}")
    spark.sql(f"CREATE TABLE {DATABASE}.lines {bucketed(columns, 4, 'g', format='orc')}")
    for table in ("orders", "lines"):
        spark.sql(f"INSERT INTO {DATABASE}.{table} SELECT id, string(id), CAST(id % 2 AS INT) FROM range(100)")
    yield spark
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


NULLS = {
    "set_group_stable(group => 'listed.g', stable => NULL)": "stable is NULL. Give it a value.",
    "set_group_stable(group => NULL, stable => false)": "group is NULL. Give it a value.",
    "repair(table => 'listed.orders', dry_run => NULL)": "dry_run is NULL. Give it a value, or leave it out.",
    "verify(table => 'listed.orders', mode => NULL)": "mode is NULL. Give it a value, or leave it out.",
    "doctor(db => NULL)": "db is NULL",
    "wait_job(NULL)": "job_id is NULL",
}


@pytest.mark.parametrize("call", NULLS)
@pytest.mark.every(3)
def test_a_null_is_no_argument_of_a_call(listed: SparkSession, call: str) -> None:
    jobs = listed.sql("SELECT count(*) FROM system.colocation_jobs").head()
    with pytest.raises(Exception, match=r"\[PROCEDURE_NULL\]") as error:
        listed.sql(f"CALL system.{call}").collect()
    assert NULLS[call] in str(error.value)
    assert listed.sql("SELECT is_stable FROM system.colocation_groups WHERE group_name = 'listed.g'").head() == (True,)
    assert listed.sql("SELECT count(*) FROM system.colocation_jobs").head() == jobs


def group_id(spark: SparkSession) -> str:
    return str(spark.sql("SELECT group_id FROM system.colocation_groups WHERE group_name = 'listed.g'").collect()[0][0])


def test_show_proc_lists_groups_with_the_columns_of_doris(listed: SparkSession) -> None:
    shown = listed.sql("SHOW PROC '/colocation_group'")
    assert shown.columns == [
        "GroupId", "GroupName", "TableIds", "BucketsNum", "ReplicationNum", "DistCols", "IsStable",
    ]  # fmt: skip
    mine = next(row for row in shown.collect() if row.GroupId == group_id(listed))
    assert (mine.BucketsNum, mine.ReplicationNum, mine.DistCols, mine.IsStable) == (4, 1, "bigint", True)
    assert mine.GroupName == f"{mine.GroupId.split('.')[0]}_g"
    assert len(mine.TableIds.split(",")) == 2


def test_show_proc_of_a_group_lists_the_hosts_of_each_bucket(listed: SparkSession) -> None:
    shown = listed.sql(f"SHOW PROC '/colocation_group/{group_id(listed)}'")
    assert shown.columns == ["BucketIndex", "BackendIds"]
    known = {str(row.backend_id) for row in listed.table("system.colocation_hosts").collect()}
    assert [row.BucketIndex for row in shown.collect()] == [0, 1, 2, 3]
    assert {row.BackendIds for row in shown.collect()} <= known


@pytest.mark.parametrize(
    "text", ["show  proc '/colocation_group' ;", 'SHOW PROC "/colocation_group"', "SHOW PROC\n'/colocation_group'"]
)
def test_show_proc_may_be_spelled_freely(listed: SparkSession, text: str) -> None:
    assert listed.sql(text).count() >= 1


@pytest.mark.parametrize("path", ["/frontends", "/colocation_group/1.2", "colocation_group"])
def test_an_unknown_proc_path_says_which_there_are(listed: SparkSession, path: str) -> None:
    with pytest.raises(Exception, match="SHOW PROC '/colocation_group'"):
        listed.sql(f"SHOW PROC '{path}'")


@pytest.mark.parametrize(
    "text", ["SHOW PROC", "SHOW PROCS '/x'", "SELECT 1 SHOW PROC '/colocation_group'", "SHOW PROC '/a' 'b'"]
)
def test_what_is_no_show_proc_keeps_sparks_syntax_error(spark: SparkSession, text: str) -> None:
    with pytest.raises(ParseException, match="PARSE_SYNTAX_ERROR"):
        spark.sql(text)


def test_system_tables_have_their_columns(listed: SparkSession) -> None:
    tables = ("groups", "tables", "buckets", "hosts", "audit")
    text = "\n".join(f"{name}: {listed.table(f'system.colocation_{name}').schema.simpleString()}" for name in tables)
    assert_golden(text, GOLDEN / "system_tables.txt")


def test_colocation_groups_tells_what_a_group_is(listed: SparkSession) -> None:
    row = listed.sql("SELECT * FROM system.colocation_groups WHERE group_name = 'listed.g'").collect()[0]
    assert (row.db, row.buckets, row.replication, row.key_types) == (DATABASE, 4, 1, ["bigint"])
    assert (row.layout_stable, row.placement_stable, row.is_stable, row.members) == (True, True, True, 2)
    assert row.bytes > 0
    assert row.recycled_until is None


def test_colocation_tables_tells_role_files_and_bytes(listed: SparkSession) -> None:
    found = listed.sql(
        "SELECT `table`, format, keys, role, layout_state, strays, files FROM system.colocation_tables "
        f"WHERE db = '{DATABASE}' ORDER BY table_id"
    ).collect()
    assert [tuple(row) for row in found] == [
        ("orders", "parquet", ["k"], "parent", "stable", 0, 8),
        ("lines", "orc", ["k"], "child", "stable", 0, 4),
    ]


@pytest.mark.parametrize("table", ["orders", "lines"])
def test_colocation_buckets_counts_the_rows_of_each_bucket(listed: SparkSession, table: str) -> None:
    buckets = listed.sql(f"SELECT * FROM system.colocation_buckets WHERE db = '{DATABASE}' AND `table` = '{table}'")
    expected = listed.sql(f"SELECT pmod(hash(k), 4) AS b, count(*) AS n FROM {DATABASE}.{table} GROUP BY 1").collect()
    assert {row.bucket: row.rows for row in buckets.collect()} == {row.b: row.n for row in expected}
    assert {row.state for row in buckets.collect()} == {"stable"}
    assert all(len(row.hosts) == 1 for row in buckets.collect())


def test_a_file_dropped_in_is_listed_as_a_stray(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 4, 'g')}")
    spark.sql("INSERT INTO t VALUES (1), (2)")
    location = spark.sql(f"SELECT location FROM system.colocation_tables WHERE db = '{db}'").collect()[0][0]
    spark.createDataFrame([(3,)], "k INT").coalesce(1).write.mode("append").parquet(location)
    strays = spark.sql(f"SELECT files, rows FROM system.colocation_buckets WHERE db = '{db}' AND state = 'stray'")
    assert [tuple(row) for row in strays.where("files > 0").collect()] == [(1, 1)]
    assert spark.sql(f"SELECT strays FROM system.colocation_tables WHERE db = '{db}'").collect() == [(1,)]


def test_system_tables_work_from_any_database_and_inside_queries(listed: SparkSession, db: str) -> None:
    joined = listed.sql(
        "WITH b AS (SELECT `group`, sum(bytes) AS bytes FROM system.colocation_buckets GROUP BY 1) "
        "SELECT g.group_name FROM system.colocation_groups g JOIN b ON g.group_name = b.`group` WHERE g.bytes = b.bytes"
    )
    assert ("listed.g",) in [tuple(row) for row in joined.collect()]


def test_an_unknown_system_table_is_not_found(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.table("system.colocation_nothing")


def test_the_audit_log_tells_who_did_what(listed: SparkSession) -> None:
    seen = listed.sql(
        f"SELECT verb, object, who FROM system.colocation_audit WHERE object LIKE '{DATABASE}.%'"
    ).collect()
    assert {("group_created", "listed.g"), ("join", "listed.orders"), ("join", "listed.lines")} <= {
        (row.verb, row.object) for row in seen
    }
    assert all(row.who for row in seen)


def test_explain_tells_the_verdicts_as_rows_and_runs_nothing(listed: SparkSession) -> None:
    listed.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    query = f"SELECT o.v FROM {DATABASE}.orders o JOIN {DATABASE}.lines l ON o.k = l.k"
    found = listed.sql(f"CALL system.explain('{query}')").collect()
    assert [(row.colocated, row.code, row.group, row.buckets) for row in found] == [(True, "COLOCATED", "listed.g", 4)]
    listed.sql(f"CALL system.explain('CREATE TABLE {DATABASE}.never (k INT) USING parquet')")
    assert not listed.catalog.tableExists(f"{DATABASE}.never")


def test_procedures_are_listed(spark: SparkSession) -> None:
    names = {row.procedure_name for row in spark.sql("SHOW PROCEDURES IN system").collect()}
    assert {"explain", "set_group_stable", "set_replication", "purge_group"} <= names


@pytest.mark.parametrize("group", ["listed.g", "g"])
def test_set_group_stable_sets_the_flag_by_full_or_short_name(listed: SparkSession, group: str) -> None:
    listed.sql(f"USE {DATABASE}")
    for stable in (False, True):
        answer = listed.sql(f"CALL system.set_group_stable(group => '{group}', stable => {stable})").collect()
        assert [tuple(row) for row in answer] == [("listed.g", stable)]
        told = listed.sql("SELECT is_stable FROM system.colocation_groups WHERE group_name = 'listed.g'").collect()
        assert told == [(stable,)]
    listed.sql("USE default")


def test_set_group_stable_of_an_unknown_group_names_those_there_are(listed: SparkSession) -> None:
    with pytest.raises(Exception, match=r"There is no group nowhere\.g .*listed\.g"):
        listed.sql("CALL system.set_group_stable('nowhere.g', false)")
