"""Any rule that only makes queries faster can be excluded, and the rows stay."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from spark_colocate import rules

from tests.spark.members import create_member, database, fill, switched_off, unstable
from tests.spark.oracle import Rows, run
from tests.spark.sessions import run_bare, run_spark_sql
from tests.tiers.params import rest_slow

INTERPRETED = True

EXCLUDED = "spark.colocate.rules.excluded"
SPEED = [rule.name for rule in rules() if rule.needed == "speed"]
QUERIES = (
    "SELECT a.k, count(*), sum(b.v) AS v FROM a JOIN b ON a.k = b.k GROUP BY a.k ORDER BY v, a.k",
    "SELECT coalesce(a.k, b.k) AS c, count(*) FROM a FULL JOIN b ON a.k = b.k + 5 OR a.k = b.k GROUP BY 1",
    "SELECT coalesce(a.k, b.k) AS c, count(DISTINCT a.v), count(DISTINCT b.v) "
    "FROM a FULL JOIN b ON a.k = b.k GROUP BY 1",
    "WITH g AS (SELECT k, count(*) AS n FROM a GROUP BY k) SELECT x.k FROM g x JOIN g y ON x.k = y.k WHERE x.n > 2",
    "SELECT t.v FROM (SELECT a.k, b.v FROM a LEFT JOIN b ON a.k = b.k AND b.v > 20) t JOIN three ON t.k = three.k",
    "SELECT /*+ BROADCAST(s) */ a.v FROM a JOIN (SELECT DISTINCT k FROM b WHERE v < 3) s ON a.k = s.k",
    "SELECT k, count(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM q) GROUP BY k",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "excluded_rules", _make)


def _make(spark: SparkSession) -> None:
    for name, provider, buckets in (("a", "delta", 4), ("b", "delta", 4), ("q", "parquet", 4), ("three", "delta", 2)):
        create_member(spark, name, "k INT, v BIGINT", ["k"], buckets, provider, group=f"g{buckets}")
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])


@pytest.fixture(scope="module")
def expected(spark: SparkSession, tables: str) -> list[Rows | None]:
    spark.sql(f"USE {tables}")
    with switched_off(spark):
        return [run(spark, sql).rows for sql in QUERIES]


# Which of the queries a rule changes, where it is not the first one.
OWN = {
    "PlanFullOuterJoins": 2,
    "PlanExpands": 2,
    "ShareAggregates": 3,
    "ShuffleUnevenAggregates": 3,
    "AlignJoinSides": 4,
    "DropExchangeOnNullExtendedKeys": 4,
    "DynamicBucketPruning": 5,
    "DisableUnnecessaryColocatedScan": 5,
    "CheckWhileReading": 6,
}


@pytest.mark.parametrize("queries", rest_slow(["its own", "all"], "its own"))
@pytest.mark.parametrize("rule", SPEED)
@pytest.mark.every(3)
def test_without_a_rule_the_rows_are_the_same(
    session: SparkSession, expected: list[Rows | None], rule: str, queries: str
) -> None:
    session.sql(f"SET {EXCLUDED} = {rule}")
    numbers = range(len(QUERIES)) if queries == "all" else [OWN.get(rule, 0)]
    found = [run(session, QUERIES[number]) for number in numbers]
    assert [one.rows for one in found] == [expected[number] for number in numbers]
    assert all(rows for rows in expected)
    assert any(one.colocated for one in found) == (rule != "PlanColocatedScans")


def test_an_excluded_rule_is_not_applied_from_the_next_query_on(session: SparkSession) -> None:
    sql = "SELECT a.v FROM a JOIN three ON a.k = three.k"
    assert run(session, sql).exchanges == 0
    session.sql(f"SET {EXCLUDED} = SpreadJoins, AlignJoinSides")
    assert run(session, sql).exchanges > 0
    session.sql(f"RESET {EXCLUDED}")
    assert run(session, sql).exchanges == 0


# The rule, and a query with an Exchange that it would have removed.
MISSED = {
    "PlanColocatedScans": "SELECT a.v FROM a JOIN b ON a.k = b.k",
    "AlignJoinSides": "SELECT a.v FROM a JOIN three ON a.k = three.k",
    "PlanExpands": "SELECT k, count(DISTINCT v), count(DISTINCT v % 7) FROM a GROUP BY k",
    "PlanFullOuterJoins": "SELECT coalesce(a.k, b.k) AS c, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1",
    "DropExchangeOnNullExtendedKeys": "SELECT t.v, c.v FROM (SELECT b.k, b.v FROM a LEFT JOIN b ON a.k = b.k) t "
    "LEFT JOIN a c ON t.k = c.k",
}


@pytest.mark.parametrize("rule", MISSED)
def test_explain_names_the_excluded_rule_that_would_have_removed_an_exchange(
    session: SparkSession, tables: str, rule: str
) -> None:
    usual = run(session, MISSED[rule])
    session.sql(f"SET {EXCLUDED} = {rule}")
    missed = run(session, MISSED[rule])
    assert missed.exchanges > usual.exchanges
    told = session.sql(f"EXPLAIN {MISSED[rule]}").collect()[0][0]
    assert f"the session excludes rule {rule}, which would have removed the Exchange [RULE_EXCLUDED]" in told


# A query with an Exchange that no excluded rule would have removed, and its reason.
OTHER_REASONS = {
    "KEYS_NOT_COVERED": "SELECT a.v FROM a JOIN b ON a.v = b.v",
    "LAYOUT_LOST": "SELECT k, v, count(*) FROM a GROUP BY ROLLUP (k, v)",
    "KEY_NULL_EXTENDED": "SELECT a.k, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY a.k",
}


@pytest.mark.parametrize("reason", OTHER_REASONS)
def test_an_exchange_that_no_excluded_rule_would_have_removed_keeps_its_reason(
    session: SparkSession, tables: str, reason: str
) -> None:
    session.sql(f"SET {EXCLUDED} = {', '.join(name for name in MISSED if name != 'PlanColocatedScans')}")
    shown = session.sql(f"EXPLAIN {OTHER_REASONS[reason]}").collect()[0][0]
    assert f"[{reason}]" in shown
    assert "RULE_EXCLUDED" not in shown


def test_of_several_joins_only_the_one_that_lacks_the_rule_names_it(session: SparkSession, tables: str) -> None:
    sql = "EXPLAIN SELECT 1 FROM a JOIN b ON a.v = b.v UNION ALL SELECT 2 FROM a JOIN three ON a.k = three.k"
    session.sql(f"SET {EXCLUDED} = AlignJoinSides, SpreadJoins")
    shown = session.sql(sql).collect()[0][0]
    assert shown.count("[KEYS_NOT_COVERED]") == 1
    assert shown.count("excludes rule AlignJoinSides, which would have removed the Exchange [RULE_EXCLUDED]") == 1


def test_a_group_that_is_not_stable_is_not_blamed_on_an_excluded_rule(session: SparkSession, tables: str) -> None:
    session.sql(f"SET {EXCLUDED} = PlanColocatedScans")
    with unstable(session, f"{tables}.g4"):
        shown = session.sql(f"EXPLAIN {MISSED['PlanColocatedScans']}").collect()[0][0]
    assert "reason: group is not stable" in shown
    assert "RULE_EXCLUDED" not in shown


def test_a_failing_rule_that_is_excluded_is_not_tried_by_queries(session: SparkSession, tables: str) -> None:
    session.conf.set("spark.colocate.testing", "quiet")
    session.conf.set("spark.colocate.testing.fault", "fails:AlignJoinSides")
    session.sql(f"SET {EXCLUDED} = AlignJoinSides")
    shown = session.sql(f"EXPLAIN {MISSED['AlignJoinSides']}").collect()[0][0]
    assert "INTERNAL_ERROR" not in shown and "RULE_EXCLUDED" not in shown


OWN_TABLES = """
CREATE TABLE own USING delta CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')
AS SELECT id AS k FROM range(9);
SET spark.sql.autoBroadcastJoinThreshold = -1;
EXPLAIN SELECT x.k FROM own x JOIN own y ON x.k = y.k;
"""
CONFIGURED = """
import sys
from pathlib import Path
from tests.spark.sessions import builder
spark = builder(Path(sys.argv[1]), without_rules=["PlanColocatedScans", "SpreadJoins"]).getOrCreate()
"""


def test_a_rule_is_excluded_for_an_application(tmp_path: Path) -> None:
    code = f"{CONFIGURED}for text in {OWN_TABLES!r}.split(';')[:-1]:\n    df = spark.sql(text)\n"
    ran = run_bare(f"{code}print(df.collect()[0][0])", tmp_path).ok()
    assert "excludes rule PlanColocatedScans" in ran.out


def test_a_rule_is_excluded_by_the_conf_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(f"{EXCLUDED} PlanColocatedScans,SpreadJoins\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(conf))
    ran = run_spark_sql(OWN_TABLES, tmp_path).ok()
    assert "excludes rule PlanColocatedScans" in ran.out


@pytest.mark.parametrize(
    "names", ["KeepTaskDependentValues", "ZipUnions", "SpreadJoins, Nonsense", "OptimizeColocatedPlan"]
)
def test_what_right_rows_need_is_not_excluded(session: SparkSession, names: str) -> None:
    with pytest.raises(PySparkException, match=r"names of rules that only make queries faster, .* PlanColocatedScans,"):
        session.sql(f"SET {EXCLUDED} = {names}")


def test_a_mistyped_rule_is_refused_with_the_one_that_was_meant(session: SparkSession) -> None:
    with pytest.raises(PySparkException, match=r"There is no rule SpreadJoin\. Did you mean SpreadJoins\?"):
        session.sql(f"SET {EXCLUDED} = AlignJoinSides, SpreadJoin")
