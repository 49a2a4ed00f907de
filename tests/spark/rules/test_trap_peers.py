"""Wrong rows that others have shipped, each as the nearest case of ours (design section 6)."""

import itertools
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from spark_colocate.verdicts import verdicts

from tests.spark.adaptive import ADAPTIVE
from tests.spark.members import create_member, fill, unstable
from tests.spark.oracle import assert_exchange, assert_exchanges, assert_no_exchange, compare
from tests.tiers.params import rest_slow

COLUMNS = "a INT, b INT, v BIGINT"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    """t, u, c1, c2 by (a); y by (b), of t's group; t2, u2 by (a, b); t8 by (a) into 8; days by (a), partitioned."""
    spark.sql("CREATE DATABASE peers")
    spark.sql("USE peers")
    made = [("t", "a", 4, "g"), ("u", "a", 4, "g"), ("y", "b", 4, "g"), ("t2", "a,b", 4, "g2"), ("u2", "a,b", 4, "g2")]
    for name, keys, buckets, group in [*made, ("t8", "a", 8, "g8")]:
        create_member(spark, name, COLUMNS, keys.split(","), buckets, group=group)
    create_member(spark, "days", COLUMNS, ["a"], 4, "parquet", partitioned=["b"])
    spark.sql(f"CREATE TABLE p ({COLUMNS}) USING parquet")
    for number, name in enumerate(("t", "u", "y", "t2", "u2", "t8", "days", "p")):
        key = "if(id % 11 = 0, NULL, cast(id % 15 AS INT))"
        query = f"SELECT {key}, cast(id % 4 AS INT), id FROM range({3 * number}, {3 * number + 45})"
        fill(spark, name, query, ["a", "b", "v"])
    for name, buckets, rows in (("few", 11, 3), ("many", 4, 5000)):
        create_member(spark, name, COLUMNS, ["a"], buckets, group=f"g_{name}")
        fill(spark, name, f"SELECT cast(id AS INT), 0, id FROM range({rows})", ["a", "b", "v"])
    for name, every in (("c1", 2), ("c2", 3)):
        create_member(spark, name, "a INT, n STRING COLLATE UTF8_LCASE, v BIGINT", ["a"], 4, "parquet", group="gc")
        rows = f"SELECT cast(id % 5 AS INT), if(id % {every} = 0, 'x', 'X'), id FROM range(20)"
        fill(spark, name, rows, ["a", "n", "v"])
    spark.sql("USE default")
    yield "peers"
    spark.sql("DROP DATABASE peers CASCADE")


@pytest.fixture(autouse=True, params=ADAPTIVE)
def _shuffling(spark: SparkSession, tables: str, request: pytest.FixtureRequest) -> None:
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.adaptive.enabled", request.param)
    spark.conf.set("spark.sql.codegen.wholeStage", request.param)  # of tiny queries, the most of their time
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")


def test_doris_4215_join_on_the_second_of_two_bucket_keys(spark: SparkSession) -> None:
    assert_exchange(spark, "SELECT t2.v, u2.v FROM t2 JOIN u2 ON t2.b = u2.b AND t2.v < u2.v")


def test_starrocks_1962_join_on_a_part_of_the_bucket_keys(spark: SparkSession) -> None:
    assert_exchange(spark, "SELECT t2.v, u2.v FROM t2 JOIN u2 ON t2.a = u2.a")


@pytest.mark.not_slow
def test_doris_36324_one_group_but_other_key_columns(spark: SparkSession) -> None:
    assert_exchange(spark, "SELECT t.v, y.v FROM t JOIN y ON t.a = y.a")
    assert_no_exchange(spark, "SELECT t.v, y.v FROM t JOIN y ON t.a = y.b")


@pytest.mark.parametrize(("between", "exchanges"), [("t", 0), ("p", 1)])
def test_joins_above_two_bucket_counts_that_met(spark: SparkSession, between: str, exchanges: int) -> None:
    """The lower join was planned with 8 tasks, and what is joined to it as well, before it met at 4."""
    below = "SELECT t8.a, t8.v FROM t8 WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t8.a AND u.v < 40)"
    sql = f"SELECT x.v, m.v, days.v FROM ({below}) x JOIN {between} m ON x.a = m.a JOIN days ON x.a = days.a"
    assert_exchanges(spark, sql, exchanges)


@pytest.mark.not_slow
@pytest.mark.parametrize(("third", "exchanges"), [("days", 1), ("p", 2)])
@pytest.mark.every(2)
def test_joins_above_a_side_that_was_shuffled_to_fewer_buckets(spark: SparkSession, third: str, exchanges: int) -> None:
    """All of them were planned with the 11 tasks of the first table, which is the smallest and is shuffled instead."""
    sql = f"SELECT x.v FROM few x JOIN many m ON x.a = m.a JOIN {third} d ON x.a = d.a AND d.v % 3 = 0"
    assert_exchanges(spark, sql, exchanges)
    above, below = (verdict for verdict in verdicts(spark.sql(sql)) if "Join" in verdict.operator)
    assert below.code == "BUCKETS_DIFFER"
    if third == "p":
        assert "the other one alone is shuffled to the 4 buckets of peers.many" in above.text
    else:
        assert (above.colocated, above.buckets) == (True, 4)


def test_a_collated_key_beside_the_bucket_key_is_not_hashed(spark: SparkSession) -> None:
    """Texts that are equal by their collation have other bytes."""
    for key in ("c1.n = c2.n", "trim(c1.n) = trim(c2.n)"):
        pair = compare(spark, f"SELECT c1.v, c2.v FROM c1 JOIN c2 ON c1.a = c2.a AND {key}")
        assert pair.on.rows is not None
        assert (len(pair.on.rows), pair.on.exchanges) == (80, 0)


# What stood above the join that was freed, and the Exchanges that are left.
ABOVE_FREED = {
    "another join by the key": (
        "SELECT x.v, d.v FROM (SELECT t.a, t.v FROM t FULL JOIN u ON t.a = u.a AND t.b = u.b) x LEFT JOIN days d "
        "ON x.a = d.a WHERE x.v = 2 OR EXISTS (SELECT 1 FROM u y WHERE y.a = x.a AND y.v < 40)",
        0,
    ),
    "a join with a table that is no member": (
        "SELECT x.v, d.v, p.v FROM (SELECT u.a, t.v FROM t LEFT JOIN u ON t.a = u.a AND u.v % 3 = 0) x "
        "LEFT JOIN days d ON x.a = d.a LEFT JOIN p ON x.a = p.a",
        2,
    ),
    "an aggregate": (
        "SELECT x.a, count(*), sum(d.v) FROM (SELECT u.a, t.v FROM t LEFT JOIN u ON t.a = u.a AND u.v % 3 = 0) x "
        "LEFT JOIN days d ON x.a = d.a GROUP BY x.a",
        1,
    ),
    "a window": (
        "SELECT x.a, x.v, count(d.v) OVER (PARTITION BY x.a) FROM (SELECT u.a, t.v FROM t LEFT JOIN u ON t.a = u.a "
        "AND u.v % 3 = 0) x LEFT JOIN days d ON x.a = d.a",
        1,
    ),
}


@pytest.mark.each_value
@pytest.mark.parametrize("above", ABOVE_FREED)
def test_what_stands_above_a_join_by_extended_keys_is_asked_again(spark: SparkSession, above: str) -> None:
    """It was planned upon the join's Exchange, which is gone since a null of the key meets nothing anyway."""
    sql, exchanges = ABOVE_FREED[above]
    for hashed in (0, 1):  # choosing a hash join asks the whole plan again
        spark.conf.set("spark.colocate.join.hashBytesPerTask", hashed)
        pair = assert_exchanges(spark, sql, exchanges)
        assert any(kind.endswith("HashJoinExec") for kind in pair.on.kinds) == (hashed == 0)


@pytest.mark.parametrize("operation", ["EXCEPT", "INTERSECT"])
def test_a_set_operation_above_a_side_that_might_be_shuffled_to_fewer_buckets(
    spark: SparkSession, operation: str
) -> None:
    """DISTINCT is by the smaller table's key, which lies in its buckets as long as the other table is shuffled."""
    assert_exchanges(spark, f"SELECT a FROM few {operation} SELECT a FROM many WHERE v > 1", 1)


@pytest.mark.not_slow
def test_doris_22979_outer_joins_that_merge_distributions(spark: SparkSession) -> None:
    """The keys of the side that is extended by nulls are shuffled; of the other side, only p, which is no member."""
    kept = {"LEFT": "t", "RIGHT": "u", "FULL": "neither"}
    for join, side in itertools.product(kept, ("t", "u")):
        more = 0 if side == kept[join] else 1
        join = f"t {join} JOIN u ON t.a = u.a"
        assert_exchanges(spark, f"SELECT {side}.a, count(*) FROM {join} GROUP BY {side}.a", more)
        assert_exchanges(spark, f"SELECT t.v, p.v FROM {join} AND u.v > 9 JOIN p ON {side}.a <=> p.a", more + 1)


def test_doris_6559_an_aggregate_does_not_trust_an_unstable_group(spark: SparkSession) -> None:
    with unstable(spark, "peers.g"):
        assert_exchange(spark, "SELECT a, count(*) FROM t GROUP BY a")
        explained = spark.sql("EXPLAIN SELECT a, count(*) FROM t GROUP BY a").collect()[0][0]
    assert "colocate: false, reason: group is not stable" in explained


def test_doris_10045_one_shuffled_side_beside_a_member_with_partitions(spark: SparkSession) -> None:
    for join in ("INNER", "LEFT", "RIGHT", "FULL"):
        assert_exchanges(spark, f"SELECT days.v, days.b, p.v FROM days {join} JOIN p ON days.a = p.a AND days.b < 3", 1)


def test_doris_5184_an_aggregated_side_is_still_colocated(spark: SparkSession) -> None:
    assert_no_exchange(spark, "SELECT t.v, n FROM t JOIN (SELECT a, count(*) AS n FROM u GROUP BY a) x ON t.a = x.a")


def test_starrocks_22462_join_and_aggregate_of_one_table(spark: SparkSession) -> None:
    assert_no_exchange(spark, "SELECT x.v, n FROM t x JOIN (SELECT a, sum(v) AS n FROM t GROUP BY a) y ON x.a = y.a")


def test_paimon_5654_a_table_of_another_bucket_count(spark: SparkSession) -> None:
    for join in ("INNER", "LEFT", "RIGHT", "FULL"):
        assert_no_exchange(spark, f"SELECT t.v, t8.v FROM t {join} JOIN t8 ON t.a = t8.a")


def test_trino_11885_other_counts_and_a_filter_on_the_bucket(spark: SparkSession) -> None:
    for bucket in range(4):
        assert_no_exchange(spark, f"SELECT t.v, t8.v FROM t JOIN t8 ON t.a = t8.a AND pmod(hash(t.a), 4) = {bucket}")
        assert_no_exchange(spark, f"SELECT t.v, t8.v FROM t JOIN t8 ON t.a = t8.a WHERE t8.a = {bucket}")


def test_paimon_9216_timestamps_of_two_types(spark: SparkSession) -> None:
    times = {"w_ltz": "TIMESTAMP", "w_ntz": "TIMESTAMP_NTZ"}
    for name, kind in times.items():
        create_member(spark, name, f"k {kind}, v BIGINT", ["k"], 4, group=f"g_{name}")
        fill(spark, name, f"SELECT cast(timestamp_seconds(id % 9 * 3601) AS {kind}), id FROM range(30)", ["k", "v"])
    try:
        with pytest.raises(AnalysisException, match=r"(?i)key types"):
            create_member(spark, "w_two", "k TIMESTAMP_NTZ, v BIGINT", ["k"], 4, group="g_w_ltz")
        assert_exchange(spark, "SELECT l.v, r.v FROM w_ltz l JOIN w_ntz r ON l.k = r.k")
    finally:
        for name in times:
            spark.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize("provider", ["delta", "parquet"])
def test_paimon_rust_620_a_typo_in_the_bucket_key_is_refused(spark: SparkSession, provider: str) -> None:
    with pytest.raises(AnalysisException, match="kay"):
        create_member(spark, "typo", "key INT, v BIGINT", ["kay"], 4, provider)
    assert not spark.catalog.tableExists("peers.typo")


@pytest.mark.each_value
@pytest.mark.parametrize("provider", ["delta", "parquet"])
@pytest.mark.parametrize("kind", ["CHAR(5)", "DOUBLE", "FLOAT", "STRING COLLATE UTF8_LCASE", "ARRAY<INT>"])
def test_a_key_whose_equal_values_may_hash_apart_is_refused(spark: SparkSession, provider: str, kind: str) -> None:
    with pytest.raises(AnalysisException):
        create_member(spark, "unsafe", f"k {kind}, v BIGINT", ["k"], 4, provider)
    assert not spark.catalog.tableExists("peers.unsafe")


def test_spark_58996_requirements_ensured_again_and_again_duplicate_nothing(spark: SparkSession) -> None:
    """AQE plans again after every stage, and each of our rewrites asks EnsureRequirements again."""
    assert_exchanges(
        spark,
        "SELECT x.a, x.n, y.m, p.v FROM (SELECT t.a, count(*) AS n FROM t JOIN u ON t.a = u.a GROUP BY t.a) x "
        "JOIN (SELECT a, sum(v) AS m FROM p GROUP BY a) y ON x.a = y.a LEFT JOIN p ON x.a = p.a AND x.n > 3 "
        "JOIN t8 ON x.a = t8.a AND t8.v % 3 = 0",
        2,
    )


def test_spark_59050_rows_that_only_the_shuffled_side_has_meet_their_partners(spark: SparkSession) -> None:
    """p alone is shuffled to the buckets of t; keys that t lacks must still find u and t8 afterwards."""
    few = "(SELECT * FROM t WHERE a < 5)"
    # A full outer join gives up both sides' keys: its rows are shuffled once more.
    for first, second, left in (("RIGHT", "LEFT", 1), ("FULL", "FULL", 2), ("RIGHT", "INNER", 1), ("FULL", "LEFT", 2)):
        joins = f"{few} t {first} JOIN p ON t.a = p.a {second} JOIN u ON p.a = u.a AND u.v < 30"
        assert_exchanges(spark, f"SELECT t.v, p.v, u.v FROM {joins}", left)


def test_spark_58988_adaptive_inner_joins_of_empty_sides_return_what_they_should(spark: SparkSession) -> None:
    assert_exchanges(spark, "SELECT t.v, u.v, p.v FROM t JOIN u ON t.a = u.a JOIN p ON u.a = p.a AND p.v < 40", 1)
    assert_no_exchange(spark, "SELECT t.v FROM t LEFT JOIN (SELECT * FROM u WHERE v < 0) u ON t.a = u.a")


def test_spark_44641_and_55848_no_duplicates_after_joins_on_more_than_the_keys(spark: SparkSession) -> None:
    assert_no_exchange(spark, "SELECT DISTINCT t.a, t.b FROM t JOIN u ON t.a = u.a AND t.b = u.b")
    counted = "SELECT t2.a, t2.b, count(*) FROM t2 LEFT JOIN u2 ON t2.a = u2.a AND t2.b = u2.b GROUP BY 1, 2"
    assert_no_exchange(spark, counted)


@pytest.mark.parametrize("provider", rest_slow(["delta", "parquet", "orc"], "delta", "parquet"))
def test_empty_tables_and_empty_buckets_join(spark: SparkSession, provider: str) -> None:
    name = f"empty_{provider}"
    create_member(spark, name, COLUMNS, ["a"], 4, provider)
    try:
        for join in ("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"):
            compare(spark, f"SELECT t.v FROM t {join} JOIN {name} e ON t.a = e.a" if "LEFT" in join else
                    f"SELECT t.v, e.v FROM t {join} JOIN {name} e ON t.a = e.a")  # fmt: skip
        compare(spark, f"SELECT a, count(*) FROM {name} GROUP BY a")
        fill(spark, name, "SELECT 7, 1, id FROM range(3)", ["a", "b", "v"])
        assert_no_exchange(spark, f"SELECT t.v, e.v FROM t RIGHT JOIN {name} e ON t.a = e.a", "peers.g")
    finally:
        spark.sql(f"DROP TABLE {name}")
