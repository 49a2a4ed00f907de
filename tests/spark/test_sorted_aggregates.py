"""A global ORDER BY takes a sample of its input first; aggregates below it read their tables once all the same."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import compare
from tests.spark.plans import rows_read

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


@pytest.mark.parametrize("adaptive", [True, False], ids=["adaptive", "static"])
@pytest.mark.parametrize("name", ONCE)
def test_aggregated_tables_are_read_once(session: SparkSession, name: str, adaptive: bool) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    sql, rows = ONCE[name]
    pair = compare(session, sql)
    assert pair.on.colocated
    assert rows <= rows_read(session, sql) < rows + 100


@pytest.mark.parametrize("name", AGAIN)
def test_many_rows_are_read_again_instead_of_shuffled_again(session: SparkSession, name: str) -> None:
    sql, rows = AGAIN[name]
    pair = compare(session, sql)
    assert pair.on.colocated
    assert pair.on.exchanges == 1
    assert rows_read(session, sql) >= 2 * rows


@pytest.mark.parametrize("name", ONCE)
def test_the_order_is_that_of_the_query(session: SparkSession, name: str) -> None:
    sql, _ = ONCE[name]
    on = session.sql(sql).collect()
    with switched_off(session):
        assert on == session.sql(sql).collect()
