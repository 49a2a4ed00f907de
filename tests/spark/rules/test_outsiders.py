"""
A query without members is stock Spark's: two sessions over the same tables, one without us, make the same plans.

TPC-DS is a sample; the third tier takes every query in every mode.
"""

import difflib
import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from benchmarks.data import queries, tpcds, tpch
from benchmarks.suite import in_spark, tables_of
from tests.spark.members import create_member

SUITES = {"tpch": tpch, "tpcds": tpcds}
KINDS = ("delta", "parquet", "buckets")
OF_TPCDS = 10

# What the suites have little of. {t}, {u}: tables of a kind, with a key, a value and a text.
MORE = {
    "union of scans, joined": "SELECT k, y.v FROM (SELECT * FROM {t} UNION ALL SELECT * FROM {u}) JOIN {u} y USING (k)",
    "union of scans, grouped": "SELECT k, count(*) FROM (SELECT * FROM {t} UNION ALL SELECT * FROM {u}) GROUP BY k",
    "grouping sets": "SELECT k, v, count(*) FROM {t} GROUP BY GROUPING SETS ((k, v), (k))",
    "sort by": "SELECT t.k, u.v FROM {t} t JOIN {u} u ON t.k = u.k SORT BY k",
    "full join": "SELECT k, count(*) FROM {t} FULL JOIN {u} USING (k) GROUP BY k",
    "repartition": "SELECT /*+ REPARTITION(5, v) */ t.v, u.s FROM {t} t JOIN {u} u ON t.v = u.v",
    "file names": "SELECT t.k, f FROM (SELECT k, input_file_name() AS f FROM {t}) t JOIN {u} u ON t.k = u.k",
    "a cache, grouped": "SELECT k, count(*) FROM kept_{t} GROUP BY GROUPING SETS ((k, v), (k))",
    "a cache, joined": "SELECT k, v FROM kept_{t} FULL JOIN {u} USING (k, v) SORT BY k",
    "a point": "SELECT t.s, u.s FROM {t} t JOIN {u} u ON t.k = u.k WHERE t.k = 3",
}
WRITES = {
    "append": "INSERT INTO {t} SELECT t.k, u.v, u.s FROM {t} t JOIN {u} u ON t.k = u.k",
    "overwrite": "INSERT OVERWRITE {t} SELECT k, v, s FROM {u} DISTRIBUTE BY v",
}


@pytest.fixture(scope="module")
def stock(spark: SparkSession) -> Any:
    """A session of Spark and Delta alone, over the catalog of the one with us."""
    testing = spark._jvm.org.apache.spark.sql.colocate.testing  # type: ignore[union-attr]
    session = testing.StockSession.beside(spark._jsparkSession)
    session.sql("SELECT 1").collect()  # Delta's extension sets some settings now
    return session


@pytest.fixture(scope="module", params=KINDS)
def kind(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of each suite's tables, all of one kind; two more with rows in that of TPC-H. TPC-DS' have none."""
    name: str = request.param
    for suite, sources in SUITES.items():
        spark.sql(f"CREATE DATABASE {name}_{suite}")
        spark.sql(f"USE {name}_{suite}")
        for table, source in sources(0.01, tables_of(queries(suite))).items():
            rows = spark.read.parquet(str(source))
            columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema)
            spark.sql(f"CREATE TABLE {table} ({columns}) {_layout(name, rows.columns[0])}")
            if suite == "tpch":
                rows.limit(20).write.insertInto(table)
    _make_two(spark, name)
    spark.sql("USE default")
    yield name
    spark.sql(f"UNCACHE TABLE {name}_tpch.kept_one")
    for suite in SUITES:
        spark.sql(f"DROP DATABASE {name}_{suite} CASCADE")


def _make_two(spark: SparkSession, kind: str) -> None:
    spark.sql(f"USE {kind}_tpch")
    for table in ("one", "two"):
        rows = "SELECT cast(id % 7 AS INT) AS k, id AS v, cast(id AS STRING) AS s FROM range(30)"
        spark.sql(f"CREATE TABLE {table} {_layout(kind, 'k')} AS {rows}")
    spark.sql("CREATE VIEW kept_one AS SELECT * FROM one")
    spark.sql("CACHE TABLE kept_one")


def _layout(kind: str, key: str) -> str:
    bucketed = f"USING parquet CLUSTERED BY ({key}) SORTED BY ({key}) INTO 4 BUCKETS"
    return bucketed if kind == "buckets" else f"USING {kind}"


class Both:
    """Plans of the session with us and of the one without."""

    def __init__(self, ours: SparkSession, stock: Any, database: str, settings: dict[str, str]) -> None:
        self._sessions = (ours._jsparkSession, stock)
        self._trees = ours._jvm.org.apache.spark.sql.colocate.testing.PlanTrees  # type: ignore[union-attr]
        ours.sql(f"USE {database}")
        stock.sql(f"USE {database}")
        # Spark cuts long texts of a scan, at a place that the length of an id moves.
        for key, value in {"spark.sql.maxMetadataStringLength": "100000", **settings}.items():
            self.set(key, value)

    def set(self, key: str, value: str) -> None:
        for session in self._sessions:
            session.conf().set(key, value)

    def planned(self, sql: str) -> list[str]:
        return [_without_plan_ids(self._trees.planned(session, sql)) for session in self._sessions]

    def run(self, sql: str) -> list[str]:
        return [_without_plan_ids(self._trees.run(session, sql)) for session in self._sessions]


def _without_plan_ids(tree: object) -> str:
    """They follow the order in which nodes are looked at, which is no property of a plan."""
    return re.sub(r", \[plan_id=\d+\]", "", str(tree))


# Which side AQE finds empty first, and drops the other for, is chance.
EMPTY = "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
STEADY = {"spark.sql.adaptive.optimizer.excludedRules": EMPTY}
NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"}
MODES = {
    "AQE": {"spark.sql.adaptive.enabled": "true", **NO_BROADCAST},
    "no AQE": {"spark.sql.adaptive.enabled": "false", **NO_BROADCAST},
    "AQE, broadcasts": {"spark.sql.adaptive.enabled": "true", "spark.sql.autoBroadcastJoinThreshold": "10485760"},
}


# Each suite over a kind in some modes: together, all of them.
SOME = {"delta": ("AQE",), "parquet": ("no AQE",), "buckets": ("AQE", "no AQE")}


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.every(2)
def test_plans_of_some_of_each_suite(spark: SparkSession, stock: Any, kind: str, suite: str) -> None:
    texts = queries(suite)
    chosen = random.Random(20261121).sample(sorted(texts), OF_TPCDS) if suite == "tpcds" else texts
    for mode in SOME[kind]:
        _assert_same_suite(Both(spark, stock, f"{kind}_{suite}", MODES[mode]), suite, mode, chosen)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("suite", SUITES)
def test_plans_of_suites(spark: SparkSession, stock: Any, kind: str, suite: str, mode: str) -> None:
    _assert_same_suite(Both(spark, stock, f"{kind}_{suite}", MODES[mode]), suite, mode, queries(suite))


def _assert_same_suite(both: Both, suite: str, mode: str, names: Iterable[str]) -> None:
    texts = queries(suite)
    _assert_same(f"{suite}, {mode}", both.planned, {name: in_spark(texts[name]) for name in names})


def _assert_same(where: str, plans: Callable[[str], list[str]], texts: dict[str, str]) -> None:
    """Says which queries differ, and of the first ones where."""
    differ = {name: difference for name, text in texts.items() if (difference := _difference(*plans(text)))}
    shown = "\n\n".join(f"{name}:\n{lines}" for name, lines in list(differ.items())[:3])
    assert not differ, f"{where}: {len(differ)} of {len(texts)} differ, {', '.join(differ)}\n{shown}"


def _difference(ours: str, plain: str) -> str:
    if ours == plain:
        return ""
    lines = difflib.unified_diff(plain.splitlines(), ours.splitlines(), "Spark", "with us", n=1, lineterm="")
    return "\n".join(line[:240] for line in list(lines)[:12])


@pytest.mark.each_value
@pytest.mark.parametrize("mode", MODES)
def test_plans_of_more_operators_and_of_writes(spark: SparkSession, stock: Any, kind: str, mode: str) -> None:
    both = Both(spark, stock, f"{kind}_tpch", MODES[mode])
    _assert_same(mode, both.planned, _over_two(MORE | WRITES))


def _over_two(texts: dict[str, str]) -> dict[str, str]:
    return {name: text.format(t="one", u="two") for name, text in texts.items()}


# Without AQE a plan runs as it was planned.
RUN = ("union of scans, joined", "full join", "repartition", "a cache, joined")


def test_plans_that_ran(spark: SparkSession, stock: Any, kind: str) -> None:
    both = Both(spark, stock, f"{kind}_tpch", {**MODES["AQE"], **STEADY})
    texts = _over_two({name: MORE[name] for name in RUN})
    texts |= {name: in_spark(queries("tpch")[name]) for name in ("q3", "q13")}
    _assert_same("after the run", both.run, texts)


def test_a_difference_is_seen_by_its_lines() -> None:
    said = _difference("Sort\n  BufferedExchangeExec", "Sort\n  ShuffleExchangeExec")
    assert "-  ShuffleExchangeExec" in said
    assert "+  BufferedExchangeExec" in said
    with pytest.raises(AssertionError, match="1 of 1 differ, one"):
        _assert_same("here", lambda text: ["a", text], {"one": "b"})


def test_a_difference_is_seen(spark: SparkSession, stock: Any, db: str) -> None:
    for name in ("m", "n"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, "parquet")
        spark.sql(f"INSERT INTO {name} SELECT cast(id AS INT), id FROM range(9)")
    both = Both(spark, stock, db, MODES["AQE"])
    for text in ("SELECT m.v, n.v FROM m JOIN n USING (k)", "SELECT m.v, count(*) FROM m GROUP BY m.v"):
        ours, plain = both.planned(text)
        assert ours != plain
    assert "BufferedExchangeExec" in ours
