"""An aggregate on the key that keeps texts looks its groups up in a hash table; the result is stock Spark's."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import Pair, compare

HASHED = "AnyTypeHashAggregateExec"
COLUMNS = (
    "k BIGINT, s STRING, i INT, x BIGINT, price DECIMAL(38, 4), a ARRAY<STRING>, m MAP<STRING, INT>, "
    "t STRUCT<n: INT, s: STRING>"
)
NAMES = ("k", "s", "i", "x", "price", "a", "m", "t")
VALUES = (
    "if(id % 40 < 3, null, id * 37 % 101), if(id % 7 = 0, null, repeat(cast(id % 11 AS STRING), cast(id % 13 AS "
    "INT))), "
    "cast(id % 5 AS INT), if(id % 3 = 0, null, id), id * 12345678901234.5678, array('a', cast(id AS STRING)), "
    "map(cast(id AS STRING), cast(id AS INT)), if(id % 4 = 0, null, struct(cast(id AS INT), repeat('t', cast(id % 9 AS "
    "INT))))"
)


def make_tables(spark: SparkSession) -> None:
    """t: 900 rows of 101 keys and NULL, whose texts get longer and shorter. empty: none."""
    for name, rows in (("t", 900), ("empty", 0)):
        create_member(spark, name, COLUMNS, ["k"], 2)
        fill(spark, name, f"SELECT {VALUES} FROM range(0, {rows}, 1, 1)", list(NAMES))


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "texts", make_tables)


SERVED = {
    "max and min": "SELECT k, max(s), min(s), max(t), min(a) FROM t GROUP BY k",
    "with numbers": "SELECT k, max(s), sum(x), count(*), avg(price), cast(stddev(i) AS DECIMAL(20, 6)), "
    "max(x) - min(x) FROM t GROUP BY k",
    "more keys": "SELECT k, s, max(s || i), count(x) FROM t GROUP BY k, s",
    "last rows": "SELECT k, max_by(s, x), max_by(i, x), max_by(m, x)[cast(max(x) AS STRING)], "
    "max_by(s, i * 1000 + x) FROM t GROUP BY k",
    "no order": "SELECT k, max_by(s, if(k > 50, x, null)), max_by(i, if(k > 50, x, null)) FROM t GROUP BY k",
    "others": "SELECT k, min_by(s, x), any_value(s) IS NOT NULL OR count(*) > 0 FROM t GROUP BY k",
    "random results": "SELECT k, max(s), rand() < 2 FROM t GROUP BY k",
    "having": "SELECT k FROM t WHERE i > 1 GROUP BY k HAVING max(s) > '5' AND sum(x) > 10",
    "below a join": "SELECT t.x, q.s FROM t JOIN (SELECT k, max(s) s FROM t GROUP BY k) q ON t.k = q.k",
    "used twice": "WITH q AS (SELECT k, max(s) s FROM t GROUP BY k) SELECT * FROM q a JOIN q b ON a.k = b.k",
}


def compared(spark: SparkSession, sql: str) -> Pair:
    pair = compare(spark, sql)
    assert pair.on.rows
    assert HASHED in pair.on.kinds
    assert "SortAggregateExec" not in pair.on.kinds
    return pair


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("name", SERVED)
@pytest.mark.every(3)
def test_texts_are_aggregated_by_hash(session: SparkSession, name: str, adaptive: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    compared(session, SERVED[name])


@pytest.mark.parametrize("name", ["max and min", "with numbers", "last rows", "no order"])
def test_groups_are_merged_from_disk_when_memory_is_short(session: SparkSession, name: str) -> None:
    session.conf.set("spark.sql.TungstenAggregate.testFallbackStartsAt", "2,7")
    compared(session, SERVED[name])


def test_no_rows_make_no_group(session: SparkSession) -> None:
    pair = compare(session, "SELECT k, max(s) FROM empty GROUP BY k")
    assert not pair.on.rows
    assert HASHED in pair.on.kinds


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, max(s) FROM t GROUP BY k SORT BY k",
        "SELECT k, s, lead(s) OVER (PARTITION BY k ORDER BY i) FROM (SELECT k, i, max(s) s FROM t GROUP BY k, i)",
        "SELECT /*+ MERGE(b) */ a.k, a.s, b.x FROM (SELECT k, max(s) s FROM t GROUP BY k) a JOIN t b ON a.k = b.k",
    ],
)
def test_what_needs_an_order_gets_it(session: SparkSession, sql: str) -> None:
    compared(session, sql)
    if "SORT BY" in sql:
        for part in session.sql(sql).rdd.glom().collect():
            keys = [(row["k"] is not None, row["k"]) for row in part]
            assert keys == sorted(keys)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, s COLLATE UTF8_LCASE, max(s) FROM t GROUP BY k, s COLLATE UTF8_LCASE",  # 'A' and 'a' are one group
        "SELECT k, max(s) FILTER (WHERE x > 0) FROM t GROUP BY k",
        "SELECT k, max(i) FROM t GROUP BY k",
        "SELECT i, max(s) FROM t GROUP BY i",
    ],
)
def test_other_aggregates_stay_as_they_are(session: SparkSession, sql: str) -> None:
    assert HASHED not in compare(session, sql).on.kinds
