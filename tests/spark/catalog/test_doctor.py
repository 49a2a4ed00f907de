"""CALL system.doctor(): each fault that is planted is found, its cure is typed as it stands, and nothing is left."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession

from tests.spark.control import call, create, eventually
from tests.spark.foreign import change_property
from tests.spark.members import create_member, set_stable
from tests.spark.native import files
from tests.spark.store import lost_host
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


def type_in(spark: SparkSession, cure: str) -> None:
    for statement in cure.split("; "):
        spark.sql(statement).collect()


@pytest.fixture
def ends() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_its_cure_mends_it(
    spark: SparkSession, db: str, at_once: None, ends: ExitStack, fault: str
) -> None:
    FAULTS[fault](spark, db, ends)
    found = doctor(spark, db)
    assert {row.code for row in found} == {fault.split()[0]}, found
    for row in found:
        type_in(spark, row.cure)
    # A job goes on after its call.
    assert eventually(lambda: doctor(spark, db) == [], 60), doctor(spark, db)


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
