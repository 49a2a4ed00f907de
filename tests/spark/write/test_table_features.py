"""What Spark and Delta do to a table beside its buckets: partitions, generated columns, evolution, feeds, pruning."""

import json

import pytest
from pyspark.sql import SparkSession

from tests.spark.delta_log import actions, commits
from tests.spark.members import create_member, fill
from tests.spark.oracle import assert_exchange, assert_no_exchange, compare
from tests.spark.plans import kind, nodes
from tests.tiers.params import rest_slow

INTERPRETED = True

ROWS = "SELECT if(id % 9 = 0, NULL, cast(id % 17 AS INT)) AS k, id AS v FROM range(60)"
JOIN = "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k"


@pytest.fixture(autouse=True)
def _shuffling(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    create_member(spark, "u", "k INT, v BIGINT", ["k"], 4)
    fill(spark, "u", ROWS, ["k", "v"])


@pytest.mark.parametrize("provider", ["delta", "parquet"])
def test_partition_columns_and_dynamic_partition_pruning(spark: SparkSession, provider: str) -> None:
    create_member(spark, "t", "k INT, v BIGINT, day DATE", ["k"], 4, provider, partitioned=["day"])
    fill(spark, "t", "SELECT cast(id % 17 AS INT), id, date'2026-01-01' + cast(id % 5 AS INT) FROM range(60)",
         ["k", "v", "day"])  # fmt: skip
    days = "SELECT date'2026-01-01' + cast(id AS INT) AS day, id AS n FROM range(5)"
    spark.sql(f"CREATE TABLE days USING parquet AS {days}")
    assert_no_exchange(spark, "SELECT t.k, t.day, u.v FROM t JOIN u ON t.k = u.k WHERE t.day > date'2026-01-02'")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10485760")
    spark.conf.set("spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly", "true")
    few_days = "t JOIN days ON t.day = days.day AND days.n = 3"
    pruned = f"SELECT /*+ MERGE(u) */ t.k, t.v, u.v FROM {few_days} JOIN u ON t.k = u.k"
    assert any("ColocatedScan" in line and "dynamicpruning" in line for line in _plan(spark, pruned))
    assert_no_exchange(spark, pruned)


def test_identity_generated_and_default_columns_beside_the_key(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE t (n BIGINT GENERATED ALWAYS AS IDENTITY, k INT, v BIGINT, w BIGINT GENERATED ALWAYS AS (v * 2), "
        "x STRING DEFAULT 'none') USING delta CLUSTERED BY (k) INTO 4 BUCKETS "
        "TBLPROPERTIES ('colocate_with' = 'g', 'delta.feature.allowColumnDefaults' = 'supported')"
    )
    fill(spark, "t", ROWS, ["k", "v"])
    spark.sql(f"MERGE INTO t USING ({ROWS}) s ON t.v = s.v + 50 WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)")
    assert_no_exchange(spark, "SELECT t.k, t.n, t.w, t.x, u.v FROM t JOIN u ON t.k = u.k")
    assert spark.sql("SELECT count(*) FROM t WHERE w <> v * 2 OR x <> 'none' OR n IS NULL").first()[0] == 0
    assert spark.sql("SELECT count(DISTINCT n) = count(*) FROM t").first()[0]


@pytest.mark.parametrize("provider", rest_slow(["delta", "parquet", "orc"], "delta", "parquet"))
def test_names_in_another_case(spark: SparkSession, provider: str) -> None:
    create_member(spark, "t", "Key INT, v BIGINT", ["KEY"], 4, provider)
    fill(spark, "t", ROWS, ["kEy", "V"])
    assert_no_exchange(spark, "SELECT T.KEY, t.V, U.v FROM t JOIN u ON t.key = u.K")
    assert compare(spark, "SELECT keY, count(*) FROM T GROUP BY kEY").on.exchanges == 0


def test_column_mapping_by_id(spark: SparkSession) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, properties={"delta.columnMapping.mode": "id"})
    fill(spark, "t", ROWS, ["k", "v"])
    spark.sql("ALTER TABLE t RENAME COLUMN v TO w")
    spark.sql("ALTER TABLE t ADD COLUMNS (x STRING)")
    spark.sql("INSERT INTO t (k, w, x) SELECT cast(id AS INT), id, 'x' FROM range(5)")
    spark.sql("MERGE INTO t USING u ON t.k = u.k AND u.v = 3 WHEN MATCHED THEN UPDATE SET w = -t.w")
    assert_no_exchange(spark, "SELECT t.k, t.w, t.x, u.v FROM t JOIN u ON t.k = u.k")


@pytest.mark.each_value
@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("provider", rest_slow(["delta", "parquet", "orc"], "delta", "parquet"))
def test_ansi_mode(spark: SparkSession, provider: str, ansi: str) -> None:
    """It decides which side of a comparison is cast: a literal's cast folds, a key's hashes otherwise."""
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, provider)
    fill(spark, "t", ROWS, ["k", "v"])
    assert_no_exchange(spark, f"{JOIN} WHERE t.k > '4' AND t.v + 1 <> 8")
    assert compare(spark, "SELECT k, sum(v), avg(v) FROM t WHERE k = '3' OR k = 5L GROUP BY k").on.exchanges == 0
    texts = "(SELECT cast(k AS STRING) AS k, v FROM u)"
    assert_exchange(spark, f"SELECT t.k, t.v, s.v FROM t JOIN {texts} s ON t.k = s.k")


def test_columns_added_by_schema_evolution(spark: SparkSession) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4)
    spark.sql(f"INSERT INTO t (k, v) {ROWS}")
    more = spark.sql("SELECT cast(id % 17 AS INT) AS k, id AS v, concat('x', id) AS x FROM range(60, 90)")
    more.write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable("t")
    source = "SELECT 3 AS k, 200L AS v, 'm' AS x, true AS flag"
    spark.sql(f"MERGE WITH SCHEMA EVOLUTION INTO t USING ({source}) s ON t.v = s.v WHEN NOT MATCHED THEN INSERT *")
    pair = assert_no_exchange(spark, "SELECT t.k, t.v, t.x, t.flag, u.v FROM t JOIN u ON t.k = u.k")
    assert {row[2] for row in pair.on.rows or ()} > {None, "m"}


@pytest.mark.parametrize("kind", ["VARCHAR(20)", "STRING", "BINARY", "DECIMAL(12, 3)", "DATE", "TIMESTAMP_NTZ"])
@pytest.mark.every(3)
def test_a_key_of_type(spark: SparkSession, kind: str) -> None:
    value = {
        "DATE": "date'2026-01-01' + cast(id % 17 AS INT)",
        "TIMESTAMP_NTZ": "timestamp_ntz'2026-01-01 00:00:00' + make_dt_interval(id % 17)",
    }.get(kind, f"cast(cast(id % 17 AS STRING) AS {kind})" if kind != "VARCHAR(20)" else "concat('key ', id % 17)")
    for name, provider in (("a", "delta"), ("b", "parquet")):
        create_member(spark, name, f"k {kind}, v BIGINT", ["k"], 4, provider, "g_typed")
        fill(spark, name, f"SELECT if(id % 9 = 0, NULL, {value}), id FROM range(60)", ["k", "v"])
    assert_no_exchange(spark, "SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k")
    assert_no_exchange(spark, "SELECT a.v, b.v FROM a FULL JOIN b ON a.k <=> b.k AND a.v < b.v")


def test_metadata_columns_and_row_ids(spark: SparkSession) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, properties={"delta.enableRowTracking": "true"})
    fill(spark, "t", ROWS, ["k", "v"])
    spark.sql("UPDATE t SET v = v + 100 WHERE v % 4 = 1")
    assert_no_exchange(spark, "SELECT t.k, t._metadata.row_id, t._metadata.row_commit_version, u.v "
                              "FROM t JOIN u ON t.k = u.k")  # fmt: skip
    assert_no_exchange(spark, "SELECT t.k, t._metadata.file_name, u._metadata.file_size FROM t JOIN u ON t.k = u.k")


def test_a_change_feed_of_one_layout_joins_a_member(spark: SparkSession) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, properties={"delta.enableChangeDataFeed": "true"})
    fill(spark, "t", ROWS, ["k", "v"])
    spark.sql("MERGE INTO t USING u ON t.v = u.v AND u.v % 5 = 0 WHEN MATCHED THEN UPDATE SET v = t.v + 1000")
    feed = "SELECT c.k, c.v, c._change_type, u.v FROM table_changes('t', 1) c JOIN u ON c.k = u.k"
    pair = compare(spark, feed)
    assert {row[2] for row in pair.on.rows or ()} == {"insert", "update_preimage", "update_postimage"}


def test_bloom_and_semi_join_filters_keep_the_layout(spark: SparkSession) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4)
    fill(spark, "t", ROWS, ["k", "v"])
    spark.conf.set("spark.sql.optimizer.runtime.bloomFilter.enabled", "true")
    spark.conf.set("spark.sql.optimizer.runtime.bloomFilter.applicationSideScanSizeThreshold", "0")
    spark.conf.set("spark.sql.optimizer.runtime.bloomFilter.creationSideThreshold", "1GB")
    spark.sql(f"CREATE TABLE p USING parquet AS {ROWS}")
    by_bucket = f"{JOIN} WHERE u.v % 3 = 1"
    by_key = f"{JOIN} JOIN p ON t.k = p.k AND p.v % 7 = 1"
    by_another = f"{JOIN} JOIN p ON t.v = p.v AND p.k % 7 = 1"
    for sql, left in ((by_bucket, 0), (by_key, 1), (by_another, 2)):
        assert any("might_contain" in line for line in _plan(spark, sql)), sql
        pair = compare(spark, sql)
        assert pair.on.rows and pair.on.colocated
        # One Exchange more gathers the bits of the bloom filter.
        assert pair.on.exchanges == left + 1 < pair.off.exchanges


@pytest.mark.parametrize("provider", rest_slow(["delta", "parquet", "orc"], "delta", "parquet"))
def test_a_permanent_view(spark: SparkSession, provider: str) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, provider)
    fill(spark, "t", ROWS, ["k", "v"])
    spark.sql("CREATE VIEW seen AS SELECT k AS x, v + 1 AS y FROM t WHERE v % 5 > 0")
    assert_no_exchange(spark, "SELECT x, y, u.v FROM seen JOIN u ON x = u.k")
    assert compare(spark, "SELECT x, max(y), count(*) FROM seen GROUP BY x").on.exchanges == 0


@pytest.mark.parametrize("provider", rest_slow(["delta", "parquet", "orc"], "delta", "parquet"))
def test_tables_and_buckets_without_rows(spark: SparkSession, provider: str) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, provider)
    for join in ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT ANTI JOIN"):
        compare(spark, f"SELECT count(*), count(u.v) FROM u {join} t ON t.k = u.k")
    fill(spark, "t", "SELECT 3, id FROM range(5)", ["k", "v"])
    assert_no_exchange(spark, JOIN)


def test_a_member_stays_out_of_liquid_clustering(spark: SparkSession) -> None:
    for columns in ("(v)", "NONE"):
        with pytest.raises(Exception, match="it has buckets, and liquid clustering moves rows between files"):
            spark.sql(f"ALTER TABLE u CLUSTER BY {columns}")
    assert spark.sql("SELECT count(*) FROM u").first()[0] == 60


def test_the_bucket_takes_no_place_among_the_columns_with_statistics(spark: SparkSession) -> None:
    few = {"delta.dataSkippingNumIndexedCols": "2"}
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, properties=few)
    fill(spark, "t", ROWS, ["k", "v"])
    adds = actions(commits(spark, "t")[-1], "add")
    assert adds
    assert all(set(json.loads(add["stats"])["maxValues"]) == {"k", "v"} for add in adds)


@pytest.mark.parametrize("provider", rest_slow(["delta", "parquet", "orc"], "delta", "parquet"))
def test_a_point_query_reads_one_bucket(spark: SparkSession, provider: str) -> None:
    create_member(spark, "t", "k INT, v BIGINT", ["k"], 4, provider)
    fill(spark, "t", ROWS, ["k", "v"])
    for key in ("spark.sql.parquet.filterPushdown", "spark.sql.orc.filterPushdown"):
        spark.conf.set(key, "false")  # every row of a file that is read is counted
    bucket = spark.sql("SELECT count(*) FROM t WHERE pmod(hash(k), 4) = pmod(hash(3), 4)").first()[0]
    for condition in ("t.k = 3", "t.k IN (3)", "t.k <=> 3", "t.k = 3 AND t.v > 5"):
        alone, joined = f"SELECT v FROM t WHERE {condition}", f"{JOIN} WHERE {condition}"
        assert compare(spark, alone).on.rows
        assert _rows_scanned(spark, alone) == [bucket]
        assert compare(spark, joined).on.rows
        assert _rows_scanned(spark, joined) == [bucket, bucket]


def _plan(spark: SparkSession, sql: str) -> list[str]:
    return str(spark.sql(f"EXPLAIN {sql}").first()[0]).split("== Extended")[0].splitlines()


def _rows_scanned(spark: SparkSession, sql: str) -> list[int]:
    """Rows that each scan of one run returned, before filters."""
    scans = [node for node in nodes(spark.sql(sql)) if "ScanExec" in kind(node)]
    return [int(node.metrics().apply("numOutputRows").value()) for node in scans]
