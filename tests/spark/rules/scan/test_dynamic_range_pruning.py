"""A table with range partitions, joined by its range columns with a broadcast side, reads its keys' partitions."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import database
from tests.spark.plans import broadcasts, nodes
from tests.spark.ranged import IN_BUCKETS, properties
from tests.tiers.params import rest_slow
from tools.plans import kind

SCANS = ("FileSourceScanExec", "ColocatedScanExec")
NAMES = ("days", "bucketed", "pairs")


def _make(spark: SparkSession) -> None:
    """days and bucketed: 100 partitions of ten days; pairs: by two columns. dim: a day in every hundred, and null."""
    partitions = [(f"p{n}", str(10 * n + 10)) for n in range(100)]
    spark.sql(f"CREATE TABLE days (d BIGINT, k INT) USING delta {properties('d', partitions)}")
    spark.sql(f"CREATE TABLE bucketed (d BIGINT, k INT) USING delta {IN_BUCKETS} {properties('d', partitions)}")
    for name in ("days", "bucketed"):
        spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, id % 7 FROM range(1000)")
    pairs = [(f"p{n}", str(n // 4), str(n % 4 * 25 + 25)) for n in range(40)]
    spark.sql(f"CREATE TABLE pairs (a INT, b INT, k INT) USING delta {properties('a, b', pairs)}")
    spark.sql("INSERT INTO pairs SELECT /*+ COALESCE(1) */ id div 100, id % 100, id % 7 FROM range(1000)")
    rows = "SELECT id * 100 AS d, id AS x, CAST(id AS INT) AS a, CAST(id * 7 AS INT) AS b FROM range(10)"
    spark.sql(
        f"CREATE TABLE dim USING parquet AS {rows} UNION ALL SELECT NULL, 3, NULL, 5 UNION ALL SELECT 5000, 3, 99, 1"
    )


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "dynamic_ranges", _make)


@pytest.fixture(params=rest_slow(["adaptive", "static"], "adaptive"))
def both(spark: SparkSession, tables: str, request: pytest.FixtureRequest) -> SparkSession:
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.adaptive.enabled", str(request.param == "adaptive").lower())
    return spark


def files(spark: SparkSession, sql: str) -> list[int]:
    """Files that were read of each table with ranges; the rows are those without the rule."""
    found = spark.sql(sql)
    read = [
        int(node.metrics().apply("numFiles").value())
        for node in nodes(found)
        if kind(node) in SCANS and node.relation().partitionSchema().fieldNames()
    ]
    spark.conf.set("spark.colocate.rules.excluded", "DynamicRangePruning")
    plain = spark.sql(sql)
    expected = sorted(map(tuple, plain.collect()))
    spark.conf.unset("spark.colocate.rules.excluded")
    assert expected and sorted(map(tuple, found.collect())) == expected
    assert broadcasts(found) == broadcasts(plain)
    return read


PRUNED = {
    "SELECT f.d, k FROM {t} f JOIN dim ON f.d = dim.d WHERE x IN (3, 4)": 2,
    "SELECT f.d, k FROM dim JOIN {t} f ON f.d = dim.d AND f.k > 5 WHERE x = 3": 1,
    "SELECT f.d, k FROM {t} f LEFT SEMI JOIN dim ON f.d = dim.d AND x > 7": 2,
    "SELECT f.d, k FROM {t} f WHERE d IN (SELECT d FROM dim WHERE x IN (1, 2, 3))": 3,
    "SELECT f.d, k FROM {t} f JOIN dim ON f.d = dim.d": 10,
    "SELECT f.d, k FROM {t} f JOIN dim ON f.d = dim.d WHERE f.d > 250 AND x < 4": 1,
    "SELECT f.d, f.k FROM {t} f JOIN dim a ON f.d = a.d JOIN dim b ON f.d = b.d WHERE a.x < 5 AND b.x > 3": 1,
}


@pytest.mark.not_slow
@pytest.mark.each_value
@pytest.mark.parametrize("table", ["days", "bucketed"])
def test_only_the_ranges_of_the_other_sides_keys_are_read(both: SparkSession, table: str) -> None:
    for sql, ranges in PRUNED.items():
        (read,) = files(both, sql.format(t=table))
        # A range of ten days has a file for each of the four buckets, or fewer.
        assert read == ranges if table == "days" else 1 <= read <= ranges * 4, sql


def test_all_range_columns_must_be_keys(both: SparkSession) -> None:
    assert files(both, "SELECT p.b, x FROM pairs p JOIN dim ON p.a = dim.a AND p.b = dim.b WHERE x = 4") == [1]
    assert files(both, "SELECT p.b, x FROM pairs p JOIN dim ON p.b = dim.b AND p.a = dim.a") == [10]
    assert files(both, "SELECT p.b, x FROM pairs p JOIN dim ON p.a = dim.a WHERE x = 4") == [40]


KEPT = {
    "SELECT f.d, x FROM days f LEFT JOIN dim ON f.d = dim.d AND x = 3": 100,
    "SELECT f.d FROM days f LEFT ANTI JOIN dim ON f.d = dim.d": 100,
    "SELECT f.d, x FROM days f JOIN dim ON f.d + 1 = dim.d WHERE x = 3": 100,
    "SELECT f.d, x FROM days f JOIN dim ON f.k = dim.x WHERE x = 3": 100,
}


@pytest.mark.not_slow
def test_rows_without_a_partner_are_kept_where_they_are_asked_for(both: SparkSession) -> None:
    for sql, read in KEPT.items():
        assert files(both, sql) == [read], sql


def test_sparks_switches_switch_it_off(both: SparkSession) -> None:
    sql = next(iter(PRUNED)).format(t="days")
    for switch in ("spark.sql.optimizer.dynamicPartitionPruning.enabled", "spark.sql.exchange.reuse"):
        both.conf.set(switch, "false")
        assert files(both, sql) == [100]
        both.conf.unset(switch)
    both.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    assert files(both, sql) == [100]


def test_a_scan_below_a_pruned_broadcast_is_pruned_once(both: SparkSession) -> None:
    inner = "SELECT f.d, f.k FROM days f JOIN dim ON f.d = dim.d WHERE x = 3"
    sql = f"SELECT /*+ BROADCAST(s) */ g.d, s.k FROM bucketed g JOIN ({inner}) s ON g.d = s.d"
    one, other = sorted(files(both, sql))
    assert one == 1 and other <= 4


def test_partitions_that_came_after_the_analysis(both: SparkSession, db: str) -> None:
    both.sql(f"CREATE TABLE t (d INT, k INT) USING delta {properties('d', [('a', '10'), ('b', '20')])}")
    both.sql("INSERT INTO t VALUES (5, 1), (15, 1)")
    both.sql("CREATE TABLE s USING parquet AS SELECT CAST(25 AS INT) AS d UNION ALL SELECT 15")
    query = both.sql("SELECT t.d FROM t JOIN s ON t.d = s.d")
    assert query.count() == 1
    both.sql("CALL system.add_partition(table => 't', partition => 'c', upper => '30')")
    both.sql("INSERT INTO t VALUES (25, 1)")
    assert query.count() == 2
