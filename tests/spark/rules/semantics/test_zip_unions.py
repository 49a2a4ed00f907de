"""A union of members zips its buckets when it runs exactly if it was planned so, whatever its children are."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import compare, run
from tests.tiers.params import rest_slow

# Each gives columns k, n.
CHILDREN = {
    "aggregate": "SELECT k, count(*) AS n FROM a GROUP BY k",
    "aggregates of a join": "SELECT a.k, sum(b.v) AS n FROM a JOIN b ON a.k = b.k GROUP BY a.k",
    "inner join": "SELECT a.k, b.v AS n FROM a JOIN b ON a.k = b.k",
    "left join": "SELECT a.k, b.v AS n FROM a LEFT JOIN b ON a.k = b.k",
    "right join": "SELECT b.k, a.v AS n FROM a RIGHT JOIN b ON a.k = b.k",
    "full join": "SELECT k, a.v + b.v AS n FROM a FULL JOIN b USING (k)",
    "semi join": "SELECT k, v AS n FROM a LEFT SEMI JOIN b USING (k)",
    "not exists": "SELECT k, v AS n FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND b.v > 40)",
    "exists, or": "SELECT k, v AS n FROM a WHERE v = 1 OR EXISTS (SELECT 1 FROM b WHERE a.k = b.k)",
    "a scalar subquery": "SELECT k, (SELECT max(v) FROM b WHERE a.k = b.k) AS n FROM a",
    "window": "SELECT k, sum(v) OVER (PARTITION BY k) AS n FROM a",
    "DISTINCT": "SELECT DISTINCT k, v AS n FROM a",
    "grouping sets": "SELECT k, count(*) AS n FROM a GROUP BY GROUPING SETS ((k, v), (k))",
    "several DISTINCTs": "SELECT k, count(DISTINCT v) + count(DISTINCT v % 3) AS n FROM a GROUP BY k",
    "INTERSECT": "SELECT k, v AS n FROM a INTERSECT SELECT k, v FROM b",
    "a union": "SELECT k, v AS n FROM a UNION ALL SELECT k, v FROM b",
    "sorted": "SELECT * FROM (SELECT a.k, b.v AS n FROM a JOIN b ON a.k = b.k) SORT BY k",
    "other bucket counts": "SELECT a.k, e.v AS n FROM a JOIN e ON a.k = e.k",
    "one shuffled side": "SELECT a.k, x.v AS n FROM a JOIN x ON a.k = x.k",
    "a shuffled side's key": "SELECT x.k, x.v AS n FROM a JOIN x ON a.k = x.k",
    "extended keys": "SELECT a.k, c.v AS n FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON b.k = c.k",
    "native": "SELECT k, v AS n FROM b",
    "a broadcast": "SELECT /*+ BROADCAST(x) */ a.k, x.v AS n FROM a JOIN x ON a.v = x.v",
    "LIMIT": "SELECT k, v AS n FROM (SELECT * FROM a ORDER BY v LIMIT 7)",
    "no member": "SELECT k, v AS n FROM x",
}
INTERPRETED = True

MEMBER = "SELECT k, v AS n FROM c"
ABOVE = {
    "aggregate": "SELECT k, count(*), sum(n) FROM ({u}) GROUP BY k",
    "join": "SELECT u.k, u.n, c.v FROM ({u}) u JOIN c ON u.k = c.k",
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "unions", _make)


def _make(spark: SparkSession) -> None:
    """a, b, c: one group, b native; e: twice the buckets; x: no member. Null keys, and keys that others lack."""
    rows = "SELECT if(id % 9 = 0, NULL, cast(id % {keys} AS INT)) AS k, id AS v FROM range({count})"
    for number, (name, buckets, provider) in enumerate(
        [("a", 4, "delta"), ("b", 4, "parquet"), ("c", 4, "delta"), ("e", 8, "delta")]
    ):
        create_member(spark, name, "k INT, v BIGINT", ["k"], buckets, provider, f"g{buckets}")
        fill(spark, name, rows.format(keys=11 + 4 * number, count=40 + 7 * number), ["k", "v"])
    spark.sql(f"CREATE TABLE x USING parquet AS {rows.format(keys=19, count=50)}")


@pytest.mark.parametrize(
    "child",
    rest_slow(CHILDREN, "aggregate", "not exists", "a union", "native", "extended keys", "a broadcast"),
)
def test_rows_are_those_of_stock_spark(session: SparkSession, child: str) -> None:
    """The child comes first and last: Spark's union goes by the first child's partitioning."""
    union = f"({CHILDREN[child]}) UNION ALL {MEMBER} UNION ALL ({CHILDREN[child]})"
    joined = list(CHILDREN).index(child) % 2
    session.conf.set("spark.sql.adaptive.enabled", str(bool(joined)).lower())
    assert compare(session, ABOVE["join" if joined else "aggregate"].format(u=union)).on.rows


@pytest.mark.parametrize("child", ["inner join", "full join", "aggregate"])
def test_rows_above_a_cached_child_are_those_of_stock_spark(session: SparkSession, child: str) -> None:
    queries = [sql.format(u=f"SELECT k, n FROM kept UNION ALL {MEMBER}") for sql in ABOVE.values()]
    session.sql(CHILDREN[child]).createOrReplaceTempView("kept")
    with switched_off(session):
        expected = [run(session, sql).rows for sql in queries]
    session.sql("CACHE TABLE kept")
    try:
        assert [run(session, sql).rows for sql in queries] == expected
        assert all(expected)
    finally:
        session.sql("DROP VIEW kept")
