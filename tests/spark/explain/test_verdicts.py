"""EXPLAIN tells the truth: `colocate: true` where no Exchange is, `false` with its reason where one is."""

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from spark_colocate import Verdict, verdicts

from tests.spark.exchanges import assert_true_verdicts, expected
from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import compare

INTERPRETED = True

# A query, and of each verdict, top down: its operator and code.
CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "with Spark's own buckets": (
        "SELECT t.v FROM t JOIN spark4 s ON t.k = s.k",
        [("Join", "COLOCATED")],
    ),
    "with Spark's own buckets, and an aggregate": (
        "SELECT s.k, count(*) FROM spark4 s JOIN t ON t.k = s.k GROUP BY s.k",
        [("Aggregate", "COLOCATED"), ("Join", "COLOCATED")],
    ),
    "a native member with Spark's own buckets": (
        "SELECT q.v FROM q JOIN spark4 s ON q.k = s.k",
        [("Join", "COLOCATED")],
    ),
    "with fewer buckets of Spark's own": (
        "SELECT t.v FROM t JOIN spark3 s ON t.k = s.k",
        [("Join", "OTHER_SIDE_SHUFFLED")],
    ),
    "with a join that was shuffled": (
        "SELECT t.v FROM t JOIN (SELECT p.k FROM plain p JOIN spark3 s ON p.v = s.v) x ON t.k = x.k",
        [("Join", "OTHER_SIDE_SHUFFLED")],
    ),
    "one side shuffled, then both in place": (
        "SELECT p.k, count(*) FROM t JOIN plain p ON t.k = p.k JOIN u ON t.k = u.k GROUP BY p.k",
        [("Aggregate", "COLOCATED"), ("Join", "COLOCATED"), ("Join", "OTHER_SIDE_SHUFFLED")],
    ),
    "on one task, by a LIMIT": (
        "SELECT k, count(*) FROM (SELECT k FROM t ORDER BY v LIMIT 20) GROUP BY k",
        [("Aggregate", "REDISTRIBUTED")],
    ),
    "below a broadcast": (
        "SELECT /*+ BROADCAST(u) */ t.k, count(*) FROM t JOIN u ON t.v = u.v GROUP BY t.k",
        [("Aggregate", "COLOCATED"), ("Join", "BROADCAST_HINT")],
    ),
    "in a subquery, once": (
        "SELECT v FROM t WHERE v > (SELECT max(c) FROM (SELECT count(*) AS c FROM u GROUP BY k))",
        [("Aggregate", "COLOCATED")],
    ),
    "below an Exchange that is used twice, once": (
        "WITH w AS (SELECT t.v % 5 AS g, count(*) AS c FROM t JOIN plain p ON t.v = p.v GROUP BY t.v % 5) "
        "SELECT g FROM w WHERE c > 1 UNION ALL SELECT c FROM w",
        [("Aggregate", "KEYS_NOT_COVERED"), ("Join", "KEYS_NOT_COVERED"), ("Aggregate", "KEYS_NOT_COVERED")],
    ),
    "three tables": (
        "SELECT t.v FROM t JOIN u ON t.k = u.k LEFT JOIN q ON u.k = q.k",
        [("Join", "COLOCATED"), ("Join", "COLOCATED")],
    ),
    "more keys than the table's, aggregated and joined": (
        "SELECT a.v FROM t a JOIN (SELECT k, v FROM u GROUP BY k, v HAVING count(*) = 1) b ON a.k = b.k AND a.v = b.v",
        [("Join", "COLOCATED"), ("Aggregate", "COLOCATED")],
    ),
    "some of the keys": (
        "SELECT a.v FROM two a LEFT JOIN two b ON a.k = b.k",
        [("Join", "KEYS_NOT_COVERED")],
    ),
    "the key of one table alone": (
        "SELECT t.v FROM t JOIN byv ON t.k = byv.k",
        [("Join", "KEYS_NOT_COVERED")],
    ),
    "a cross join": ("SELECT t.v FROM t CROSS JOIN u", [("CartesianProduct", "NO_EQUALITY")]),
    "a key that an outer join extended": (
        "SELECT u.k, count(*) FROM t LEFT JOIN u ON t.k = u.k GROUP BY u.k",
        [("Aggregate", "KEY_NULL_EXTENDED"), ("Join", "COLOCATED")],
    ),
    "grouping sets": (
        "SELECT k, v % 3, count(*) FROM t GROUP BY ROLLUP (k, v % 3)",
        [("Aggregate", "LAYOUT_LOST")],
    ),
    "another column by the key's name": (
        "SELECT k, count(*) FROM (SELECT v AS k FROM t) GROUP BY k",
        [("Aggregate", "KEYS_NOT_COVERED")],
    ),
    "no member": ("SELECT p.v FROM plain p JOIN spark4 s ON p.k = s.k", []),
    "no member, and Spark's own buckets on both sides": ("SELECT a.v FROM spark4 a JOIN spark4 b ON a.k = b.k", []),
    "a join of no members below one of members": (
        "SELECT t.v FROM t JOIN (SELECT a.k FROM spark4 a JOIN spark4 b ON a.k = b.k) s ON t.k = s.k",
        [("Join", "COLOCATED")],
    ),
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "verdicts", _make)


def _make(spark: SparkSession) -> None:
    rows = "SELECT cast(id % 31 AS INT) AS k, id AS v FROM range(60)"
    for name, provider in (("t", "delta"), ("u", "delta"), ("q", "parquet")):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, provider)
        fill(spark, name, rows, ["k", "v"])
    for name, keys in (("two", ["k", "v"]), ("byv", ["v"])):
        create_member(spark, name, "k INT, v BIGINT", keys, 4, group=f"g_{name}")
        fill(spark, name, rows, ["k", "v"])
    for buckets in (3, 4):
        spark.sql(f"CREATE TABLE spark{buckets} USING parquet CLUSTERED BY (k) INTO {buckets} BUCKETS AS {rows}")
    spark.sql(f"CREATE TABLE plain USING parquet AS {rows}")


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.every(5)
def test_each_verdict_is_what_the_exchanges_say(session: SparkSession, case: str, adaptive: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    sql, codes = CASES[case]
    planned = session.sql(sql)
    assert_true_verdicts(planned)
    compare(session, sql)
    planned.collect()
    assert [(_kind(verdict), verdict.code) for verdict in verdicts(planned)] == codes


def _kind(verdict: Verdict) -> str:
    name = verdict.operator.split()[0]
    return "Join" if name.endswith("Join") else name


def test_a_write_has_the_verdicts_of_its_query(session: SparkSession) -> None:
    session.sql("CREATE OR REPLACE TEMPORARY VIEW joined AS SELECT t.k, u.v FROM t JOIN u ON t.k = u.k")
    try:
        session.sql("CREATE TABLE native USING parquet AS SELECT * FROM joined")
        insert = "INSERT INTO native SELECT k, v FROM joined"
        assert "Join Inner on (t.k = u.k): colocate: true" in session.sql(f"EXPLAIN {insert}").first()[0]
        written = session.sql(insert)
        assert_true_verdicts(written)
        assert [verdict.code for verdict in verdicts(written)] == ["COLOCATED"]
    finally:
        session.sql("DROP TABLE IF EXISTS native")


def test_a_cached_member_is_read_as_it_was_cached(session: SparkSession) -> None:
    cached = session.sql("SELECT t.k, u.v FROM t JOIN u ON t.k = u.k").cache()
    try:
        cached.createOrReplaceTempView("cached")
        joined = session.sql("SELECT c.v FROM cached c JOIN t ON c.k = t.k")
        joined.collect()
        assert_true_verdicts(joined)
        assert [verdict.code for verdict in verdicts(joined)] == ["COLOCATED"]
    finally:
        cached.unpersist()


def test_spark_is_given_its_due(session: SparkSession) -> None:
    """Switched off, native members still join by Spark's own bucketing, and EXPLAIN says whose it is."""
    create_member(session, "r", "k INT, v BIGINT", ["k"], 4, "parquet")
    fill(session, "r", "SELECT cast(id AS INT), id FROM range(20)", ["k", "v"])
    sql = "SELECT q.v FROM q JOIN r ON q.k = r.k"
    with switched_off(session):
        df = session.sql(sql)
        df.collect()
        assert_true_verdicts(df)
        assert [verdict.text for verdict in verdicts(df)] == [
            "colocate: true (group verdicts.g, 4 buckets, by Spark's own bucketing)"
        ]


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_the_truth_follows_the_plan(session: SparkSession, adaptive: str) -> None:
    """The helper itself: it sees an Exchange come and go."""
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    query = "SELECT t.v FROM t JOIN u ON t.k = u.k"

    def truth(df: DataFrame) -> list[bool]:
        df.collect()
        return [colocated for _, colocated in expected(df)]

    assert truth(session.sql(query)) == [True]
    with switched_off(session):
        assert truth(session.sql(query)) == [False]


def test_an_exchange_that_only_its_second_use_is_left_of_is_shown_there(session: SparkSession) -> None:
    """The left side is empty, so adaptive execution drops it, with the Exchange that both sides use."""
    df = session.sql(
        "WITH x AS (SELECT v, count(*) AS n FROM t GROUP BY v) "
        "SELECT b.n FROM (SELECT n FROM x WHERE n > 100) a RIGHT JOIN x b ON a.n = b.n"
    )
    df.collect()
    assert "ReusedExchange" in str(df._jdf.queryExecution().executedPlan()).partition("Initial Plan")[0]
    assert_true_verdicts(df)
    assert [(_kind(verdict), verdict.code) for verdict in verdicts(df)] == [("Aggregate", "KEYS_NOT_COVERED")]


def test_columns_that_python_makes_have_lost_the_layout(session: SparkSession, tables: str) -> None:
    """Also where they have the names of the table's."""
    t = session.table("t")
    made = t.mapInPandas(lambda rows: rows, "k INT, v BIGINT")
    grouped = t.groupBy("k").applyInPandas(lambda rows: rows, "k INT, v BIGINT")
    for frame in (made.groupBy("k").count(), made.join(session.table("u"), "k"), grouped.join(session.table("u"), "k")):
        assert "LAYOUT_LOST" in {one.code for one in verdicts(frame)}
        assert "KEYS_NOT_COVERED" not in {one.code for one in verdicts(frame)}


def test_a_key_that_a_python_function_makes_is_a_changed_key(session: SparkSession, tables: str) -> None:
    session.udf.register("twice", lambda k: 2 * k, "INT")
    found = verdicts(session.sql("SELECT u.v FROM (SELECT twice(k) AS k FROM t) x JOIN u ON x.k = u.k"))
    assert [one.code for one in found] == ["KEY_TRANSFORMED"]
    assert "twice(k)" in found[0].text


def test_a_side_that_has_left_the_group_is_named(spark: SparkSession, db: str) -> None:
    for name in ("stays", "leaves"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, "delta")
        fill(spark, name, "SELECT cast(id AS INT) AS k, id AS v FROM range(9)", ["k", "v"])
    spark.sql("ALTER TABLE leaves SET TBLPROPERTIES ('colocate_with'='')")
    [verdict] = verdicts(spark.sql("SELECT /*+ MERGE(a) */ a.v, b.v FROM stays a JOIN leaves b ON a.k = b.k"))
    assert verdict.text == f"colocate: true (group {db}.g, {db}.leaves in no group, 4 buckets)"
