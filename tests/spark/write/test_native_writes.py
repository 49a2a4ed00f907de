"""Writes to native members: one file per bucket and partition, and no shuffle that the input makes needless."""

import re
from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.spark.adaptive import ADAPTIVE
from tests.spark.native import bucketed, files, files_per_bucket, misplaced_rows
from tests.spark.plans import Executions
from tools.recorder import Recorder

ROWS = "SELECT CAST(id AS INT) AS k, string(id) AS v, CAST(id % 3 AS INT) AS p FROM range(0, 300, 1, 5)"


@pytest.fixture(autouse=True, params=ADAPTIVE)
def _adaptive(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", request.param)


def member(spark: SparkSession, name: str = "t", more: str = "", buckets: int = 4) -> None:
    spark.sql(f"CREATE TABLE {name} {bucketed('(k INT, v STRING, p INT)', buckets, 'g', more=more)}")


@pytest.mark.not_slow
def test_an_insert_writes_one_file_for_each_bucket(spark: SparkSession, db: str) -> None:
    member(spark)
    spark.sql(f"INSERT INTO t {ROWS}")
    spark.sql(f"INSERT INTO t {ROWS}")
    assert files_per_bucket(spark, "t") == {(".", bucket): 2 for bucket in range(4)}
    assert misplaced_rows(spark, "t", "k", 4) == 0
    assert spark.table("t").count() == 600


def test_a_partitioned_insert_writes_one_file_for_each_bucket_and_partition(spark: SparkSession, db: str) -> None:
    member(spark, more="PARTITIONED BY (p)")
    spark.sql(f"INSERT INTO t {ROWS}")
    assert files_per_bucket(spark, "t") == {(f"p={p}", bucket): 1 for p in range(3) for bucket in range(4)}
    assert misplaced_rows(spark, "t", "k", 4) == 0


def test_a_static_partition_is_written_bucket_by_bucket(spark: SparkSession, db: str) -> None:
    member(spark, more="PARTITIONED BY (p)")
    spark.sql("INSERT INTO t PARTITION (p = 7) SELECT CAST(id AS INT), string(id) FROM range(0, 300, 1, 5)")
    assert files_per_bucket(spark, "t") == {("p=7", bucket): 1 for bucket in range(4)}


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_an_overwrite_replaces_what_the_mode_says(spark: SparkSession, db: str, mode: str) -> None:
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", mode)
    member(spark, more="PARTITIONED BY (p)")
    spark.sql(f"INSERT INTO t {ROWS}")
    spark.sql("INSERT OVERWRITE t SELECT CAST(id AS INT), 'new', 1 FROM range(0, 100, 1, 5)")
    assert spark.table("t").count() == (100 if mode == "static" else 300)
    assert spark.sql("SELECT DISTINCT v FROM t WHERE p = 1").collect() == [("new",)]
    assert set(files_per_bucket(spark, "t").values()) == {1}


def test_sorted_buckets_are_sorted_in_each_file(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE t (k INT, v STRING) USING parquet CLUSTERED BY (k) SORTED BY (v) INTO 4 BUCKETS "
        "TBLPROPERTIES ('colocate_with'='g')"
    )
    spark.sql("INSERT INTO t SELECT CAST(id AS INT), string(999 - id) FROM range(0, 300, 1, 5)")
    assert set(files_per_bucket(spark, "t").values()) == {1}
    for file in files(spark, "t"):
        values = [row.v for row in spark.read.parquet(str(file)).collect()]
        assert values == sorted(values)


def test_an_empty_input_is_written_as_nothing(spark: SparkSession, db: str) -> None:
    member(spark)
    spark.sql(f"INSERT INTO t SELECT * FROM ({ROWS}) WHERE k < 0")
    spark.sql("INSERT INTO t SELECT CAST(NULL AS INT), 'x', 1 WHERE false")
    assert spark.table("t").count() == 0


def test_null_keys_lie_in_one_bucket(spark: SparkSession, db: str) -> None:
    member(spark)
    spark.sql("INSERT INTO t SELECT CAST(NULL AS INT), string(id), 0 FROM range(0, 30, 1, 3)")
    assert sum(files_per_bucket(spark, "t").values()) == 1
    assert misplaced_rows(spark, "t", "k", 4) == 0


def test_an_input_in_the_layout_is_not_shuffled(spark: SparkSession, db: str) -> None:
    member(spark)
    member(spark, "u")
    spark.sql(f"INSERT INTO t {ROWS}")
    with Executions(spark) as seen:
        spark.sql("INSERT INTO u SELECT k, v || 'x', p FROM t WHERE p < 2")
    assert seen.exchanges == 0
    assert set(files_per_bucket(spark, "u").values()) == {1}
    assert misplaced_rows(spark, "u", "k", 4) == 0


def test_a_member_joined_with_a_broadcast_table_is_not_shuffled(spark: SparkSession, db: str) -> None:
    """Nothing below the write asks for buckets, so Spark itself would read the member without them."""
    member(spark)
    member(spark, "u")
    spark.sql(f"INSERT INTO t {ROWS}")
    with Executions(spark) as seen:
        spark.sql(
            "INSERT INTO u SELECT /*+ BROADCAST(d) */ k, d.w, p FROM t "
            "JOIN VALUES (0, 'a'), (1, 'b') AS d(q, w) ON p = q"
        )
    assert seen.exchanges == 0
    assert set(files_per_bucket(spark, "u").values()) == {1}
    assert misplaced_rows(spark, "u", "k", 4) == 0


@pytest.mark.not_slow
@pytest.mark.each_value
@pytest.mark.parametrize("target", ["parquet", "delta"])
def test_members_of_both_formats_are_joined_into_either_without_a_shuffle(
    spark: SparkSession, db: str, target: str
) -> None:
    """The join keeps both keys, so its rows have the layout by each of them."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    member(spark)
    for name, format in (("d", "delta"), ("u", target)):
        spark.sql(f"CREATE TABLE {name} {bucketed('(k INT, v STRING, p INT)', 4, 'g', format=format)}")
    spark.sql(f"INSERT INTO t {ROWS}")
    spark.sql(f"INSERT INTO d {ROWS}")
    with Recorder(spark) as seen:
        spark.sql("INSERT INTO u SELECT t.k, d.v, d.k FROM t JOIN d ON t.k = d.k")
        spark.sql("INSERT INTO u SELECT k, v, p FROM d")
        spark.sql(
            f"CREATE TABLE c {bucketed('', 4, 'g', format=target)} AS SELECT d.*, t.k AS k2 FROM t JOIN d USING (k)"
        )
    assert seen.exchanges == 0, str(seen)
    assert (spark.table("u").count(), spark.table("c").count()) == (600, 300)
    assert [files_of(spark, "u"), files_of(spark, "c")] == [[2] * 4, [1] * 4]


def files_of(spark: SparkSession, table: str) -> list[int]:
    """How many files each bucket has, of either format."""
    names = [row[0] for row in spark.sql(f"SELECT DISTINCT _metadata.file_path FROM {table}").collect()]
    buckets = [re.findall(r"_colocate_bucket=\d+|_\d{5}\.c\d{3}", name)[-1] for name in names]
    return sorted(Counter(buckets).values())


def test_an_input_in_ranges_is_brought_to_its_buckets(spark: SparkSession, db: str) -> None:
    """A range partitioning by the key into as many tasks is clustered, yet it is another layout."""
    member(spark)
    spark.sql(f"SELECT * FROM ({ROWS})").repartitionByRange(4, "k").write.insertInto("t")
    assert set(files_per_bucket(spark, "t").values()) == {1}
    assert misplaced_rows(spark, "t", "k", 4) == 0


def test_a_shuffle_of_the_query_is_used_when_it_fits(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    member(spark)
    with Executions(spark) as seen:
        spark.sql(f"INSERT INTO t SELECT k, max(v), max(p) FROM ({ROWS}) GROUP BY k")
    assert seen.exchanges == 1
    assert set(files_per_bucket(spark, "t").values()) == {1}
    assert misplaced_rows(spark, "t", "k", 4) == 0


def test_common_table_expressions_are_written_in_the_layout(spark: SparkSession, db: str) -> None:
    member(spark)
    spark.sql(f"WITH r AS ({ROWS}) INSERT INTO t SELECT * FROM r UNION ALL SELECT * FROM r")
    spark.sql(f"CREATE TABLE u {bucketed('', 4, 'g')} AS WITH r AS ({ROWS}) SELECT a.* FROM r a JOIN r b ON a.k = b.k")
    assert (spark.table("t").count(), spark.table("u").count()) == (600, 300)
    for table in ("t", "u"):
        assert set(files_per_bucket(spark, table).values()) == {1}


def test_a_multi_insert_lays_out_each_table(spark: SparkSession, db: str) -> None:
    member(spark)
    member(spark, "u", buckets=4)
    spark.sql(f"FROM ({ROWS}) INSERT INTO t SELECT k, v, p WHERE p = 0 INSERT INTO u SELECT k, v, p WHERE p > 0")
    assert (spark.table("t").count(), spark.table("u").count()) == (100, 200)
    for table in ("t", "u"):
        assert set(files_per_bucket(spark, table).values()) == {1}


def test_several_keys_hash_in_their_order(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT, v STRING, p INT)', 8, 'g', keys='v, k')}")
    spark.sql(f"INSERT INTO t {ROWS}")
    assert set(files_per_bucket(spark, "t").values()) == {1}
    assert misplaced_rows(spark, "t", "v, k", 8) == 0


def test_a_bucketed_table_in_no_group_stays_sparks_business(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE t (k INT, v STRING, p INT) USING parquet CLUSTERED BY (k) INTO 4 BUCKETS")
    with Executions(spark) as seen:
        spark.sql(f"INSERT INTO t {ROWS}")
    assert seen.exchanges == 0
    assert sum(files_per_bucket(spark, "t").values()) > 4
