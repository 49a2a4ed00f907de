"""Where buckets are too uneven for the cores, an aggregate is shuffled as by stock Spark, and EXPLAIN says so."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare

INTERPRETED = True

IMBALANCE = "spark.colocate.aggregate.maxImbalance"
BUCKETS = 4


def make_tables(spark: SparkSession) -> None:
    """hot, n_hot: nine of ten rows in one bucket. even: as many in each."""
    for name, provider in (("hot", "delta"), ("n_hot", "parquet"), ("even", "delta")):
        create_member(spark, name, "k INT, v BIGINT", ["k"], BUCKETS, provider)
        wanted = "true" if name == "even" else f"pmod(hash(cast(id AS INT)), {BUCKETS}) = 1 OR id % 20 = 0"
        rows = f"SELECT if(id % 50 = 0, NULL, cast(id AS INT)), xxhash64(id) FROM range(40000) WHERE {wanted}"
        fill(spark, name, rows, ["k", "v"])


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "uneven", make_tables)


@pytest.fixture
def session(session: SparkSession) -> SparkSession:
    """Two cores: nine tenths of the work in one task take 1.8 times as long as two halves."""
    session.conf.set("spark.sql.files.maxPartitionBytes", "20000")
    session.conf.set(IMBALANCE, "1.5")
    return session


def is_uneven(spark: SparkSession, sql: str) -> bool:
    return "[UNEVEN_BUCKETS]" in spark.sql(f"EXPLAIN {sql}").first()[0]


SUMS = "SELECT k, count(*), sum(v % 1000) FROM {p}hot WHERE v % 9 > 0 GROUP BY k"


@pytest.mark.parametrize(
    ("sql", "adaptive"),
    [
        (SUMS.format(p=""), "true"),
        (SUMS.format(p="n_"), "false"),
        ("SELECT DISTINCT k, v % 3 FROM hot", "false"),
        ("SELECT k, sort_array(collect_set(v)) FROM hot GROUP BY k", "true"),
        ("SELECT k, max(cast(v AS STRING)) FROM hot WHERE k IS NOT NULL GROUP BY k", "true"),
        ("SELECT n, count(*) FROM (SELECT k, count(*) AS n FROM hot GROUP BY k) GROUP BY n", "true"),
    ],
    ids=["delta", "parquet", "distinct", "objects", "sorted", "below another"],
)
@pytest.mark.every(3)
def test_it_is_shuffled(session: SparkSession, sql: str, adaptive: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    pair = compare(session, sql)
    assert pair.on.rows and not pair.on.colocated
    assert pair.on.exchanges > 0
    assert is_uneven(session, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, max(v) FROM even GROUP BY k",
        "SELECT s.n, e.v FROM (SELECT k, count(*) AS n FROM hot GROUP BY k) s JOIN even e ON s.k = e.k",
        "SELECT h.k, max(e.v) FROM hot h JOIN even e ON h.k = e.k GROUP BY h.k",
        "SELECT k, max(n) OVER (PARTITION BY k ORDER BY n) FROM (SELECT k, count(*) AS n FROM hot GROUP BY k)",
    ],
    ids=["even", "below a join", "above a join", "below a window"],
)
@pytest.mark.every(2)
def test_it_stays_where_buckets_are_even_or_used_above(session: SparkSession, sql: str) -> None:
    pair = compare(session, sql)
    assert pair.on.rows and pair.on.colocated and pair.on.exchanges == 0
    assert not is_uneven(session, sql)


@pytest.mark.parametrize(
    ("key", "value"), [(IMBALANCE, "0"), (IMBALANCE, "2"), ("spark.sql.files.maxPartitionBytes", "1g")]
)
def test_it_stays_where_that_is_asked_for_or_tasks_are_small(session: SparkSession, key: str, value: str) -> None:
    session.conf.set(key, value)
    assert compare(session, SUMS.format(p="")).on.exchanges == 0


def test_one_bucket_is_not_one_task_for_a_sum_over_all_rows(session: SparkSession) -> None:
    create_member(session, "one", "k INT, v BIGINT", ["k"], 1, group="one")
    fill(session, "one", "SELECT k, v FROM even", ["k", "v"])
    pair = compare(session, "SELECT count(*), sum(v % 1000), max(v) FROM one")
    assert not pair.on.colocated and pair.on.exchanges == pair.off.exchanges == 1


def test_by_default_two_cores_are_never_too_many(session: SparkSession) -> None:
    session.conf.unset(IMBALANCE)
    assert compare(session, SUMS.format(p="")).on.exchanges == 0
