"""Where a query reads a bucketed table, a shuffle's task with few rows writes one file, not one for each partition."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare
from tests.spark.plans import kinds, nodes

INTERPRETED = True

KEPT = "spark.colocate.shuffle.bufferBytes"
PARTITIONS = "spark.sql.shuffle.partitions"
BY_VALUE = "SELECT v, count(*), sum(id) FROM {} GROUP BY v"


def make_tables(spark: SparkSession) -> None:
    for name, provider in (("t", "delta"), ("n", "parquet")):
        create_member(spark, name, "k INT, v INT, id BIGINT", ["k"], 4, provider)
        rows = "SELECT if(id % 50 = 0, NULL, cast(id % 300 AS INT)), cast(id % 97 AS INT), id FROM range(4000)"
        fill(spark, name, rows, ["k", "v", "id"])
    spark.sql("CREATE TABLE ordinary USING delta AS SELECT * FROM t")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "buffered", make_tables)


@pytest.fixture
def session(session: SparkSession) -> SparkSession:
    session.conf.set(PARTITIONS, "40")
    return session


@dataclass(frozen=True)
class Written:
    """Of one Exchange. at_once: tasks that wrote few rows at once, None where the Exchange is Spark's own."""

    at_once: int | None
    records: int
    data_size: int


def written(df: DataFrame) -> list[Written]:
    """Runs a query; what each Exchange of the plan that ran has written."""
    found = []
    for node in nodes(df):
        if node.nodeName() == "Exchange":
            metrics = node.metrics()
            counted = metrics.get("tasksAtOnce")
            of = [metrics.apply(name).value() for name in ("shuffleRecordsWritten", "dataSize")]
            found.append(Written(counted.get().value() if counted.isDefined() else None, *of))
    return found


@pytest.mark.each_value
@pytest.mark.parametrize("aqe", ["true", "false"])
@pytest.mark.parametrize("table", ["t", "n"])
@pytest.mark.parametrize(
    "sql",
    [
        BY_VALUE,
        "SELECT /*+ REPARTITION(40) */ * FROM {} WHERE v > 3",
        "SELECT /*+ REPARTITION_BY_RANGE(40, id) */ * FROM {}",
        "SELECT a.v, b.id FROM (SELECT v, max(id) AS id FROM {0} GROUP BY v) a JOIN {0} b ON a.id = b.id",
    ],
    ids=["hash", "round robin", "range", "join"],
)
def test_tasks_with_few_rows_write_them_at_once(session: SparkSession, table: str, aqe: str, sql: str) -> None:
    session.conf.set("spark.sql.adaptive.enabled", aqe)
    query = sql.format(table)
    found = written(session.sql(query))
    assert found and all(one.at_once and one.records for one in found), found
    compare(session, query)


@pytest.mark.each_value
@pytest.mark.parametrize("aqe", ["true", "false"])
@pytest.mark.parametrize("kept", ["1", "300", "5000"])
def test_tasks_with_more_rows_write_as_spark_does(session: SparkSession, aqe: str, kept: str) -> None:
    """The first rows, which were kept, and those that follow."""
    session.conf.set("spark.sql.adaptive.enabled", aqe)
    session.conf.set(KEPT, kept)
    query = "SELECT /*+ REPARTITION(40, v) */ * FROM t"
    (found,) = written(session.sql(query))
    assert (found.at_once, found.records) == (0, 4000)
    compare(session, query)
    compare(session, BY_VALUE.format("t"))


def test_rows_are_kept_up_to_the_limit(session: SparkSession) -> None:
    """A row takes its bytes (8 of null bits, 8 for a number) and 64. The one that passes the limit is kept, too."""
    two_rows = "SELECT /*+ REPARTITION(40, i) */ i FROM (SELECT explode(array(id, id + 1)) AS i FROM t WHERE id = 5)"
    for kept, at_once in ("80", 0), ("81", 1):
        session.conf.set(KEPT, kept)
        (found,) = written(session.sql(two_rows))
        assert (found.at_once, found.records) == (at_once, 2)


@pytest.mark.parametrize("setting", [(KEPT, "0"), ("disable_colocate_join", "true")])
def test_switched_off_the_exchange_is_sparks(session: SparkSession, setting: tuple[str, str]) -> None:
    assert [one.at_once for one in written(session.sql(BY_VALUE.format("t")))] != [None]
    session.conf.set(*setting)
    assert [one.at_once for one in written(session.sql(BY_VALUE.format("t")))] == [None]


def test_queries_of_ordinary_tables_keep_sparks(session: SparkSession) -> None:
    assert [one.at_once for one in written(session.sql(BY_VALUE.format("ordinary")))] == [None]
    both = "SELECT a.v, count(*) FROM ordinary a JOIN t b ON a.id = b.id GROUP BY a.v"
    assert all(one.at_once for one in written(session.sql(both)))


@pytest.mark.parametrize("partitions", ["1", "250"])
def test_shuffles_without_a_file_for_each_partition_stay(session: SparkSession, partitions: str) -> None:
    """One partition is one file; and above spark.shuffle.sort.bypassMergeThreshold Spark sorts."""
    session.conf.set(PARTITIONS, partitions)
    query = BY_VALUE.format("t")
    assert [one.at_once for one in written(session.sql(query))] == [0]
    compare(session, query)


def test_rows_of_a_partition_keep_their_order(session: SparkSession) -> None:
    session.conf.set("spark.sql.adaptive.enabled", "false")
    query = "SELECT spark_partition_id() AS p, * FROM (SELECT /*+ REPARTITION(40, v) */ * FROM t WHERE k < 40)"
    orders = {}
    for kept in ("4194304", "5000", "0"):
        session.conf.set(KEPT, kept)
        orders[kept] = session.sql(query).collect()
    assert len({row.p for row in orders["0"]}) > 20
    assert orders["4194304"] == orders["5000"] == orders["0"]


def test_the_metrics_are_those_of_sparks_exchange(session: SparkSession) -> None:
    """AQE decides by them."""
    ours, sparks = [], []
    for kept, found in ("4194304", ours), ("0", sparks):
        session.conf.set(KEPT, kept)
        found += [(one.records, one.data_size) for one in written(session.sql(BY_VALUE.format("t")))]
    assert ours == sparks
    assert ours[0][1] > 0


@pytest.mark.parametrize("kept", ["4194304", "300"])
def test_checksums_of_rows_are_kept(session: SparkSession, kept: str) -> None:
    """With them Spark finds a task that gave other rows when it ran again."""
    session.conf.set("spark.sql.shuffle.orderIndependentChecksum.enabled", "true")
    session.conf.set(KEPT, kept)
    compare(session, BY_VALUE.format("t"))
    ours = checksums(session)
    session.conf.set(KEPT, "0")
    assert ours == checksums(session)
    assert ours and 0 not in ours


def checksums(session: SparkSession) -> list[int]:
    """Of the tasks of each shuffle of a query, in order."""
    session._jvm.System.gc()  # type: ignore[union-attr]
    df = session.sql("SELECT /*+ REPARTITION(40, v) */ v, id FROM t")
    df.collect()
    tracker = session.sparkContext._jsc.sc().env().mapOutputTracker()
    ids = [node.shuffleDependency().shuffleId() for node in nodes(df, run=False) if node.nodeName() == "Exchange"]
    return sorted(
        status.checksumValue() for one in ids for status in tracker.shuffleStatuses().apply(one).mapStatuses()
    )


def test_an_equal_exchange_is_used_again(session: SparkSession) -> None:
    sums = BY_VALUE.format("t")
    query = f"SELECT a.v FROM ({sums}) a JOIN ({sums}) b ON a.v = b.v + 1"
    assert "ReusedExchangeExec" in kinds(session.sql(query))
    compare(session, query)


@pytest.mark.parametrize("kept", ["4194304", "300"])
def test_an_error_in_the_middle_is_the_querys(session: SparkSession, kept: str) -> None:
    session.conf.set(KEPT, kept)
    broken = "SELECT /*+ REPARTITION(40, v) */ if(id = 3990, raise_error('the row'), v) AS v FROM t"
    with pytest.raises(PySparkException, match="the row"):
        session.sql(broken).collect()
    compare(session, BY_VALUE.format("t"))
