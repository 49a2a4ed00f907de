"""A global ORDER BY takes a sample of its input first; aggregates below it read their tables once all the same."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import compare
from tests.spark.plans import exchanges, kinds, rows_read
from tests.tiers.params import rest_slow

ROWS = 5000
SUMS = "(SELECT k, sum(v) AS s, count(*) AS n FROM lines GROUP BY k)"
TOPS = "(SELECT k, max(v) AS m FROM lines GROUP BY k)"
ONCE = {
    "aggregate": (f"SELECT * FROM {SUMS} ORDER BY s % 7, k", ROWS),
    "having": (f"SELECT k, s FROM {SUMS} WHERE n > 8 ORDER BY s DESC, k", ROWS),
    "distinct": ("SELECT DISTINCT k, v % 3 AS m FROM lines ORDER BY m, k", ROWS),
    "joined": (f"SELECT a.k, m FROM {SUMS} a JOIN {TOPS} b ON a.k = b.k AND a.s >= m ORDER BY m, a.k", 2 * ROWS),
    "broadcast": (f"SELECT /*+ BROADCAST(x) */ k, w FROM {SUMS} JOIN names x ON x.m = n % 3 ORDER BY w, k", ROWS),
    "window": (f"SELECT k, sum(s) OVER (PARTITION BY k) AS t FROM {SUMS} ORDER BY t, k", ROWS),
}
AGAIN = {
    "rows of a join": ("SELECT a.k, a.v FROM lines a JOIN lines b ON a.k = b.k AND a.v = b.v ORDER BY a.v", 2 * ROWS),
    "one side": (f"SELECT l.v, s FROM lines l JOIN {SUMS} t ON l.k = t.k ORDER BY l.v", 2 * ROWS),
    "multiplied": (f"SELECT k, e FROM {SUMS} LATERAL VIEW explode(sequence(1, n)) x AS e ORDER BY e, k", ROWS),
}


def make_tables(spark: SparkSession) -> None:
    create_member(spark, "lines", "k BIGINT, v BIGINT", ["k"], 4)
    fill(spark, "lines", f"SELECT id % 600, id FROM range({ROWS})", ["k", "v"])
    spark.sql("CREATE TABLE names USING parquet AS SELECT id AS m, concat('n', id) AS w FROM range(3)")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "sorted", make_tables)


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", [True, False], ids=["adaptive", "static"])
@pytest.mark.parametrize("name", ONCE)
@pytest.mark.every(3)
def test_aggregated_tables_are_read_once(session: SparkSession, name: str, adaptive: bool) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    sql, rows = ONCE[name]
    pair = compare(session, sql)
    assert pair.on.colocated
    assert rows <= rows_read(session, sql) < rows + 100


@pytest.mark.parametrize("name", rest_slow(ONCE, "aggregate", "joined", "window"))
def test_few_rows_are_sorted_by_one_task(session: SparkSession, name: str) -> None:
    seen = kinds(session.sql(ONCE[name][0]))
    assert seen.count("ShuffleExchangeExec") == 1
    assert "CoalesceExec" in seen


def test_more_rows_than_one_task_should_sort_are_shared_out(session: SparkSession) -> None:
    session.conf.set("spark.sql.adaptive.coalescePartitions.minPartitionSize", "1b")
    seen = kinds(session.sql(ONCE["aggregate"][0]))
    assert seen.count("ShuffleExchangeExec") == 2
    assert "CoalesceExec" not in seen


def test_ranges_that_the_user_asked_for_stay(session: SparkSession) -> None:
    ranges = session.sql(f"SELECT /*+ REPARTITION_BY_RANGE(3, s) */ * FROM {SUMS}")
    assert exchanges(ranges) == 2
    assert ranges.rdd.getNumPartitions() == 3


def test_a_sort_of_nothing_is_empty(session: SparkSession) -> None:
    pair = compare(session, f"SELECT * FROM {SUMS} WHERE n < 0 ORDER BY s, k")
    assert not pair.on.rows


@pytest.mark.parametrize("name", AGAIN)
def test_many_rows_are_read_again_instead_of_shuffled_again(session: SparkSession, name: str) -> None:
    sql, rows = AGAIN[name]
    pair = compare(session, sql)
    assert pair.on.colocated
    assert pair.on.exchanges == 1
    assert rows_read(session, sql) >= 2 * rows


@pytest.mark.parametrize("name", rest_slow(ONCE, "having", "distinct", "broadcast"))
def test_the_order_is_that_of_the_query(session: SparkSession, name: str) -> None:
    sql, _ = ONCE[name]
    on = session.sql(sql).collect()
    with switched_off(session):
        assert on == session.sql(sql).collect()
