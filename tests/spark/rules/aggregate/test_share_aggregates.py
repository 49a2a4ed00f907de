"""An aggregate that a query uses several times runs once, as with stock Spark, which reuses its shuffle."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from spark_colocate import verdicts

from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import compare
from tests.spark.plans import rows_read, rows_shuffled

ROWS = 5000
SUMS = "WITH t AS (SELECT k, sum(v) AS s, count(*) AS n FROM lines WHERE k IS NOT NULL GROUP BY k)"
ONCE = {
    "columns of their own": f"{SUMS} SELECT a.k, a.s + 1, b.m FROM t a JOIN (SELECT n, avg(s) m FROM t GROUP BY n) b "
    "ON a.n = b.n AND a.s > b.m",
    "by the key": f"{SUMS} SELECT a.k, a.s - b.n FROM t a JOIN t b ON a.k = b.k AND a.n + b.s > 9000",
    "to another row": f"{SUMS} SELECT a.k, a.s, a.n, b.s FROM t a LEFT JOIN t b ON a.k = b.k + 1 AND b.n > 8",
    "three times": f"{SUMS} SELECT count(*), sum(a.n + b.n + c.n) FROM t a FULL JOIN t b ON a.s = b.s + 7 "
    "LEFT JOIN t c ON c.s = a.k",
    "in a union": f"{SUMS} SELECT k, s, n FROM t UNION ALL SELECT s, n, k FROM t",
    "with a member": f"{SUMS} SELECT a.k, h.v, b.s FROM t a JOIN heads h ON a.k = h.k AND a.n + a.s > h.v "
    "JOIN t b ON b.n = h.v % 11",
    "distinct": "WITH t AS (SELECT DISTINCT k, x FROM lines WHERE k IS NOT NULL AND x IS NOT NULL) "
    "SELECT a.k, b.x FROM t a JOIN t b ON a.k = b.x",
    "objects": "WITH t AS (SELECT k, sort_array(collect_set(x)) c FROM lines WHERE k IS NOT NULL GROUP BY k) "
    "SELECT a.k, b.c FROM t a JOIN t b ON a.c[1] = b.c[1] AND a.k < b.k",
    "of a join": "WITH t AS (SELECT l.k, count(h.v) n FROM lines l JOIN heads h ON l.k = h.k GROUP BY l.k) "
    "SELECT a.k, b.n FROM t a LEFT JOIN t b ON a.k = b.n AND a.n > 8",
    "sorted": f"{SUMS} SELECT a.k, b.n FROM t a JOIN t b ON a.s + a.n = b.s + b.n ORDER BY b.n, a.k",
}
# A query, and which groups one of its uses keeps.
KEPT = {
    "by HAVING": (f"{SUMS[:-1]} HAVING n > 8) SELECT a.k, a.s, b.s FROM t a FULL JOIN t b ON a.k = b.k", "n > 8"),
    "by one or the other": (
        f"{SUMS} SELECT a.k, b.k, a.s, b.n FROM (SELECT * FROM t WHERE n > 8 AND s < 22500) a "
        "FULL JOIN (SELECT * FROM t WHERE s < 19000 AND n > 1) b ON a.k = b.k",
        "(n > 8 AND s < 22500) OR s < 19000",
    ),
    "by what is made of several columns": (
        f"{SUMS} SELECT a.m, b.m FROM (SELECT k, s - n AS m FROM t WHERE s - n > 21000) a "
        "FULL JOIN (SELECT k, s + n AS m FROM t WHERE s + n < 19000) b ON a.k = b.k",
        "s - n > 21000 OR s + n < 19000",
    ),
    "by a subquery's key, inferred for both tables": (
        "SELECT h.k, sum(l.v) FROM heads h JOIN lines l ON h.k = l.k "
        "WHERE h.k IN (SELECT k FROM lines WHERE k > 0 GROUP BY k HAVING count(*) > 8) GROUP BY h.k",
        "n > 8",
    ),
    "all by one of two": (
        f"{SUMS} SELECT a.s, a.n, b.s, b.n FROM (SELECT * FROM t WHERE n > 8) a FULL JOIN t b ON a.k = b.k",
        "true",
    ),
    "not known before it is asked": (
        f"{SUMS} SELECT a.s, b.s FROM (SELECT * FROM t WHERE n + floor(rand()) > 8) a "
        "FULL JOIN (SELECT * FROM t WHERE n > 8) b ON a.k = b.k",
        "true",
    ),
    "by a test and what relies on it": (
        f"{SUMS} SELECT a.s, b.s FROM (SELECT * FROM t WHERE s > 19000 AND n + floor(rand()) > 8 AND 9 / (n - 8) > 1) "
        "a FULL JOIN (SELECT * FROM t WHERE n > 8) b ON a.k = b.k",
        "s > 19000 OR n > 8",
    ),
    "by another query": (
        f"{SUMS} SELECT a.s, b.s FROM (SELECT * FROM t WHERE n > (SELECT x + 8 FROM heads WHERE v = 0)) a "
        "FULL JOIN (SELECT * FROM t WHERE n > 8) b ON a.k = b.k",
        "true",
    ),
}
HEADS = 900
# Lines of the tables' logs that are read on the way.
SOME = 200


def make_tables(spark: SparkSession) -> None:
    for table, rows in (("lines", ROWS), ("heads", HEADS)):
        create_member(spark, table, "k BIGINT, v BIGINT, x BIGINT", ["k"], 4)
        fill(spark, table, f"SELECT if(id % 50 = 0, NULL, id % 600), id, id % 13 FROM range({rows})", ["k", "v", "x"])


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "shared", make_tables)


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", [True, False], ids=["adaptive", "static"])
@pytest.mark.parametrize("name", ONCE)
@pytest.mark.every(3)
def test_its_tables_are_read_once(session: SparkSession, name: str, adaptive: bool) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    pair = compare(session, ONCE[name])
    assert pair.on.colocated
    assert pair.on.rows
    tables = ROWS + (HEADS if "heads" in ONCE[name] else 0)
    with switched_off(session):
        assert tables <= rows_read(session, ONCE[name]) < tables + SOME
    assert tables <= rows_read(session, ONCE[name]) < tables + SOME


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", [True, False], ids=["adaptive", "static"])
@pytest.mark.parametrize("name", KEPT)
@pytest.mark.every(3)
def test_groups_that_no_use_keeps_are_not_shuffled(session: SparkSession, name: str, adaptive: bool) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    sql, kept = KEPT[name]
    pair = compare(session, sql)
    assert pair.on.rows
    assert pair.on.exchanges == 1
    [groups] = session.sql(f"{SUMS} SELECT count(*) FROM t WHERE {kept}").first() or [0]
    assert groups > 0
    assert rows_shuffled(session, sql) == groups


@pytest.mark.parametrize("adaptive", [True, False], ids=["adaptive", "static"])
def test_what_joins_the_groups_says_that_they_are_shared(session: SparkSession, adaptive: bool) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    sql, _ = KEPT["by a subquery's key, inferred for both tables"]
    joined = session.sql(sql)
    # What is used twice is shown once; AQE finds that when it runs.
    assert sorted(one.code for one in verdicts(joined)) == ["COLOCATED"] * (3 + adaptive) + ["SHARED_AGGREGATE"] * 2
    joined.collect()
    assert sorted(one.code for one in verdicts(joined)) == ["COLOCATED"] * 3 + ["SHARED_AGGREGATE"] * 2


def test_without_reuse_each_use_reads_by_bucket(session: SparkSession) -> None:
    session.conf.set("spark.sql.exchange.reuse", "false")
    pair = compare(session, ONCE["by the key"])
    assert pair.on.exchanges == 0
    assert rows_read(session, ONCE["by the key"]) >= 2 * ROWS


def test_equal_broadcasts_are_reused_by_themselves(session: SparkSession) -> None:
    """And the aggregate below them has no Exchange then."""
    sql = (
        f"{SUMS} SELECT /*+ BROADCAST(a), BROADCAST(b) */ l.v FROM lines l JOIN t a ON l.v = a.s JOIN t b ON l.x = b.s"
    )
    assert compare(session, sql).on.exchanges == 0


def test_other_aggregates_of_the_same_table_stay_as_they_are(session: SparkSession) -> None:
    sql = (
        "SELECT a.k, s, m FROM (SELECT k, sum(v) s FROM lines GROUP BY k) a "
        "JOIN (SELECT k, max(v) m FROM lines GROUP BY k) b ON a.k = b.k"
    )
    assert compare(session, sql).on.exchanges == 0


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", [True, False], ids=["adaptive", "static"])
@pytest.mark.parametrize("target", ["delta", "parquet"])
def test_what_is_written_from_it_lies_in_its_buckets(session: SparkSession, target: str, adaptive: bool) -> None:
    """The Exchange has the target's layout, so the write has none of its own; its tasks must stay as many."""
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    name = f"copy_{target}_{adaptive}".lower()
    create_member(session, name, "k BIGINT, s BIGINT", ["k"], 4, provider=target)
    query = f"{SUMS} SELECT a.k, a.s + b.n AS s FROM t a JOIN t b ON a.k = b.k AND a.n + b.s > 9000"
    session.sql(f"INSERT INTO {name} {query}")
    files = session.sql(f"SELECT DISTINCT input_file_name() AS f, pmod(hash(k), 4) AS b FROM {name}").collect()
    assert sorted(row.b for row in files) == [0, 1, 2, 3]
    assert len({row.f for row in files}) == 4
    assert compare(session, f"SELECT c.k, c.s, l.v FROM {name} c JOIN lines l ON c.k = l.k").on.exchanges == 0
    with switched_off(session):
        wanted = sorted(session.sql(query).collect())
    assert sorted(session.table(name).collect()) == wanted
