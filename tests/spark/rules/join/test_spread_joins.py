"""Skew and parallelism (design D9): hot buckets are split where it is legal, tiny ones share tasks; EXPLAIN says so."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.spark.dml import Member, assert_local, change
from tests.spark.members import create_member, database, fill
from tests.spark.oracle import Pair, compare
from tests.spark.plans import nodes
from tests.spark.strays import drop_in
from tools.plans import kind

BUCKETS = 4
HOT = 1
SKEW = "spark.colocate.skew"
OPEN_COST = "spark.sql.files.openCostInBytes"


def make_tables(spark: SparkSession) -> None:
    """hot: nine of ten rows in bucket 1, in many row groups; even: its keys and others; some null keys in both.

    n_hot, n_even: the same as Parquet. thick: hot with one row group for each bucket. t1, t2: 24 buckets with few rows.
    """
    spark.conf.set("parquet.block.size", "65536")
    try:
        for prefix, provider in (("", "delta"), ("n_", "parquet")):
            create_member(spark, f"{prefix}hot", "k INT, v BIGINT", ["k"], BUCKETS, provider)
            create_member(spark, f"{prefix}even", "k INT, w BIGINT", ["k"], BUCKETS, provider)
            key = "if(id % 50 = 0, NULL, cast(id AS INT))"
            hot = f"pmod(hash(cast(id AS INT)), {BUCKETS}) = {HOT} OR id % 20 = 0"
            fill(spark, f"{prefix}hot", f"SELECT {key}, xxhash64(id) FROM range(200000) WHERE {hot}", ["k", "v"])
            fill(spark, f"{prefix}even", f"SELECT {key}, id FROM range(150000, 230000, 7)", ["k", "w"])
    finally:
        spark.conf.unset("parquet.block.size")
    create_member(spark, "thick", "k INT, v BIGINT", ["k"], BUCKETS)
    fill(spark, "thick", "SELECT k, v FROM hot", ["k", "v"])
    for name in ("t1", "t2"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 24, group="tiny")
        fill(spark, name, "SELECT if(id % 9 = 0, NULL, cast(id % 40 AS INT)), id FROM range(200)", ["k", "v"])


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "skew", make_tables)


@pytest.fixture
def session(session: SparkSession) -> SparkSession:
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set(OPEN_COST, "20000")
    return session


def explained(spark: SparkSession, sql: str) -> str:
    return str(spark.sql(f"EXPLAIN {sql}").collect()[0][0])


def parts(pair: Pair, text: str) -> bool:
    assert pair.on.rows and pair.on.colocated
    return f"bucket {HOT} in " in text


SPLIT = {
    "inner": "SELECT h.v, e.w FROM {p}hot h JOIN {p}even e ON h.k = e.k",
    "inner, the other way round": "SELECT h.v, e.w FROM {p}even e JOIN {p}hot h ON h.k = e.k AND h.v > e.w",
    "left": "SELECT h.v, e.w FROM {p}hot h LEFT JOIN {p}even e ON h.k = e.k",
    "right": "SELECT h.v, e.w FROM {p}even e RIGHT JOIN {p}hot h ON h.k = e.k",
    "semi": "SELECT h.v FROM {p}hot h LEFT SEMI JOIN {p}even e ON h.k = e.k",
    "anti": "SELECT h.v FROM {p}hot h LEFT ANTI JOIN {p}even e ON h.k = e.k",
    "existence": "SELECT v FROM {p}hot h WHERE v < 0 OR EXISTS (SELECT 1 FROM {p}even e WHERE e.k = h.k)",
    "null-safe": "SELECT h.v FROM {p}hot h LEFT ANTI JOIN {p}even e ON h.k <=> e.k",
    "three tables": "SELECT h.v, e.w, f.w FROM {p}hot h JOIN {p}even e ON h.k = e.k LEFT JOIN {p}even f ON h.k = f.k",
    "grouped by something else": "SELECT v % 5, count(*) FROM {p}hot h JOIN {p}even e ON h.k = e.k GROUP BY 1",
}

KEPT = {
    "full": "SELECT h.v, e.w FROM {p}hot h FULL JOIN {p}even e ON h.k = e.k",
    "left, hot on the right": "SELECT h.v, e.w FROM {p}even e LEFT JOIN {p}hot h ON h.k = e.k",
    "semi, hot on the right": "SELECT e.w FROM {p}even e LEFT SEMI JOIN {p}hot h ON h.k = e.k",
    "anti, hot on the right": "SELECT e.w FROM {p}even e LEFT ANTI JOIN {p}hot h ON h.k = e.k",
    "grouped by the key": "SELECT h.k, count(*) FROM {p}hot h JOIN {p}even e ON h.k = e.k GROUP BY h.k",
    "below a full join": "SELECT h.v, f.w FROM {p}hot h JOIN {p}even e ON h.k = e.k FULL JOIN {p}even f ON h.k = f.k",
}


@pytest.mark.each_value
@pytest.mark.parametrize(("prefix", "adaptive"), [("", "true"), ("n_", "false")], ids=["delta", "parquet-plain"])
@pytest.mark.parametrize("case", SPLIT)
@pytest.mark.every(3)
def test_a_hot_bucket_is_split_for(session: SparkSession, case: str, prefix: str, adaptive: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    if case == "three tables":  # to read two of them again for each part pays on more than two cores
        session.conf.set(f"{SKEW}.targetTaskBytes", "100000")
    sql = SPLIT[case].format(p=prefix)
    assert parts(compare(session, sql), explained(session, sql))


def test_generated_code_of_a_split_join_compiles(session: SparkSession) -> None:
    """Spark writes "(skew=true)" into the name of a split join, and names of operators into those of variables."""
    session.conf.set("spark.sql.codegen.wholeStage", "true")
    sql = SPLIT["inner"].format(p="")
    found = nodes(session.sql(sql))
    assert any(kind(node) == "BucketHashJoinExec" and "skew=true" in str(node) for node in found)
    assert compare(session, sql).on.rows


@pytest.mark.parametrize("case", KEPT)
@pytest.mark.every(2)
def test_a_hot_bucket_stays_whole_for(session: SparkSession, case: str) -> None:
    sql = KEPT[case].format(p="")
    assert not parts(compare(session, sql), explained(session, sql))


@pytest.mark.parametrize(
    "column", ["monotonically_increasing_id()", "spark_partition_id()", "input_file_name()", "rand(1)"]
)
def test_what_depends_on_the_task_is_not_repeated(session: SparkSession, column: str) -> None:
    sql = f"SELECT h.v, e.i FROM hot h JOIN (SELECT k, {column} AS i FROM even) e ON h.k = e.k"
    assert " parts" not in explained(session, sql)


def test_parts_of_a_hot_bucket_have_its_rows_once_and_the_other_side_each_time(session: SparkSession) -> None:
    df = session.sql(SPLIT["semi"].format(p=""))
    scans = [node for node in nodes(df) if node.nodeName().startswith("ColocatedScan")]
    read = {scan.nodeName().split(".")[-1]: scan.metrics().apply("numOutputRows").value() for scan in scans}
    assert read["hot"] == session.table("hot").count()
    assert read["even"] > session.table("even").count()


@pytest.mark.parametrize("vectorized", ["true", "false"])
def test_one_row_group_is_read_in_turns(session: SparkSession, vectorized: str) -> None:
    session.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
    session.conf.set(f"{SKEW}.targetTaskBytes", "20000")
    session.sql("DELETE FROM thick WHERE v % 100 = 0")
    for case in ("left", "semi"):
        sql = SPLIT[case].format(p="").replace("hot h", "thick h")
        assert parts(compare(session, sql), explained(session, sql))


def test_splitting_can_be_switched_off(session: SparkSession) -> None:
    session.conf.set("spark.colocate.rules.excluded", "SpreadJoins")
    assert " parts" not in explained(session, SPLIT["inner"].format(p=""))


@pytest.mark.each_value
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, count(*) FROM t1 GROUP BY k",
        "SELECT t1.k, count(*) FROM t1 JOIN t2 ON t1.k = t2.k GROUP BY t1.k",
        "SELECT t1.v, t2.v FROM t1 FULL JOIN t2 ON t1.k = t2.k",
        "SELECT k FROM t1 INTERSECT SELECT k FROM t2",
    ],
)
@pytest.mark.parametrize("without", ["", "SpreadJoins"])
def test_tiny_buckets_share_tasks(session: SparkSession, sql: str, without: str) -> None:
    session.conf.unset(OPEN_COST)
    session.conf.set("spark.colocate.rules.excluded", without)
    pair = compare(session, sql)
    assert pair.on.exchanges == 0 and pair.on.rows
    assert "24 out of 24 (read as 2)" in explained(session, sql)


def test_tiny_buckets_have_their_own_tasks_where_that_is_asked_for(session: SparkSession) -> None:
    session.conf.unset(OPEN_COST)
    session.conf.set("spark.colocate.rules.excluded", "ReadSmallBucketsTogether")
    assert "24 out of 24\n" in explained(session, "SELECT k, count(*) FROM t1 GROUP BY k")


def test_a_hot_bucket_of_a_table_with_strays_stays_whole(session: SparkSession) -> None:
    create_member(session, "n_strayed", "k INT, v BIGINT", ["k"], BUCKETS, "parquet")
    fill(session, "n_strayed", "SELECT k, v FROM n_hot WHERE v % 3 = 0", ["k", "v"])
    session.conf.set(f"{SKEW}.targetTaskBytes", "20000")
    sql = SPLIT["left"].replace("{p}hot", "n_strayed").format(p="n_")
    assert parts(compare(session, sql), explained(session, sql))
    rows = {"k": pa.array(range(160000, 160100), pa.int32()), "v": pa.array(range(100), pa.int64())}
    drop_in(session, "n_strayed", f"data_{HOT}.{{ext}}", rows)
    assert not parts(compare(session, sql), explained(session, sql))


@pytest.mark.each_value
@pytest.mark.parametrize("target", ["1", "1073741824"], ids=["split", "together"])
@pytest.mark.parametrize(
    "statement",
    [
        "MERGE INTO written t USING read s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)",
        "DELETE FROM written WHERE k % 5 = 0",
        "INSERT INTO written SELECT s.k, t.v FROM read s LEFT JOIN written t ON s.k = t.k",
    ],
    ids=["merge", "delete", "insert"],
)
def test_tasks_below_a_write_stay_those_of_its_buckets(session: SparkSession, statement: str, target: str) -> None:
    session.conf.set(OPEN_COST, "1")
    session.conf.set(f"{SKEW}.targetTaskBytes", target)
    on, off = change(session, statement, Member("written"), Member("read", rows="id + 200, 'new'", vectors=True))
    assert_local(on, off)
