"""What a user's `repartition(n, k)` promises holds above a join too whose shuffle Spark took for it."""

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import spark_partition_id

from tests.spark.adaptive import ADAPTIVE
from tests.spark.members import create_member, database, fill
from tests.spark.plans import kind, nodes

INTERPRETED = True

BUCKETS = 4
EXTENDED = "SELECT b.k AS x, a.v FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON b.k = c.k"
COMMON = "SELECT e.k AS x, a.v FROM e JOIN a ON e.k = a.k"
SPLIT = "SELECT a.k AS x, a.v FROM a JOIN e ON e.k = a.k"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "kept_repartitions", _make)


def _make(spark: SparkSession) -> None:
    """a, b, c: one group; e: twice the buckets. Most keys of a are unknown to b."""
    for name, buckets, keys in (("a", BUCKETS, 97), ("b", BUCKETS, 7), ("c", BUCKETS, 7), ("e", 2 * BUCKETS, 97)):
        create_member(spark, name, "k BIGINT, v BIGINT", ["k"], buckets, group=f"g{buckets}")
        fill(spark, name, f"SELECT id % {keys}, id FROM range(200)", ["k", "v"])


@pytest.fixture(autouse=True, params=ADAPTIVE)
def _adaptive(session: SparkSession, request: pytest.FixtureRequest) -> None:
    session.conf.set("spark.sql.adaptive.enabled", request.param)


def _tasks(df: DataFrame) -> dict[int | None, set[int]]:
    """Of each x, the tasks that see it."""
    found: dict[int | None, set[int]] = {}
    for x, task in df.select("x", spark_partition_id()).collect():
        found.setdefault(x, set()).add(task)
    return found


@pytest.mark.each_value
@pytest.mark.not_slow
@pytest.mark.parametrize("tasks", [BUCKETS, 2 * BUCKETS])
@pytest.mark.parametrize("sql", [EXTENDED, COMMON, SPLIT], ids=["extended by nulls", "more buckets", "fewer buckets"])
def test_each_key_is_in_one_task_of_as_many_as_asked(session: SparkSession, sql: str, tasks: int) -> None:
    session.conf.set("spark.sql.shuffle.partitions", str(tasks))
    df = session.sql(sql).repartition(tasks, "x")
    assert all(len(at) == 1 for at in _tasks(df).values())
    assert df.rdd.getNumPartitions() == tasks


def test_below_other_operators(session: SparkSession) -> None:
    session.conf.set("spark.sql.shuffle.partitions", str(BUCKETS))
    asked = f"SELECT /*+ REPARTITION({BUCKETS}, x) */ * FROM ({EXTENDED})"
    df = session.sql(f"SELECT x, v + 1 AS w FROM ({asked}) WHERE v > 3")
    assert all(len(at) == 1 for at in _tasks(df).values())


def test_a_repartition_that_spark_keeps_costs_the_join_nothing(session: SparkSession) -> None:
    df = session.sql(EXTENDED).repartition(3, "v")
    top, *others = [node for node in nodes(df) if kind(node) in ("ShuffleExchangeExec", "SortMergeJoinExec")]
    assert kind(top) == "ShuffleExchangeExec" and top.outputPartitioning().numPartitions() == 3
    assert all(kind(node) != "ShuffleExchangeExec" for node in others)
    assert df.rdd.getNumPartitions() == 3
