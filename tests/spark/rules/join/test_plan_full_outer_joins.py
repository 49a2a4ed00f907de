"""A full outer join leaves its rows in the buckets of `coalesce(l, r)`: what groups by it needs no Exchange."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from spark_colocate.verdicts import verdicts

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import assert_exchange, assert_exchanges, assert_no_exchange
from tests.spark.versions import UNIONS_KEEP_PARTITIONING
from tests.tiers.params import marked

INTERPRETED = True


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "full_outer_keys", _make)


def _make(spark: SparkSession) -> None:
    """a, b, c: by k, with null keys and keys that the others lack; b native. p, q: by (k, j). x: no member."""
    rows = "SELECT if(id % 9 = 0, NULL, cast(id % {keys} AS INT)) AS k, int(id % 3) AS j, id AS v FROM range({count})"
    for number, (name, keys, provider) in enumerate(
        [("a", "k", "delta"), ("b", "k", "parquet"), ("c", "k", "delta"), ("p", "k,j", "delta"), ("q", "k,j", "delta")]
    ):
        create_member(spark, name, "k INT, j INT, v BIGINT", keys.split(","), 4, provider, f"g{len(keys)}")
        fill(spark, name, rows.format(keys=11 + 4 * number, count=40 + 7 * number), ["k", "j", "v"])
    spark.sql(f"CREATE TABLE x USING parquet AS {rows.format(keys=19, count=50)}")


SERVED = {
    "aggregate, USING": "SELECT k, count(*), sum(b.v) FROM a FULL JOIN b USING (k) GROUP BY k",
    "aggregate": "SELECT coalesce(a.k, b.k), max(a.v) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1",
    "aggregate, the other order": "SELECT coalesce(b.k, a.k), max(a.v) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1",
    "aggregate by more": "SELECT k, b.j, count(*) FROM a FULL JOIN b USING (k) GROUP BY k, b.j",
    "aggregate, null-safe": "SELECT coalesce(a.k, b.k), count(*) FROM a FULL JOIN b ON a.k <=> b.k GROUP BY 1",
    "aggregate, a further condition": (
        "SELECT coalesce(a.k, b.k), count(*) FROM a FULL JOIN b ON a.k = b.k AND a.v < b.v GROUP BY 1"
    ),
    "aggregate, a further key": (
        "SELECT coalesce(a.k, b.k), count(*) FROM a FULL JOIN b ON a.k = b.k AND a.j = b.j GROUP BY 1"
    ),
    "DISTINCT": "SELECT DISTINCT k FROM a FULL JOIN b USING (k)",
    "count(DISTINCT)": "SELECT k, count(DISTINCT b.v) FROM a FULL JOIN b USING (k) GROUP BY k",
    "window": "SELECT k, a.v, sum(b.v) OVER (PARTITION BY k) FROM a FULL JOIN b USING (k)",
    "three tables": "SELECT k, count(*), sum(c.v) FROM a FULL JOIN b USING (k) FULL JOIN c USING (k) GROUP BY k",
    "joined by it, null-safe": (
        "SELECT f.k, f.v, c.v FROM (SELECT k, a.v FROM a FULL JOIN b USING (k)) f JOIN c ON f.k <=> c.k"
    ),
    "aggregated, then joined": (
        "SELECT f.k, n, c.v FROM (SELECT k, count(*) AS n FROM a FULL JOIN b USING (k) GROUP BY k) f JOIN c USING (k)"
    ),
    "two keys": "SELECT k, j, count(*) FROM p FULL JOIN q USING (k, j) GROUP BY k, j",
    "UNION": "SELECT k FROM a FULL JOIN b USING (k) UNION SELECT k FROM c",
    "aggregate of a UNION ALL": "SELECT k, count(*) FROM (SELECT k FROM a FULL JOIN b USING (k) "
    "UNION ALL SELECT k FROM c UNION ALL SELECT k FROM c FULL JOIN a USING (k)) GROUP BY k",
    "a UNION ALL, joined": "SELECT u.k, c.v FROM (SELECT k FROM a FULL JOIN b USING (k) UNION ALL SELECT k FROM a) u "
    "JOIN c ON u.k = c.k",
    "EXCEPT": "SELECT k FROM a FULL JOIN b USING (k) EXCEPT SELECT k FROM c WHERE k < 5",
}

# Without adaptive execution the same proof is asked the same way: a third of them shows that.
SERVED_ADAPTIVE = [*((case, "true") for case in SERVED), *((case, "false") for case in list(SERVED)[::3])]
UNIONS = {pair: UNIONS_KEEP_PARTITIONING for pair in SERVED_ADAPTIVE if "UNION" in pair[0]}

# What keeps how many Exchanges.
KEPT = {
    "one side's key": ("SELECT a.k, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY a.k", 1),
    "one of two keys": ("SELECT k, count(*) FROM p FULL JOIN q USING (k, j) GROUP BY k", 1),
    "crossed keys": (
        "SELECT coalesce(p.k, q.j), coalesce(p.j, q.k), count(*) FROM p FULL JOIN q ON p.k = q.k AND p.j = q.j "
        "GROUP BY 1, 2",
        1,
    ),
    "a default for null": ("SELECT coalesce(a.k, b.k, -1), count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1", 1),
    "another column": ("SELECT coalesce(a.k, b.j), count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1", 1),
    "keys that nulls extended before": (
        "SELECT coalesce(f.k, c.k), count(*) FROM (SELECT b.k, a.v FROM a LEFT JOIN b ON a.k = b.k) f "
        "FULL JOIN c ON f.k = c.k GROUP BY 1",
        1,
    ),
    "a side that is no member": ("SELECT k, count(*) FROM a FULL JOIN x USING (k) GROUP BY k", 1),
}


@pytest.mark.parametrize(("case", "adaptive"), marked(SERVED_ADAPTIVE, UNIONS))
@pytest.mark.every(5)
def test_no_exchange_for(session: SparkSession, case: str, adaptive: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    assert_no_exchange(session, SERVED[case])


@pytest.mark.parametrize("case", KEPT)
@pytest.mark.every(3)
def test_an_exchange_stays_for(session: SparkSession, case: str) -> None:
    assert_exchanges(session, *KEPT[case])


def test_two_shuffled_sides_have_no_buckets(session: SparkSession) -> None:
    """What AQE has shuffled it deals out to other tasks once it knows the sizes."""
    pair = assert_exchange(session, "SELECT coalesce(a.j, b.j), count(*) FROM a FULL JOIN b ON a.j = b.j GROUP BY 1")
    assert pair.on.kinds == pair.off.kinds


def test_the_verdict_names_the_key_as_it_was_written(session: SparkSession) -> None:
    aggregate, _ = verdicts(session.sql(SERVED["aggregate"]))
    assert (aggregate.operator, aggregate.colocated) == ("Aggregate by (coalesce(k, k))", True)
    window = next(v for v in verdicts(session.sql(SERVED["window"])) if v.operator.startswith("Window"))
    assert window.colocated
