"""Every reason of conf/reasons.json is given by the EXPLAIN of some query, with its sentence and its cure."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from spark_colocate.catalogues import reasons

from tests.spark.foreign import widen_key, without_us
from tests.spark.members import create_member, database, fill, switched_off, unstable
from tests.spark.strays import drop_in

INTERPRETED = True

JOIN = "SELECT t.v, u.v FROM t JOIN u ON t.k = u.k"
SHUFFLED = "(SELECT k, v FROM t DISTRIBUTE BY v) s"

# By its code: a query, and what fills the sentence and the cure.
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "SESSION_DISABLED": (JOIN, {}),
    "GROUP_NOT_STABLE": (JOIN, {"group": "reasons.g"}),
    "STRAY": (
        "SELECT k, count(*) FROM dirty GROUP BY k",
        {"percent": "100", "table": "reasons.dirty", "file": "by_hand.parquet"},
    ),
    "DAMAGED": ("SELECT k, count(*) FROM copied GROUP BY k", {"table": "reasons.copied"}),
    "NOT_ONE_SNAPSHOT": (JOIN, {"table": "reasons.t"}),
    "NO_LAYOUT_PROOF": ("SELECT t.v FROM t JOIN unproven u ON t.k = u.k", {"table": "reasons.unproven"}),
    "MIXED_BUCKETS": (
        "SELECT k, count(*) FROM mixed GROUP BY k",
        {"table": "reasons.mixed", "numbers": "2, 3", "tasks": "1"},
    ),
    "KEY_TYPE_CHANGED": (
        "SELECT k, count(*) FROM widened GROUP BY k",
        {"table": "reasons.widened", "key": "k"},
    ),
    "KEY_TYPE_UNSAFE": (
        "SELECT a.v FROM unsafe a JOIN unsafe b ON a.k = b.k",
        {"table": "reasons.unsafe", "key": "k", "type": "double"},
    ),
    "NOT_WORKED_OUT": (JOIN, {"why": "its explanation failed, as the driver's log says"}),
    "BROADCAST": (JOIN, {}),
    "BROADCAST_HINT": ("SELECT /*+ BROADCAST(u) */ t.v, u.v FROM t JOIN u ON t.k = u.k", {}),
    "NULL_AWARE_ANTI_JOIN": ("SELECT v FROM t WHERE k NOT IN (SELECT k FROM u)", {}),
    "NO_EQUALITY": ("SELECT t.v FROM t JOIN u ON t.k < u.k", {"keys": "k"}),
    "KEYS_NOT_COVERED": (
        "SELECT upper(n), count(*) FROM two GROUP BY upper(n), k",
        {"keys": "k, j", "table": "reasons.two", "used": "upper(n), k", "missing": "j"},
    ),
    "KEY_TRANSFORMED": (
        "SELECT t.v FROM t JOIN long u ON t.k = u.k",
        {"key": "k", "table": "reasons.t", "expression": "CAST(k AS BIGINT)"},
    ),
    "KEY_TYPES_DIFFER": (
        "SELECT a.v FROM named a JOIN turned b ON a.k = b.k AND a.n = b.n",
        {
            "left": "reasons.named (k int, n string) into 4 buckets",
            "right": "reasons.turned (n string, k int) into 4 buckets",
        },
    ),
    "KEY_POSITIONS": (
        "SELECT a.v FROM two a JOIN two b ON a.k = b.j AND a.j = b.k",
        {"left": "reasons.two (k int, j int) into 4 buckets", "right": "reasons.two (k int, j int) into 4 buckets"},
    ),
    "BUCKETS_DIFFER": (
        "SELECT t.v FROM t JOIN three u ON t.k = u.k",
        {"left": "reasons.t (k int) into 4 buckets", "right": "reasons.three (k int) into 3 buckets"},
    ),
    "OTHER_SIDE_SHUFFLED": ("SELECT t.v FROM t JOIN plain p ON t.k = p.k", {"buckets": "4", "table": "reasons.t"}),
    "OTHER_NOT_MEMBER": (f"SELECT s.v FROM {SHUFFLED} JOIN plain p ON s.k = p.k", {"table": "reasons.t"}),
    "TASK_DEPENDENT": (
        "SELECT k, max(x) FROM (SELECT k, rand(7) AS x FROM t) GROUP BY k",
        {"table": "reasons.t", "by": "rand(7)"},
    ),
    "UNEVEN_BUCKETS": ("SELECT k, sum(v) FROM t WHERE v > 7 GROUP BY k", {"table": "reasons.t"}),
    "SHARED_AGGREGATE": (
        "WITH g AS (SELECT k, sum(v) AS s FROM t GROUP BY k) SELECT a.s FROM g a JOIN g b ON a.k = b.k AND a.s < b.s",
        {"table": "reasons.t"},
    ),
    "KEY_NULL_EXTENDED": (
        "SELECT u.k, count(*) FROM t LEFT JOIN u ON t.k = u.k GROUP BY u.k",
        {"join": "LeftOuter", "keys": "k", "table": "reasons.u"},
    ),
    "LAYOUT_LOST": (
        "SELECT k, count(*) FROM (SELECT k FROM t UNION ALL SELECT k FROM plain) GROUP BY k",
        {"operator": "Union", "table": "reasons.t"},
    ),
    "RULE_EXCLUDED": (JOIN, {"rule": "PlanColocatedScans"}),
    "INTERNAL_ERROR": (
        JOIN,
        {"rule": "PlanColocatedScans", "switch": "SET spark.colocate.rules.excluded = PlanColocatedScans"},
    ),
    "REDISTRIBUTED": (f"SELECT k, count(*) FROM {SHUFFLED} GROUP BY k", {"table": "reasons.t", "keys": "k"}),
}

SETTINGS = {
    "BROADCAST": {"spark.sql.autoBroadcastJoinThreshold": "10MB"},
    "NOT_ONE_SNAPSHOT": {"spark.databricks.delta.stats.skipping": "false"},
    "RULE_EXCLUDED": {"spark.colocate.rules.excluded": "PlanColocatedScans"},
    "NOT_WORKED_OUT": {"spark.colocate.testing": "quiet", "spark.colocate.testing.fault": "fails:explain"},
    "INTERNAL_ERROR": {
        "spark.colocate.testing": "quiet",
        "spark.colocate.testing.fault": "fails:PlanColocatedScans",
    },
    "UNEVEN_BUCKETS": {"spark.colocate.aggregate.maxImbalance": "0.5", "spark.sql.files.maxPartitionBytes": "100"},
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "reasons", _make)


def _make(spark: SparkSession) -> None:
    for name, keys, buckets, group in (
        ("t", ["k"], 4, "g"),
        ("u", ["k"], 4, "g"),
        ("two", ["k", "j"], 4, "g_two"),
        ("three", ["k"], 3, "g_three"),
        ("named", ["k", "n"], 4, "g_named"),
        ("turned", ["n", "k"], 4, "g_turned"),
    ):
        create_member(spark, name, "k INT, j INT, n STRING, v BIGINT", keys, buckets, group=group)
        rows = "SELECT cast(id % 31 AS INT), cast(id % 3 AS INT), concat('n', id % 3), id FROM range(300)"
        fill(spark, name, rows, ["k", "j", "n", "v"])
    create_member(spark, "long", "k BIGINT, v BIGINT", ["k"], 4, group="g_long")
    create_member(spark, "dirty", "k INT, v BIGINT", ["k"], 4, "parquet")
    drop_in(spark, "dirty", "by_hand.{ext}", {"k": pa.array([1, 2], pa.int32()), "v": pa.array([3, 4], pa.int64())})
    create_member(
        spark, "widened", "k SMALLINT", ["k"], 4, group="g_w", properties={"delta.enableTypeWidening": "true"}
    )
    widen_key(spark, "widened")
    # As a clone of a damaged table, which has the property and no manifest.
    create_member(spark, "copied", "k INT", ["k"], 4)
    copied = f"{spark.catalog.currentDatabase()}.copied"
    without_us(spark, f"ALTER TABLE {copied} SET TBLPROPERTIES ('colocate.damaged' = 'true')")
    own = json.dumps([{"name": "low", "upper": ["9"]}, {"name": "high", "upper": ["MAXVALUE"], "buckets": 3}])
    spark.sql(
        "CREATE TABLE mixed (k INT, v BIGINT) USING delta CLUSTERED BY (k) INTO 2 BUCKETS "
        f"TBLPROPERTIES ('range_partition_by' = 'v', 'range_partitions' = '{own}')"
    )
    fill(spark, "mixed", "SELECT id, id FROM range(20)", ["k", "v"])
    spark.sql("CREATE TABLE plain USING parquet AS SELECT cast(id % 31 AS INT) AS k, id AS v FROM range(300)")
    _make_past_our_rules(spark, "unsafe", "DOUBLE", "pmod(hash(k), 4)")
    _make_past_our_rules(spark, "unproven", "INT", "cast(abs(k) % 4 AS INT)")


def _make_past_our_rules(spark: SparkSession, name: str, kind: str, bucket: str) -> None:
    """As another engine may write it: a bucket column that is no proof."""
    spark.sql(
        f"CREATE TABLE {name} (k {kind}, v BIGINT, _colocate_bucket INT GENERATED ALWAYS AS ({bucket})) "
        "USING delta PARTITIONED BY (_colocate_bucket)"
    )


def test_each_reason_has_its_query() -> None:
    assert sorted(CASES) == sorted(reasons.catalogue())


@pytest.mark.parametrize("code", CASES)
@pytest.mark.every(3)
def test_explain_gives_the_reason(session: SparkSession, tables: str, code: str) -> None:
    sql, arguments = CASES[code]
    for key, value in {"spark.sql.autoBroadcastJoinThreshold": "-1", **SETTINGS.get(code, {})}.items():
        session.conf.set(key, value)
    reason = reasons.catalogue()[code]
    found = "not worked out" if code == "NOT_WORKED_OUT" else "false"
    expected = f"colocate: {found}, reason: {reason.sentence} [{code}]; cure: {reason.cure}".format(**arguments)
    with _surroundings(session, code):
        explained = session.sql(f"EXPLAIN {sql}").first()[0]
    assert [line.split(": ", 1)[1] for line in explained.splitlines() if f"[{code}]" in line] == [expected]


def _surroundings(session: SparkSession, code: str) -> AbstractContextManager[None]:
    match code:
        case "SESSION_DISABLED":
            return switched_off(session)
        case "GROUP_NOT_STABLE":
            return unstable(session, "reasons.g")
        case _:
            return nullcontext()


def test_an_operator_is_shown_as_written(session: SparkSession, tables: str) -> None:
    """Not with the functions and names that Spark puts in."""
    explained = session.sql("EXPLAIN SELECT a.v FROM unsafe a JOIN unsafe b ON a.k = b.k").first()[0]
    assert "Join Inner on (a.k = b.k)" in explained
