"""A member joined by its keys with a small, broadcast side reads only the buckets of that side's keys."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import compare
from tests.spark.plans import nodes
from tests.spark.strays import drop_in
from tests.tiers.params import rest_slow
from tools.plans import kind

BUCKETS = 8


def make_tables(spark: SparkSession) -> None:
    """facts, more (Delta) and n_facts (Parquet) by k; pairs by (b, a); texts by a string. One file for each bucket."""
    key = "if(id % 50 = 0, NULL, cast(id % 100 - 50 AS INT))"
    for name, provider in (("facts", "delta"), ("more", "delta"), ("n_facts", "parquet")):
        create_member(spark, name, "k INT, v BIGINT", ["k"], BUCKETS, provider)
        fill(spark, name, f"SELECT {key}, id FROM range(2000)", ["k", "v"])
    create_member(spark, "pairs", "a INT, b INT, v BIGINT", ["b", "a"], BUCKETS, group="pairs")
    fill(spark, "pairs", f"SELECT {key}, cast(id % 7 - 3 AS INT), id FROM range(2000)", ["a", "b", "v"])
    create_member(spark, "texts", "t STRING, k INT, v BIGINT", ["t", "k"], BUCKETS, group="texts")
    fill(spark, "texts", f"SELECT 'x' || id % 100, {key}, id FROM range(2000)", ["t", "k", "v"])
    rows = "(-3, -1, 'x7', 9), (-3, 2, 'x7', 10), (17, 3, 'x67', 11), (NULL, 0, NULL, 12)"
    spark.sql(f"CREATE TABLE small USING parquet AS SELECT * FROM VALUES {rows} AS t(k, b, t, w)")
    spark.sql("CREATE TABLE none USING parquet AS SELECT * FROM small WHERE w < 0")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "prune", make_tables)


@pytest.fixture
def session(spark: SparkSession, tables: str) -> SparkSession:
    """With adaptive execution."""
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    return spark


@pytest.fixture(params=["adaptive", "static"])
def both(session: SparkSession, request: pytest.FixtureRequest) -> SparkSession:
    """With adaptive execution, and without it, where pruning happens in other places of the planner."""
    session.conf.set("spark.sql.adaptive.enabled", str(request.param == "adaptive").lower())
    # Without AQE both plans of the broadcast are compiled, and must be recognised as one.
    session.conf.set("spark.sql.codegen.wholeStage", str(request.param == "static").lower())
    return session


def files_read(spark: SparkSession, sql: str) -> list[int]:
    """Files that each scan of a member read."""
    df = spark.sql(sql)
    scans = [node for node in nodes(df) if kind(node) == "ColocatedScanExec"]
    return [int(scan.metrics().apply("numFiles").value()) for scan in scans]


def buckets_of(spark: SparkSession, keys: str, where: str = "true") -> int:
    rows = spark.sql(f"SELECT DISTINCT pmod(hash({keys}), {BUCKETS}) AS b FROM small WHERE {where}").collect()
    return len(rows)


PRUNED = {
    "inner": "SELECT f.v, s.w FROM {p}facts f JOIN small s ON f.k = s.k",
    "inner, built on the left": "SELECT f.v, s.w FROM small s JOIN {p}facts f ON f.k = s.k",
    "more conditions": "SELECT f.v FROM {p}facts f JOIN small s ON f.v % 5 = s.b AND f.k = s.k AND f.v > s.w",
    "semi": "SELECT f.v FROM {p}facts f LEFT SEMI JOIN small s ON f.k = s.k",
    "in a subquery": "SELECT v FROM {p}facts WHERE k IN (SELECT k FROM small)",
    "under other names": "SELECT q + 1 FROM (SELECT k AS q, v FROM {p}facts WHERE v % 3 < 2) JOIN small s ON q = s.k",
    "after an aggregate": (
        "SELECT n, w FROM (SELECT k, count(*) n FROM {p}facts GROUP BY k) f JOIN small s ON f.k = s.k"
    ),
    "with a window": (
        "SELECT f.*, w FROM (SELECT k, v, rank() OVER (PARTITION BY k ORDER BY v) r FROM {p}facts) f "
        "JOIN small s ON f.k = s.k"
    ),
}


@pytest.mark.each_value
@pytest.mark.parametrize(("name", "prefix"), [*((name, "") for name in PRUNED), ("inner", "n_"), ("semi", "n_")])
@pytest.mark.every(3)
def test_only_the_buckets_of_the_other_sides_keys_are_read(both: SparkSession, name: str, prefix: str) -> None:
    sql = PRUNED[name].format(p=prefix)
    pair = compare(both, sql)
    assert pair.on.rows and "BroadcastHashJoinExec" in pair.on.kinds
    # A null key is on the build side of some of these joins, and Spark filters it away on others.
    least, most = buckets_of(both, "k", "k IS NOT NULL"), buckets_of(both, "k")
    (files,) = files_read(both, sql)
    assert least <= files <= most < BUCKETS


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT p.v, s.w FROM pairs p JOIN small s ON p.a = s.k AND p.b = s.b", "b, k"),
        ("SELECT p.v, s.w FROM pairs p JOIN small s ON p.b = s.b AND p.v > s.w AND s.k = p.a", "b, k"),
        ("SELECT p.v, s.w FROM texts p JOIN small s ON p.k = s.k AND p.t = s.t", "t, k"),
    ],
)
def test_several_keys_in_any_order(both: SparkSession, sql: str, keys: str) -> None:
    assert compare(both, sql).on.rows
    (files,) = files_read(both, sql)
    assert buckets_of(both, keys, "k IS NOT NULL") <= files <= buckets_of(both, keys) < BUCKETS


@pytest.mark.each_value
@pytest.mark.parametrize("kind_of_join", ["JOIN", "LEFT JOIN"])
def test_both_scans_of_a_colocated_join_below_are_pruned(both: SparkSession, kind_of_join: str) -> None:
    both.conf.set("spark.sql.autoBroadcastJoinThreshold", "4000")
    joined = f"SELECT f.k, f.v, m.v AS mv FROM facts f {kind_of_join} more m ON f.k = m.k"
    sql = f"SELECT /*+ BROADCAST(s) */ j.v, j.mv, s.w FROM ({joined}) j JOIN small s ON j.k = s.k"
    pair = compare(both, sql)
    assert pair.on.rows and pair.on.exchanges == 0
    most = buckets_of(both, "k")
    assert [files <= most for files in files_read(both, sql)] == [True, True]


def test_what_the_broadcast_shuffles_is_done_once(both: SparkSession) -> None:
    """It stands in the plan twice, below the join and in the filter of the scan."""
    side = "(SELECT k, max(w) AS w FROM small GROUP BY k)"
    pair = compare(both, f"SELECT /*+ BROADCAST(s) */ f.v, s.w FROM facts f JOIN {side} s ON f.k = s.k")
    assert "ValuesOfBuildSide" in pair.on.kinds
    assert pair.on.exchanges == pair.off.exchanges == 1


BUILT_FROM_MEMBERS = {
    "an aggregate": "SELECT k, sum(v) AS w FROM more GROUP BY k",
    "a hash join": "SELECT /*+ SHUFFLE_HASH(y) */ x.k, y.v AS w FROM more x JOIN more y ON x.k = y.k AND y.v < 99",
}


@pytest.mark.parametrize("side", BUILT_FROM_MEMBERS.values(), ids=BUILT_FROM_MEMBERS.keys())
def test_a_broadcast_of_operators_of_our_own_is_made_once(session: SparkSession, side: str) -> None:
    """They come last into the plan: both uses of the broadcast must have them."""
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    pair = compare(session, f"SELECT /*+ BROADCAST(s) */ f.k, f.v, s.w FROM facts f JOIN ({side}) s ON f.k = s.k")
    assert pair.on.rows and {"AggregateRunsExec", "BucketHashJoinExec"} & set(pair.on.kinds)
    assert pair.on.kinds.count("BroadcastExchangeExec") == pair.on.kinds.count("ReusedExchangeExec") == 1


KEPT = {
    "outer": "SELECT f.v, s.w FROM facts f LEFT JOIN small s ON f.k = s.k",
    "anti": "SELECT f.v FROM facts f LEFT ANTI JOIN small s ON f.k = s.k",
    "existence": "SELECT v FROM facts f WHERE v < 50 OR EXISTS (SELECT 1 FROM small s WHERE s.k = f.k)",
    "null-safe": "SELECT f.v, s.w FROM facts f JOIN small s ON f.k <=> s.k",
    "another key": "SELECT f.v, s.w FROM facts f JOIN small s ON f.v = s.k",
    "a cast key": "SELECT f.v, s.w FROM facts f JOIN (SELECT cast(k AS BIGINT) k, w FROM small) s ON f.k = s.k",
    "one key of two": "SELECT p.v, s.w FROM pairs p JOIN small s ON p.b = s.b",
    "after a limit": "SELECT count(*) FROM (SELECT * FROM facts ORDER BY v LIMIT 900) f JOIN small s ON f.k = s.k",
    "after an aggregate by another key": (
        "SELECT f.n, s.w FROM (SELECT v % 100 g, max(k) k, count(*) n FROM facts GROUP BY 1) f "
        "JOIN small s ON f.k = s.k"
    ),
    "row ids": (
        "SELECT count(*) FROM (SELECT k, monotonically_increasing_id() id FROM facts) f JOIN small s ON f.k = s.k "
        "WHERE id >= 0"
    ),
    "numbered rows": (
        "SELECT r, w FROM (SELECT k, row_number() OVER (PARTITION BY v % 2 ORDER BY v) r FROM facts) f "
        "JOIN small s ON f.k = s.k"
    ),
}


@pytest.mark.parametrize(
    "name", rest_slow(KEPT, "outer", "anti", "null-safe", "a cast key", "one key of two", "after a limit")
)
@pytest.mark.every(3)
def test_all_is_read_where_rows_without_a_match_count(session: SparkSession, name: str) -> None:
    pair = compare(session, KEPT[name])
    assert pair.on.rows
    scans = [node for node in nodes(session.sql(KEPT[name])) if kind(node).endswith("ScanExec")]
    assert [str(scan.metadata()) for scan in scans if "BucketFilters" in str(scan.metadata())] == []


def test_an_empty_side_reads_nothing(session: SparkSession) -> None:
    sql = "SELECT f.v FROM facts f JOIN none s ON f.k = s.k"
    with switched_off(session):
        assert session.sql(sql).collect() == []
    assert files_read(session, sql) in ([], [0])  # adaptive execution may drop the scan altogether


def test_a_side_with_many_keys_reads_everything(session: SparkSession) -> None:
    sql = "SELECT f.v FROM facts f JOIN (SELECT /*+ BROADCAST */ cast(id - 50 AS INT) k FROM range(100)) m ON f.k = m.k"
    assert compare(session, sql).on.rows
    assert files_read(session, sql) == [BUCKETS]


def test_strays_are_read_whatever_the_keys(session: SparkSession) -> None:
    create_member(session, "s_facts", "k INT, v BIGINT", ["k"], BUCKETS, "parquet")
    try:
        fill(session, "s_facts", "SELECT cast(id % 100 - 50 AS INT), id FROM range(2000)", ["k", "v"])
        columns = {"k": pa.array(range(-50, 50), pa.int32()), "v": pa.array(range(9000, 9100), pa.int64())}
        drop_in(session, "s_facts", "stray.{ext}", columns)
        sql = "SELECT f.v, s.w FROM s_facts f JOIN small s ON f.k = s.k"
        assert {(9047, 9), (9047, 10), (9067, 11)} <= compare(session, sql).on.rows.keys()
    finally:
        session.sql("DROP TABLE s_facts")


def test_rows_that_a_deletion_vector_marks_stay_away(session: SparkSession) -> None:
    vectors = {"delta.enableDeletionVectors": "true"}
    create_member(session, "d_facts", "k INT, v BIGINT", ["k"], BUCKETS, properties=vectors)
    try:
        fill(session, "d_facts", "SELECT cast(id % 100 - 50 AS INT), id FROM range(2000)", ["k", "v"])
        session.sql("DELETE FROM d_facts WHERE v % 3 = 0")
        sql = "SELECT f.v, s.w FROM d_facts f JOIN small s ON f.k = s.k"
        assert compare(session, sql).on.rows
        assert files_read(session, sql)[0] <= buckets_of(session, "k")
    finally:
        session.sql("DROP TABLE d_facts")
