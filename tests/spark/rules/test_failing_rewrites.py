"""A rule that fails costs a query that rule alone, never its rows, and EXPLAIN names it. Under test the query fails."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from spark_colocate import verdicts

from tests.spark.adaptive import ADAPTIVE
from tests.spark.exchanges import assert_true_verdicts
from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import Outcome, Rows, multiset, run
from tests.spark.plans import kind, nodes
from tests.spark.sessions import FAULT
from tests.spark.strays import drop_in
from tests.tiers.params import some

INTERPRETED = True

# Its tuned plan has a merged aggregate; without that rule, it has two. An Exchange is left for the ORDER BY.
QUERY = "SELECT a.k, count(*) AS n, sum(b.v) AS v FROM a JOIN b ON a.k = b.k GROUP BY a.k ORDER BY v, a.k"

STEPS = [
    "AlignJoinSides", "DropExchangeOnNullExtendedKeys", "GroupWithinTask", "WriteWithinBuckets",
    "DisableUnnecessaryColocatedScan", "ShuffleUnevenAggregates", "ReadSmallBucketsTogether", "HashWithinBuckets",
    "MergeAdjacentAggregates", "SpreadJoins", "GatherFewRows", "ShareAggregates", "ReadOnceForSort",
]  # fmt: skip
OTHERS = [
    "DropPlanningNodes", "AggregateRuns", "FuseHashJoins", "CheckWhileReading", "DynamicBucketPruning",
    "PackShuffledRows", "BufferShuffledRows", "PlanColocatedScans",
]  # fmt: skip

STOCK: dict[str, Rows | None] = {}

# Rules that another query meets.
ELSEWHERE = {
    "PlanExpands": "SELECT k, count(DISTINCT v), count(DISTINCT v % 7) FROM a GROUP BY k",
    "PlanFullOuterJoins": "SELECT coalesce(a.k, b.k) AS c, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1",
    "AggregateTextsByHash": "SELECT k, max(cast(v AS STRING)) FROM a GROUP BY k",
    "SplitLargeBuckets": "SELECT v % 3, count(*) FROM a GROUP BY v % 3",
}
UNNAMED = {  # They leave nothing in the plan that EXPLAIN could tell of.
    "PlanLocalSorts": "SELECT a.k, b.v FROM a JOIN b ON a.k = b.k SORT BY a.k",
    "MarkRepartitioned": "SELECT /*+ REPARTITION(3, k) */ k FROM a",
}

# Without these a plan that reads buckets could give other rows.
FOR_ROWS = {
    "KeepTaskDependentValues": "SELECT x.v FROM (SELECT k, v, rand(7) r FROM a) x "
    "JOIN (SELECT k, rand(7) r FROM a) y ON x.k = y.k AND x.r = y.r",
    "DisambiguateMergeRowIds": QUERY,
    "ZipUnions": "SELECT k, count(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM b) GROUP BY k",
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "failing_rewrites", _make)


def _make(spark: SparkSession) -> None:
    for name, provider in (("a", "delta"), ("b", "delta"), ("q", "parquet")):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, provider)
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])
    drop_in(spark, "q", "dropped.{ext}", {"k": pa.array([1, 2], pa.int32()), "v": pa.array([3, 4], pa.int64())})
    create_member(spark, "three", "k INT, v BIGINT", ["k"], 2, group="g2")
    fill(spark, "three", "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])


@pytest.fixture(params=ADAPTIVE)
def quiet(session: SparkSession, request: pytest.FixtureRequest) -> SparkSession:
    session.conf.set("spark.sql.adaptive.enabled", request.param)
    session.conf.set("spark.colocate.testing", "quiet")
    return session


def _without(session: SparkSession, fault: str, sql: str) -> tuple[Outcome, str]:
    """The query with the fault, whose rows are stock Spark's; and EXPLAIN's lines, of the plan that ran."""
    if sql not in STOCK:
        with switched_off(session):
            STOCK[sql] = run(session, sql).rows
    session.conf.set(FAULT, fault)
    df = session.sql(sql)
    rows = multiset(df.collect())
    assert rows == STOCK[sql]
    assert_true_verdicts(df)
    told = session._jvm.PythonSQLUtils.explainString(df._jdf.queryExecution(), "simple")
    return Outcome(rows, None, tuple(kind(node) for node in nodes(df, run=False))), told


@pytest.mark.each_value
@pytest.mark.not_slow
@pytest.mark.parametrize("rule", STEPS + OTHERS)
@pytest.mark.every(3)
def test_a_failing_rule_costs_that_rule(quiet: SparkSession, rule: str) -> None:
    left, told = _without(quiet, f"fails:{rule}", QUERY)
    assert f"rule {rule} failed, so the query runs without it" in told
    assert "[INTERNAL_ERROR]" in told
    assert left.colocated == (rule != "PlanColocatedScans")
    if left.colocated:
        assert left.kinds.count("HashAggregateExec") == (2 if rule == "MergeAdjacentAggregates" else 1)


@pytest.mark.parametrize("rule", some(STEPS, 3))
def test_an_invalid_plan_costs_the_rule_that_made_it(session: SparkSession, rule: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.colocate.testing", "quiet")
    left, told = _without(session, f"invalid:{rule}", QUERY)
    assert f"rule {rule} failed" in told
    assert left.kinds.count("HashAggregateExec") == (2 if rule == "MergeAdjacentAggregates" else 1)


@pytest.mark.parametrize("rule", ELSEWHERE)
def test_a_failing_rule_of_another_query(quiet: SparkSession, rule: str) -> None:
    if rule == "SplitLargeBuckets" and quiet.conf.get("spark.sql.adaptive.enabled") == "false":
        quiet.conf.set("spark.sql.adaptive.enabled", "true")  # it reads the sizes of shuffles that have run
    _, told = _without(quiet, f"fails:{rule}", ELSEWHERE[rule])
    assert f"rule {rule} failed" in told


@pytest.mark.parametrize("rule", UNNAMED)
def test_a_failing_rule_that_marks_nothing(quiet: SparkSession, rule: str) -> None:
    _without(quiet, f"fails:{rule}", UNNAMED[rule])


FILE_NAMES = "SELECT q.k, f, b.v FROM (SELECT k, input_file_name() LIKE '%dropped%' AS f FROM q) q JOIN b ON q.k = b.k"


def test_without_its_rule_a_file_name_is_read_from_an_ordinary_scan(quiet: SparkSession) -> None:
    left, told = _without(quiet, "fails:KeepTaskDependentValues", FILE_NAMES)
    assert not left.colocated
    assert "rule KeepTaskDependentValues failed" in told


@pytest.mark.each_value
@pytest.mark.not_slow
@pytest.mark.parametrize("rule", FOR_ROWS)
def test_without_a_rule_for_right_rows_no_bucket_is_read(quiet: SparkSession, rule: str) -> None:
    if rule == "ZipUnions":
        quiet.conf.set("spark.sql.codegen.wholeStage", "true")  # only then do scans give batches
    left, told = _without(quiet, f"fails:{rule}", FOR_ROWS[rule])
    assert not left.colocated
    assert f"rule {rule} failed" in told


def test_a_write_without_its_rule(quiet: SparkSession) -> None:
    """Its files are not recorded; they are checked when they are first read."""
    create_member(quiet, "written", "k INT, v BIGINT", ["k"], 4, "parquet")
    quiet.conf.set(FAULT, "fails:KeepNativeLayout")
    quiet.sql("INSERT INTO written SELECT k, v FROM b")
    quiet.conf.unset(FAULT)
    left, _ = _without(quiet, "", "SELECT w.v, b.v FROM written w JOIN b ON w.k = b.k")
    assert left.colocated and left.exchanges == 0
    quiet.sql("DROP TABLE written")


def test_a_write_whose_shuffle_can_not_be_split(quiet: SparkSession) -> None:
    create_member(quiet, "split", "k INT, v BIGINT", ["k"], 4)
    quiet.conf.set(FAULT, "fails:SplitLargeBuckets")
    fill(quiet, "split", "SELECT cast(id % 13 AS INT), id FROM range(20000)", ["k", "v"])
    quiet.conf.unset(FAULT)
    assert quiet.table("split").count() == 20000
    quiet.sql("DROP TABLE split")


def test_a_merge_without_a_rule_for_right_rows(quiet: SparkSession) -> None:
    for rule in (
        "DisambiguateMergeRowIds",
        "KeepTaskDependentValues",
        "JoinFileListLocally",
        "GroupWithinTask",
        "WriteWithinBuckets",
        "PlaceWrites",
    ):
        create_member(
            quiet, "merged", "k INT, v BIGINT", ["k"], 4,
            properties={"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"},
        )  # fmt: skip
        fill(quiet, "merged", "SELECT cast(id AS INT), id FROM range(20)", ["k", "v"])
        quiet.conf.set(FAULT, f"fails:{rule}")
        quiet.sql(
            "MERGE INTO merged t USING (SELECT k, max(v) AS v FROM b GROUP BY k) s ON t.k = s.k + 15 "
            "WHEN MATCHED AND s.v % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = -s.v "
            "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k + 15, s.v)"
        )
        quiet.conf.unset(FAULT)
        rows = {row.k: row.v for row in quiet.table("merged").collect()}
        source = {row.k + 15: row.v for row in quiet.sql("SELECT k, max(v) AS v FROM b GROUP BY k").collect()}
        expected = {k: k for k in range(20) if k not in source}
        expected |= {k: -v for k, v in source.items() if k < 20 and v % 2} | {
            k: v for k, v in source.items() if k >= 20
        }
        assert rows == expected, rule
        quiet.sql("DROP TABLE merged")


def test_the_reason_of_an_exchange_is_the_rule_that_failed(quiet: SparkSession) -> None:
    """Not that bucket counts differ, which would have been no hindrance."""
    quiet.conf.set(FAULT, "fails:AlignJoinSides")
    df = quiet.sql("SELECT a.v FROM a JOIN three ON a.k = three.k")
    df.collect()
    (verdict,) = verdicts(df)
    assert verdict.code == "INTERNAL_ERROR"
    quiet.conf.unset(FAULT)
    assert run(quiet, "SELECT a.v FROM a JOIN three ON a.k = three.k").exchanges == 0


@pytest.mark.parametrize(
    "rule", ["PlanColocatedScans", "KeepTaskDependentValues", "HashWithinBuckets", "FuseHashJoins"]
)
def test_under_test_the_query_fails(session: SparkSession, rule: str) -> None:
    session.conf.set(FAULT, f"fails:{rule}")
    assert session.conf.get("spark.colocate.testing") == "true"
    with pytest.raises(Py4JJavaError, match=f"{rule} fails for a test"):
        session.sql(QUERY).collect()


def test_under_test_an_invalid_plan_fails(session: SparkSession) -> None:
    session.conf.set(FAULT, "invalid:DisableUnnecessaryColocatedScan")
    with pytest.raises(
        Py4JJavaError, match="The plan that DisableUnnecessaryColocatedScan made lacks what its operators ask for"
    ):
        session.sql(QUERY).collect()


def test_what_is_meant_for_the_user_is_thrown(session: SparkSession) -> None:
    session.conf.set("spark.colocate.testing", "quiet")
    session.conf.set(FAULT, "tells:HashWithinBuckets")
    with pytest.raises(AnalysisException, match="HashWithinBuckets tells the user"):
        session.sql(QUERY).collect()


def test_only_a_test_has_bugs_planted(session: SparkSession) -> None:
    session.conf.set("spark.colocate.testing", "false")
    session.conf.set(FAULT, "tells:HashWithinBuckets")
    assert run(session, QUERY).kinds.count("HashAggregateExec") == 1
