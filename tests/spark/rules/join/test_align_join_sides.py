"""Members of one layout family with different bucket counts meet at the greatest common divisor where it is enough."""

from collections.abc import Iterator
from itertools import cycle

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import assert_exchanges, assert_no_exchange

INTERPRETED = True

# Sessions of tests have two cores: a divisor below that would leave one idle.
COUNTS = {"four": 4, "six": 6, "nine": 9, "ten": 10, "sixteen": 16, "twentyfour": 24}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "bucket_counts", _make)


def _make(spark: SparkSession) -> None:
    for (name, buckets), provider in zip(COUNTS.items(), cycle(("delta", "parquet", "orc"))):
        create_member(spark, name, "k INT, v BIGINT", ["k"], buckets, provider, f"g{buckets}")
        fill(spark, name, "SELECT if(id % 9 = 0, NULL, cast(id % 97 AS INT)), id FROM range(200)", ["k", "v"])


@pytest.fixture(autouse=True)
def _shuffling(session: SparkSession, tables: str) -> None:
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")


@pytest.mark.parametrize(
    ("left", "right", "met", "adaptive"),
    [("four", "six", 2, "true"), ("four", "six", 2, "false"), ("sixteen", "twentyfour", 8, "true")],
)
def test_a_join_meets_at_the_common_divisor(
    session: SparkSession, left: str, right: str, met: int, adaptive: str
) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    join = f"SELECT a.k, a.v, b.v AS w FROM {left} a %s JOIN {right} b ON a.k = b.k"
    assert_no_exchange(session, join % "FULL")
    assert_no_exchange(session, f"SELECT k, max(w), count(*) FROM ({join % ''}) GROUP BY k")
    explained = session.sql(f"EXPLAIN {join % ''}").first()[0]
    assert f"{COUNTS[left]} and {COUNTS[right]} buckets in {met} tasks)" in explained


def test_three_counts_meet_at_the_divisor_of_all(session: SparkSession) -> None:
    assert_no_exchange(session, "SELECT a.v, b.v, c.v FROM four a JOIN six b ON a.k = b.k JOIN ten c ON a.k = c.k")


def test_a_divisor_below_the_cores_is_not_taken_and_one_side_is_shuffled(session: SparkSession) -> None:
    sql = "SELECT a.k, a.v, b.v FROM four a JOIN nine b ON a.k = b.k"
    assert_exchanges(session, sql, left=1)
    assert "[BUCKETS_DIFFER]" in session.sql(f"EXPLAIN {sql}").first()[0]
