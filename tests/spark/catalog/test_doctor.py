"""CALL system.doctor(): each fault that is planted is found, its cure is typed as it stands, and nothing is left."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from tests.spark.control import call, create, eventually
from tests.spark.foreign import add_column, change_property
from tests.spark.members import create_member, folder, set_stable
from tests.spark.native import files
from tests.spark.store import joined_long_ago, lost_host
from tests.spark.strays import drop_in, forget, say_of_bucket_3

INTERPRETED = True

Plant = Callable[[SparkSession, str, ExitStack], None]


def members(spark: SparkSession, *tables: str, provider: str = "delta", buckets: int = 2) -> None:
    for table in tables:
        create_member(spark, table, "k INT, v INT", ["k"], buckets, provider)
        spark.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2), (3, 3)")


def not_registered(spark: SparkSession, db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b", "c")
    call(spark, "finish", ticket=call(spark, "begin_drop", db=db, table="c")["ticket"], outcome="commit")


def does_not_fit(spark: SparkSession, db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b")
    create_member(spark, "c", "k INT, v INT", ["k"], 4, "delta", group="h")
    call(spark, "finish", ticket=call(spark, "begin_drop", db=db, table="c")["ticket"], outcome="commit")
    change_property(spark, "c", "colocate_with", lambda _: "g")


def gone(spark: SparkSession, db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b")
    create(spark, "c", "g", buckets=2, db=db)


def unstable(spark: SparkSession, db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b")
    set_stable(spark, f"{db}.g", False)


def on_lost_host(spark: SparkSession, db: str, ends: ExitStack) -> None:
    members(spark, "a", "b")
    ends.enter_context(lost_host(spark, f"{db}.g", [1]))


def stray(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b", provider="parquet")
    drop_in(spark, "a", "data.{ext}", {"k": pa.array([7], pa.int32()), "v": pa.array([7], pa.int32())})


def damaged(spark: SparkSession, db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b", buckets=4)
    spark.sql("INSERT INTO a SELECT id, id FROM range(50)")
    say_of_bucket_3(spark, "a", '"2"')
    spark.sql(f"CALL system.verify(table => '{db}.a', wait => true)").collect()


def not_checked(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b", provider="parquet")
    forget(spark, "a")


def small_files(spark: SparkSession, _db: str, _ends: ExitStack, provider: str = "delta") -> None:
    members(spark, "`1st`", "b", provider=provider)
    for value in range(8):
        spark.sql(f"INSERT INTO `1st` VALUES (1, {value})")


def small_native_files(spark: SparkSession, db: str, ends: ExitStack) -> None:
    small_files(spark, db, ends, "parquet")


def not_compacted(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    spark.sql(
        "CREATE TABLE `1st` (k INT, s BIGINT SUM) AGGREGATE KEY (k) DISTRIBUTED BY HASH(k) BUCKETS 2 "
        "PROPERTIES ('colocate_with' = 'g')"
    )
    members(spark, "b")
    for value in range(5):
        spark.sql(f"INSERT INTO `1st` VALUES (1, {value})")


def many_buckets(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b", buckets=20)


def many_native_buckets(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b", provider="parquet", buckets=20)


def one_table(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    members(spark, "`1st`")


def could_join(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    members(spark, "a")
    spark.sql("CREATE TABLE `1st` (k INT, w INT) USING orc CLUSTERED BY (k) INTO 2 BUCKETS")


def not_verified(spark: SparkSession, db: str, _ends: ExitStack) -> None:
    members(spark, "a", "b")
    joined_long_ago(spark, db)


def not_readable(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    spark.sql(
        "CREATE TABLE `1st` (k INT, s BIGINT SUM) AGGREGATE KEY (k) DISTRIBUTED BY HASH(k) BUCKETS 2 "
        "PROPERTIES ('colocate_with' = 'g')"
    )
    members(spark, "b")
    spark.sql("INSERT INTO `1st` VALUES (1, 1)")
    for column in ("c1", "c2"):
        add_column(spark, "`1st`", column)


def leftover(spark: SparkSession, _db: str, _ends: ExitStack) -> None:
    """What a killed CREATE TABLE AS SELECT leaves: an attempt's file, and one that was moved in already."""
    members(spark, "a", "b", provider="parquet")
    left = folder(spark, "a").parent / "1st"
    attempt = left / "_temporary" / "0" / "_temporary" / "attempt_1"
    attempt.mkdir(parents=True)
    moved = files(spark, "a")[0]
    (left / moved.name).write_bytes(moved.read_bytes())
    (attempt / moved.name).write_bytes(moved.read_bytes())


FAULTS: dict[str, Plant] = {
    "TABLE_NOT_REGISTERED": not_registered,
    "TABLE_DOES_NOT_FIT": does_not_fit,
    "TABLE_GONE": gone,
    "GROUP_NOT_STABLE": unstable,
    "RELOCATE_DISABLED": on_lost_host,
    "STRAYS": stray,
    "STRAYS of Delta": damaged,
    "FILES_NOT_CHECKED": not_checked,
    "SMALL_FILES": small_files,
    "SMALL_NATIVE_FILES": small_native_files,
    "NOT_COMPACTED": not_compacted,
    "NOT_VERIFIED": not_verified,
    "VERSION_UNREADABLE": not_readable,
    "LEFTOVER_FOLDER": leftover,
    "TOO_MANY_BUCKETS": many_buckets,
    "TOO_MANY_BUCKETS of Parquet": many_native_buckets,
    "GROUP_OF_ONE_TABLE": one_table,
    "TABLE_COULD_JOIN": could_join,
}


@pytest.fixture
def at_once(spark: SparkSession) -> None:
    """States need not last before they are findings."""
    spark.conf.set("spark.colocate.doctor.minAge", "0s")


def doctor(spark: SparkSession, db: str) -> list[Row]:
    """Of this database. Global groups and the store are listed too; other tests of the session may have left these."""
    found = spark.sql(f"CALL system.doctor(db => '{db}')").collect()
    return [row for row in found if row.object.startswith(f"{db}.")]


def jobs_of(spark: SparkSession, db: str) -> list[Row]:
    """Those that have not ended."""
    ends = "('done', 'failed', 'cancelled')"
    return spark.sql(
        f"SELECT job_id FROM system.colocation_jobs WHERE group_name LIKE '{db}.%' AND state NOT IN {ends}"
    ).collect()


def type_in(spark: SparkSession, cure: str) -> None:
    for statement in cure.split("; "):
        spark.sql(statement).collect()


@pytest.fixture
def ends() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.every(4)
def test_a_fault_is_found_and_its_cure_mends_it(
    spark: SparkSession, db: str, at_once: None, ends: ExitStack, fault: str
) -> None:
    FAULTS[fault](spark, db, ends)
    found = doctor(spark, db)
    assert {row.code for row in found} == {fault.split()[0]}, found
    for row in found:
        # A group has one job at a time.
        eventually(lambda: not jobs_of(spark, db), 60)
        type_in(spark, row.cure)
    # A job goes on after its call.
    assert eventually(lambda: doctor(spark, db) == [], 60), doctor(spark, db)


def test_a_member_whose_log_can_not_be_read_is_told_with_the_error(spark: SparkSession, db: str, at_once: None) -> None:
    members(spark, "a", "b")
    broken = folder(spark, "b") / "_delta_log" / f"{2:020d}.json"
    broken.write_text("this is no commit\n")
    [found] = doctor(spark, db)
    assert (found.code, found.object) == ("TABLE_UNREADABLE", f"{db}.b")
    with pytest.raises(Exception, match="FAILED_READ_FILE"):  # Delta's own
        spark.sql(found.cure).collect()
    assert "FAILED_READ_FILE" in found.finding
    broken.unlink()
    assert doctor(spark, db) == []


def test_a_folder_that_a_killed_create_left_goes_and_no_other_one(
    spark: SparkSession, db: str, at_once: None, ends: ExitStack
) -> None:
    leftover(spark, db, ends)
    warehouse = folder(spark, "a").parent
    kept = warehouse / "notes"
    kept.mkdir()
    (kept / "part-of-a-book.txt").write_text("mine")
    create = "CREATE TABLE 1st USING parquet CLUSTERED BY (k) INTO 2 BUCKETS AS SELECT * FROM a"
    with pytest.raises(PySparkException, match="LOCATION_ALREADY_EXISTS"):
        spark.sql(create)
    for name in ("notes", "a", "nothing"):
        with pytest.raises(PySparkException, match="LEFTOVER_ABSENT"):
            spark.sql(f"CALL system.remove_leftover(table => '{name}')").collect()
    spark.conf.set("spark.colocate.doctor.minAge", "1h")
    with pytest.raises(PySparkException, match="LEFTOVER_ABSENT"):
        spark.sql("CALL system.remove_leftover(table => '1st')").collect()
    spark.conf.set("spark.colocate.doctor.minAge", "0s")
    [removed] = spark.sql("CALL system.remove_leftover(table => '1st')").collect()
    assert (removed.files, (warehouse / "1st").exists(), kept.exists()) == (2, False, True)
    spark.sql(create)
    assert spark.table("1st").count() == 3


def test_a_healthy_catalog_has_no_finding(spark: SparkSession, db: str, at_once: None) -> None:
    members(spark, "a", "b")
    members(spark, "c", provider="parquet")
    spark.sql("CREATE TABLE plain (k INT) USING delta")
    spark.sql("CREATE VIEW seen AS SELECT * FROM a")
    assert doctor(spark, db) == []


def test_a_state_that_may_be_on_purpose_is_no_finding_at_once(spark: SparkSession, db: str) -> None:
    members(spark, "a")
    assert doctor(spark, db) == []


def test_all_databases_are_looked_at_without_a_name(spark: SparkSession, db: str, at_once: None) -> None:
    members(spark, "a")
    found = {row.object for row in spark.sql("CALL system.doctor()").collect()}
    assert f"{db}.g" in found


def test_an_unknown_database_is_refused(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="SCHEMA_NOT_FOUND"):
        doctor(spark, "nowhere")


def test_partitions_have_files_of_their_own(spark: SparkSession, db: str, at_once: None) -> None:
    """Eight files of a bucket are not many where each is of another partition."""
    for table, provider in (("a", "delta"), ("b", "parquet")):
        create_member(spark, table, "k INT, v INT, p INT", ["k"], 2, provider, partitioned=["p"])
        spark.sql(f"INSERT INTO {table} SELECT 1, 1, CAST(id AS INT) FROM range(9)")
    assert len(files(spark, "b")) >= 9
    assert doctor(spark, db) == []
