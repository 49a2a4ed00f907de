"""An order within tasks that Spark took for given, because a merge join gave it, stays when the join hashes instead."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.adaptive import ADAPTIVE
from tests.spark.members import create_member, database, fill, switched_off
from tests.spark.oracle import multiset, run
from tests.spark.plans import join_kinds, kinds

JOIN = "SELECT a.v, b.w, a.k FROM a JOIN b ON a.k = b.k"
BUCKETS = 4


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "kept_order", _make)


def _make(spark: SparkSession) -> None:
    create_member(spark, "a", "k BIGINT, v BIGINT", ["k"], BUCKETS)
    create_member(spark, "b", "k BIGINT, w BIGINT", ["k"], BUCKETS)
    fill(spark, "a", "SELECT id % 20, id FROM range(2000)", ["k", "v"])
    fill(spark, "b", "SELECT id, id FROM range(20)", ["k", "w"])


@pytest.fixture(autouse=True, params=ADAPTIVE)
def _adaptive(session: SparkSession, request: pytest.FixtureRequest) -> None:
    session.conf.set("spark.sql.adaptive.enabled", request.param)


def hashes(df: DataFrame) -> bool:
    return any(kind.endswith("HashJoinExec") for kind in join_kinds(df))


def test_a_write_by_partitions_of_the_key(session: SparkSession) -> None:
    """Its writer opens each partition once, and asks for sorted rows."""
    session.sql("CREATE TABLE o (v BIGINT, w BIGINT, k BIGINT) USING parquet PARTITIONED BY (k)")
    try:
        session.sql(f"INSERT INTO o {JOIN}")
        with switched_off(session):
            expected = run(session, JOIN).rows
        assert multiset(session.table("o").collect()) == expected
        assert session.sql("SHOW PARTITIONS o").count() == 20
    finally:
        session.sql("DROP TABLE o")


@pytest.mark.each_value
@pytest.mark.not_slow
@pytest.mark.parametrize("how", ["SORT BY", "sortWithinPartitions", "SORT BY after an aggregate"])
def test_rows_that_were_asked_for_in_order(session: SparkSession, how: str) -> None:
    if how == "SORT BY":
        df = session.sql(f"{JOIN} SORT BY a.k")
    elif how == "sortWithinPartitions":
        df = session.sql(JOIN).sortWithinPartitions("k")
    else:
        df = session.sql(f"SELECT k, max(v) AS v FROM ({JOIN}) GROUP BY k SORT BY k")
    keys = [row["k"] for row in df.collect()]
    assert hashes(df)
    assert len(set(keys)) == 20
    # The rows of one task after the other's.
    assert sum(later < earlier for earlier, later in pairwise(keys)) < BUCKETS


def test_the_requirement_is_gone_when_the_query_runs(session: SparkSession) -> None:
    df = session.sql(f"{JOIN} SORT BY a.k")
    assert "KeepOrderExec" not in kinds(df)
