"""Values from a row's place are the same in every use of a member; what is observed counts all rows."""

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import multiset
from tests.spark.plans import exchanges, nodes
from tests.spark.plans import kind as kind_of

INTERPRETED = True

ROWS = 300
PLACED = {
    "monotonically_increasing_id": "monotonically_increasing_id()",
    "rand": "rand(7)",
    "randn": "randn(7)",
    "uuid": "uuid()",
    "shuffle": "shuffle(array(1, 2, 3, 4, 5, 6))",
    "spark_partition_id": "spark_partition_id()",
    "inside": "k * 1000 + floor(rand(3) * 1000)",
}
FORMATS = ["delta", "parquet"]
pytestmark = pytest.mark.each_value
each_format = pytest.mark.parametrize("member", FORMATS)
each_value = pytest.mark.parametrize("value", PLACED)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "kept_places", _make)


def _make(spark: SparkSession) -> None:
    """Two loads for each member, so that its buckets have several files."""
    for name in FORMATS:
        create_member(spark, name, "k BIGINT, v BIGINT", ["k"], 4, name)
        for start in (0, ROWS // 2):
            fill(spark, name, f"SELECT id % 37, id FROM range({start}, {start + ROWS // 2})", ["k", "v"])
    create_member(spark, "other", "k BIGINT, w BIGINT", ["k"], 4)
    fill(spark, "other", "SELECT id, id FROM range(37)", ["k", "w"])


@pytest.fixture(autouse=True, params=["true", "false"], ids=["adaptive", "plain"])
def _adaptive(session: SparkSession, request: pytest.FixtureRequest) -> None:
    session.conf.set("spark.sql.adaptive.enabled", request.param)


def _joined(session: SparkSession, rows: DataFrame) -> DataFrame:
    return rows.join(session.table("other"), "k").select(*rows.columns)


@each_value
@each_format
@pytest.mark.every(3)
def test_below_a_join_as_alone(session: SparkSession, member: str, value: str) -> None:
    rows = session.table(member).withColumn("x", F.expr(PLACED[value]))
    joined = _joined(session, rows)
    assert multiset(joined.collect()) == multiset(rows.collect())
    assert exchanges(joined) == 1  # the other side keeps its buckets


@each_format
def test_below_an_aggregate_a_window_and_a_filter_as_alone(session: SparkSession, member: str) -> None:
    rows = session.table(member).withColumn("x", F.expr("rand(7)"))
    alone = rows.toPandas()
    largest = rows.groupBy("k").agg(F.max("x").alias("x")).toPandas().set_index("k").x
    assert largest.to_dict() == alone.groupby("k").x.max().to_dict()
    ranked = rows.selectExpr("k", "v", "row_number() OVER (PARTITION BY k ORDER BY x) AS n").toPandas()
    assert set(ranked[ranked.n == 1].v) == set(alone.loc[alone.groupby("k").x.idxmin()].v)
    few = session.table(member).where("rand(7) < 0.3")
    assert multiset(_joined(session, few).collect()) == multiset(few.collect())
    assert 0 < few.count() < ROWS


@each_format
def test_a_sample_below_a_join_as_alone(session: SparkSession, member: str) -> None:
    rows = session.table(member).sample(0.3, seed=3)
    assert multiset(_joined(session, rows).collect()) == multiset(rows.collect())
    assert 0 < rows.count() < ROWS


@each_format
def test_a_pruned_member_as_alone(session: SparkSession, member: str) -> None:
    """The literal names one bucket of four, which Delta prunes by its statistics in any scan."""
    rows = session.table(member).where("k IN (3, 5)").withColumn("x", F.expr("monotonically_increasing_id()"))
    assert multiset(_joined(session, rows).collect()) == multiset(rows.collect())


@each_format
def test_observed_below_a_join_that_prunes(session: SparkSession, member: str) -> None:
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "10MB")
    seen = Observation()
    rows = session.table(member).observe(seen, F.count(F.lit(1)).alias("n"))
    few = session.table("other").where("w = 3")
    assert rows.join(F.broadcast(few), "k").count() == len([i for i in range(ROWS) if i % 37 == 3])
    assert seen.get == {"n": ROWS}


@each_format
def test_observed_below_a_join_that_stops_early(session: SparkSession, member: str) -> None:
    """Without a shuffle in between, a join stops reading where its other side has no rows left."""
    seen = Observation()
    rows = session.table(member).observe(seen, F.count(F.lit(1)).alias("n"))
    assert rows.join(session.table("other").where("w = 3"), "k").count() == len([i for i in range(ROWS) if i % 37 == 3])
    assert seen.get == {"n": ROWS}


@each_format
def test_observed_below_a_join_that_splits(session: SparkSession, member: str) -> None:
    session.conf.set("spark.sql.files.openCostInBytes", "1")
    session.conf.set("spark.colocate.skew.targetTaskBytes", "1000")
    seen = Observation()
    rows = session.table(member).observe(seen, F.count(F.lit(1)).alias("n"))
    hot = session.table(member).select("k", "v")
    assert hot.join(rows, "k").count() == hot.join(session.table(member), "k").count()
    assert seen.get == {"n": ROWS}


def test_above_a_join_the_layout_stays(session: SparkSession) -> None:
    df = _joined(session, session.table("delta")).withColumn("x", F.expr("monotonically_increasing_id()"))
    assert exchanges(df) == 0
    assert len({row.x for row in df.collect()}) == ROWS


def test_no_sort_is_left_below_the_new_exchange(session: SparkSession) -> None:
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.join.preferSortMergeJoin", "true")
    rows = session.table("delta").withColumn("x", F.expr("rand(7)"))
    plan = nodes(_joined(session, rows).hint("merge"), run=False)
    for node in plan:
        if kind_of(node) == "ShuffleExchangeExec":
            assert kind_of(node.children().head()) != "SortExec"
