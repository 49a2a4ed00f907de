"""verify, repair and balance on real tables: what they find and mend, and that queries are right all the time."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from tests.spark.control import create
from tests.spark.foreign import without_us
from tests.spark.members import create_member, database, folder
from tests.spark.native import files
from tests.spark.oracle import assert_no_exchange, compare
from tests.spark.strays import bucket_file, drop_in, forget, known, rename, say_of_bucket_3
from tests.tiers.params import rest_slow

INTERPRETED = True

JOIN = "SELECT a.k, a.v, b.v AS w FROM {table} a JOIN {table}_other b ON a.k = b.k"
AGGREGATE = "SELECT k, count(*) AS n, sum(v) AS s FROM {table} GROUP BY k"
SHAPES = (JOIN, AGGREGATE, "SELECT * FROM {table}", "SELECT v FROM {table} WHERE k = 7")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "jobs", lambda _: None)


def _members(spark: SparkSession, name: str, provider: str, partitioned: tuple[str, ...] = (), **more: Any) -> None:
    for table, step in ((name, 1), (f"{name}_other", 2)):
        create_member(spark, table, "k INT, v BIGINT, p INT", ["k"], 4, provider, f"g_{name}", partitioned, **more)
        spark.sql(f"INSERT INTO {table} SELECT CAST(id AS INT), id * {step}, CAST(id % 2 AS INT) FROM range(0, 200)")


def _call(spark: SparkSession, text: str) -> Row:
    return spark.sql(f"CALL system.{text}").collect()[0]


def _strays(spark: SparkSession, table: str) -> int:
    where = f"`table` = '{table}' AND db = current_database()"
    return int(spark.sql(f"SELECT strays FROM system.colocation_tables WHERE {where}").head()[0])  # type: ignore[index]


def _right(spark: SparkSession, table: str) -> None:
    for shape in SHAPES:
        compare(spark, shape.format(table=table))


def _stray(spark: SparkSession, table: str, below: str = "") -> None:
    columns = {"k": pa.array([7, 1000, 1001], pa.int32()), "v": pa.array([1, 2, 3], pa.int64())}
    if not below:
        columns["p"] = pa.array([0, 0, 0], pa.int32())
    drop_in(spark, table, "dropped_in.{ext}", columns, below)


@pytest.mark.parametrize("provider", rest_slow(["parquet", "orc", "delta"], "parquet", "delta"))
def test_a_sound_group_has_no_damage(session: SparkSession, provider: str) -> None:
    _members(session, f"sound_{provider}", provider)
    done = _call(session, f"verify(group => 'g_sound_{provider}', wait => true)")
    assert (done.kind, done.state, done.findings, done.error) == ("verify", "done", ["no damage found"], None)
    assert done.target == f"jobs.g_sound_{provider}"
    listed = session.sql(f"SELECT * FROM system.colocation_jobs WHERE job_id = {done.job_id}").collect()[0]
    assert (listed.steps, listed.steps_done, listed.buckets_done, listed.state) == (2, 2, 8, "done")
    assert listed.bytes_done == listed.bytes > 0 and listed.created_at <= listed.started_at <= listed.ended_at
    assert _call(session, f"repair(group => 'g_sound_{provider}', wait => true)").steps == 0


@pytest.mark.parametrize("provider", ["parquet", "delta"])
def test_a_group_without_rows_is_sound(session: SparkSession, provider: str) -> None:
    create_member(session, f"empty_{provider}", "k INT", ["k"], 4, provider, f"g_empty_{provider}")
    for kind in ("verify", "repair", "balance"):
        done = _call(session, f"{kind}(group => 'g_empty_{provider}', wait => true)")
        assert (done.state, done.error) == ("done", None)


@pytest.mark.parametrize("provider", rest_slow(["parquet", "orc"], "parquet"))
def test_a_renamed_file_is_found_and_its_rows_are_written_into_their_buckets(
    session: SparkSession, provider: str
) -> None:
    table = f"renamed_{provider}"
    _members(session, table, provider)
    rename(bucket_file(session, table, 1), 2)
    forget(session, table)
    found = _call(session, f"verify(table => '{table}', wait => true)")
    assert found.state == "done" and "claims bucket 2 and has a row of bucket 1" in found.findings[0]
    assert f"CALL system.repair(table => 'jobs.{table}')" in found.findings[1]
    assert _strays(session, table) == 1
    _right(session, table)
    session.sql(f"CALL system.repair(table => 'jobs.{table}', wait => true)").collect()
    assert _strays(session, table) == 0
    assert not any(known(session, table).values()) or len(files(session, table)) == 4
    assert_no_exchange(session, JOIN.format(table=table), f"jobs.g_{table}")
    _right(session, table)
    assert session.table(table).count() == 200


@pytest.mark.parametrize("provider", rest_slow(["parquet", "orc"], "parquet"))
def test_strays_of_partitions_are_repaired_folder_by_folder(session: SparkSession, provider: str) -> None:
    table = f"parts_{provider}"
    _members(session, table, provider, ("p",))
    for part in (0, 1):
        _stray(session, table, f"p={part}")
    rehearsed = session.sql(f"CALL system.repair(table => '{table}', dry_run => true)").collect()
    assert [row.label for row in rehearsed] == [f"jobs.{table}, 1 stray of p={part}" for part in (0, 1)]
    assert _strays(session, table) == 2
    before = sorted(session.table(table).collect())
    done = _call(session, f"repair(table => '{table}', wait => true)")
    assert (done.steps, done.steps_done, _strays(session, table)) == (2, 2, 0)
    assert sorted(session.table(table).collect()) == before
    assert not any(file.name.startswith("dropped_in") for file in folder(session, table).rglob("*"))
    assert not list((folder(session, table) / "_colocate").glob("rewrite-*"))
    _right(session, table)
    assert_no_exchange(session, JOIN.format(table=table), f"jobs.g_{table}")


def test_files_with_columns_that_the_table_got_later(session: SparkSession) -> None:
    _members(session, "grown", "parquet")
    drop_in(session, "grown", "old.{ext}", {"k": pa.array([5, None], pa.int32())})
    assert _call(session, "repair(table => 'grown', wait => true)").state == "done"
    assert session.sql("SELECT count(*) FROM grown WHERE v IS NULL AND p IS NULL").head() == Row(2)
    _right(session, "grown")


def test_a_stray_that_can_not_be_read_fails_the_job_and_loses_nothing(session: SparkSession) -> None:
    _members(session, "odd", "parquet")
    drop_in(session, "odd", "odd.{ext}", {"k": pa.array(["text"]), "v": pa.array([1], pa.int64())})
    before = {file.name for file in files(session, "odd")}
    job = _call(session, "repair(table => 'odd')").job_id
    _until(session, job, lambda row: row.attempts > 0)
    assert _call(session, f"cancel_job({job})").state == "cancelled"
    assert {file.name for file in files(session, "odd")} == before
    assert not list((folder(session, "odd") / "_colocate").glob("rewrite-*"))


def _until(spark: SparkSession, job: int, condition: Any) -> Row:
    for _ in range(200):
        row = spark.sql(f"SELECT * FROM system.colocation_jobs WHERE job_id = {job}").collect()[0]
        if condition(row):
            return row
        spark.sql("SELECT java_method('java.lang.Thread', 'sleep', 100L)").collect()
    raise AssertionError(row)


@pytest.fixture
def damaged(session: SparkSession, request: pytest.FixtureRequest) -> str:
    """A Delta member whose log says bucket 2 of the files of bucket 3, found by a verify."""
    name = f"damaged_{request.node.name.split('[')[0][5:25]}"
    properties = {"delta.enableRowTracking": "true"} if "row_ids" in name else {}
    _members(session, name, "delta", properties=properties)
    say_of_bucket_3(session, name, '"2"')
    done = _call(session, f"verify(table => '{name}', wait => true)")
    assert "claims bucket 2 and has a row of bucket 3" in done.findings[0]
    return name


def test_queries_on_a_damaged_delta_table_are_right_and_colocated(session: SparkSession, damaged: str) -> None:
    assert _strays(session, damaged) == 1
    _right(session, damaged)
    assert_no_exchange(session, JOIN.format(table=damaged))
    assert session.table(damaged).count() == 200
    told = session.sql(f"EXPLAIN {JOIN.format(table=damaged)}").collect()[0][0]
    assert "1 stray shuffled" in told


def _refusal(spark: SparkSession, statement: str) -> str | None:
    try:
        spark.sql(statement).collect()
    except (PySparkException, Py4JJavaError) as error:  # PySpark does not know Delta's error
        return str(error)
    return None


def test_statements_on_a_damaged_delta_table_are_refused_or_right(session: SparkSession, damaged: str) -> None:
    """Delta itself refuses to write a row of a damaged file again: its bucket column has a wrong value."""
    statements = (
        f"MERGE INTO {damaged} t USING {damaged}_other s ON t.k = s.k WHEN MATCHED AND t.k % 3 = 0 "
        "THEN UPDATE SET v = s.v + 1 WHEN MATCHED AND t.k % 3 = 1 THEN DELETE",
        f"UPDATE {damaged} SET v = v + 1 WHERE k % 6 = 0",
        f"DELETE FROM {damaged} WHERE k > 150",
        f"INSERT INTO {damaged} SELECT CAST(id AS INT), id, 0 FROM range(300, 320)",
    )
    for statement in statements:
        before = sorted(session.table(damaged).collect())
        refused = _refusal(session, statement)
        if refused:
            assert "ROW_IN_WRONG_BUCKET" in refused
            assert sorted(session.table(damaged).collect()) == before
        _right(session, damaged)
    _call(session, f"repair(table => '{damaged}', wait => true)")
    session.sql(f"DELETE FROM {damaged} WHERE k >= 0").collect()
    session.sql(f"INSERT INTO {damaged} SELECT CAST(id AS INT), id, 0 FROM range(0, 200)").collect()
    for statement in statements[:3]:
        session.sql(statement).collect()
    wanted = [(k, 2 * k + 2 if k % 6 == 0 else 2 * k + 1 if k % 3 == 0 else k) for k in range(151) if k % 3 != 1]
    assert sorted((row.k, row.v) for row in session.table(damaged).collect()) == wanted
    _right(session, damaged)


def test_a_clone_of_a_damaged_table_is_read_without_its_layout(session: SparkSession, damaged: str) -> None:
    session.sql(f"CREATE TABLE {damaged}_copy SHALLOW CLONE {damaged}")
    query = f"SELECT a.k, b.v FROM {damaged}_copy a JOIN {damaged}_other b ON a.k = b.k"
    compare(session, query)
    assert "DAMAGED" in session.sql(f"EXPLAIN {query}").collect()[0][0]
    assert "claims bucket 2" in _call(session, f"verify(table => '{damaged}_copy', wait => true)").findings[0]
    assert_no_exchange(session, query)


def test_damage_that_went_without_a_repair_ends_with_a_verify_of_all_rows(session: SparkSession, damaged: str) -> None:
    session.sql(f"INSERT OVERWRITE {damaged} SELECT CAST(id AS INT), id, 0 FROM range(200)")
    session.sql(f"CREATE TABLE {damaged}_copy SHALLOW CLONE {damaged}")
    for table in (damaged, f"{damaged}_copy"):
        for mode, is_marked in (("sample", True), ("rows", False)):
            done = _call(session, f"verify(table => '{table}', mode => '{mode}', wait => true)")
            assert list(done.findings) == ["no damage found"]
            marks = session.sql(f"SHOW TBLPROPERTIES {table}").where("key = 'colocate.damaged'").count()
            assert marks == is_marked, (table, mode)
        query = f"SELECT a.k, b.v FROM {table} a JOIN {damaged}_other b ON a.k = b.k"
        compare(session, query)
        assert_no_exchange(session, query)


def test_a_damaged_table_that_left_its_group_is_still_read_right(session: SparkSession, damaged: str) -> None:
    session.sql(f"ALTER TABLE {damaged} SET TBLPROPERTIES ('colocate_with' = '')")
    _right(session, damaged)
    session.sql(f"ALTER TABLE {damaged} SET TBLPROPERTIES ('colocate_with' = 'g_{damaged}')")
    _right(session, damaged)


def test_a_repair_of_a_delta_table_is_one_commit_that_keeps_rows_and_row_ids(
    session: SparkSession, damaged: str
) -> None:
    assert "repair_of" in damaged
    session.sql(f"ALTER TABLE {damaged} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
    ids = f"SELECT k, _metadata.row_id, _metadata.row_commit_version FROM {damaged}"
    before = sorted(session.sql(ids).collect())
    version = session.sql(f"DESCRIBE HISTORY {damaged}").head().version  # type: ignore[union-attr]
    done = _call(session, f"repair(table => '{damaged}', wait => true)")
    assert done.findings == [f"jobs.{damaged}: 1 stray became 1 file of buckets"]
    assert sorted(session.sql(ids).collect()) == before
    assert session.sql(f"DESCRIBE HISTORY {damaged}").head().version == version + 1  # type: ignore[union-attr]
    assert _strays(session, damaged) == 0
    _right(session, damaged)
    assert_no_exchange(session, JOIN.format(table=damaged))
    old = f"(SELECT * FROM {damaged} VERSION AS OF {version})"
    compare(session, f"SELECT a.k, b.v FROM {old} a JOIN {damaged}_other b ON a.k = b.k")
    again = _call(session, f"verify(table => '{damaged}', wait => true)")
    assert again.findings == ["no damage found"]


def test_deleted_rows_stay_deleted_in_a_repair(session: SparkSession, damaged: str) -> None:
    session.sql(f"ALTER TABLE {damaged} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    session.sql(f"DELETE FROM {damaged} WHERE k % 5 = 0").collect()
    left = session.table(damaged).count()
    assert left == 160
    _call(session, f"repair(table => '{damaged}', wait => true)")
    assert session.table(damaged).count() == left
    _right(session, damaged)


def test_calls_that_can_not_be(session: SparkSession) -> None:
    _members(session, "asked", "delta")
    for text, words in (
        ("verify()", "name either a table or a group"),
        ("verify(table => 'asked', group => 'g_asked')", "name either a table or a group"),
        ("verify(table => 'nothing')", "is in no group"),
        ("verify(table => 'asked', mode => 'half')", "rows, sample, metadata"),
        ("verify(group => 'nothing')", "group"),
        ("cancel_job(1)", "There is no job 1"),
        ("cancel_job(99999999999999)", "There is no job 99999999999999"),
    ):
        with pytest.raises(PySparkException, match=words):
            session.sql(f"CALL system.{text}").collect()


def test_a_job_is_paused_resumed_and_waited_for(session: SparkSession) -> None:
    _members(session, "paused", "delta")
    job = _call(session, "verify(group => 'g_paused')").job_id
    paused = _call(session, f"pause_job({job})")
    if paused.state != "done":
        row = _until(session, job, lambda row: row.state != "running")
        if row.state == "paused":
            assert _call(session, f"resume_job({job})").state == "pending"
    assert _call(session, f"wait_job({job})").state == "done"


def test_a_balance_on_one_host_has_nothing_to_do(session: SparkSession) -> None:
    _members(session, "alone", "delta")
    done = _call(session, "balance(group => 'g_alone', wait => true)")
    assert (done.state, done.steps) == ("done", 0)


def _dropped(spark: SparkSession, table: str) -> None:
    """Dropped where nobody told the registry."""
    create(spark, "gone", f"g_{table}", db="jobs")


def _converted(spark: SparkSession, table: str) -> None:
    """By Delta's own method, which no rule of the analyzer sees."""
    create_member(spark, "gone", "k INT", ["k"], 4, "parquet", f"g_{table}")
    spark.sql("INSERT INTO gone VALUES (1), (2)")
    DeltaTable.convertToDelta(spark, "jobs.gone")


@pytest.mark.parametrize("how", [_dropped, _converted])
def test_a_table_that_lost_its_buckets_does_not_keep_a_job_from_the_others(
    session: SparkSession, how: Callable[[SparkSession, str], None]
) -> None:
    table = f"lost_{how.__name__}"
    _members(session, table, "parquet")
    how(session, table)
    _stray(session, table)
    try:
        for kind, steps in (("verify", 2), ("repair", 1)):
            done = _call(session, f"{kind}(group => 'g_{table}', wait => true)")
            left_out = [line for line in done.findings if "jobs.gone was left out: " in line]
            assert (done.state, done.steps_done >= steps, len(left_out)) == ("done", True, 1), done
        assert _strays(session, table) == 0
        assert _call(session, f"balance(group => 'g_{table}', wait => true)").state == "done"
        alone = _call(session, "verify(table => 'gone')").job_id
        error = _until(session, alone, lambda row: row.state == "failed").error
        told = {_dropped: "TABLE_OR_VIEW_NOT_FOUND", _converted: "Cannot read the buckets of"}[how]
        assert error and told in error
        with pytest.raises(PySparkException, match=rf"\[JOB_FAILED\].*{told}"):
            _call(session, "verify(table => 'gone', wait => true)")
    finally:
        session.sql("DROP TABLE IF EXISTS gone")
        session.sql("CALL system.reconcile()")


def test_a_property_proves_no_health(session: SparkSession, damaged: str) -> None:
    """Of a table in no group, of which the registry says nothing."""
    session.sql(f"ALTER TABLE {damaged} SET TBLPROPERTIES ('colocate_with' = '')")
    for change in ("UNSET TBLPROPERTIES ('colocate.damaged')", "SET TBLPROPERTIES ('Colocate.Damaged' = 'false')"):
        with pytest.raises(PySparkException, match="PROPERTY_RESERVED"):
            session.sql(f"ALTER TABLE {damaged} {change}")
    whole = f"{session.catalog.currentDatabase()}.{damaged}"
    without_us(session, f"ALTER TABLE {whole} UNSET TBLPROPERTIES ('colocate.damaged')")
    session.sql(f"REFRESH TABLE {damaged}")
    _right(session, damaged)
    version = session.sql(f"DESCRIBE HISTORY {damaged}").where("operation = 'WRITE'").head()["version"]  # type: ignore[index]
    session.sql(f"RESTORE TABLE {damaged} TO VERSION AS OF {version}")
    _right(session, damaged)
