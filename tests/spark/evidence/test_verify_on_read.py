"""The manifest of native members, and the check of what is not in it (design 5a, declared evidence)."""

import os
import random
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.members import NATIVE, create_member, fill, folder, switched_off
from tests.spark.native import files
from tests.spark.oracle import Rows, compare, multiset, run
from tests.spark.strays import FOREIGN, bucket_file, drop_in, forget, known, rename, say_of_bucket_3
from tests.tiers.params import rest_slow

INTERPRETED = True

JOIN = "SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k"
KEYS = {"k": pa.array(range(13), pa.int32()), "v": pa.array(range(500, 513), pa.int64())}
# Checked before the scan's tasks, and by them.
TRIED = ("SELECT k, count(*) FROM a GROUP BY k", "SELECT count(*), sum(b.v) FROM a JOIN b ON a.k = b.k")


@pytest.fixture(params=NATIVE)
def pair(spark: SparkSession, db: str, request: pytest.FixtureRequest) -> str:
    """a and b of 4 buckets, written by us; the name of their group."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.colocate.strays.maxShare", "1.0")
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, str(request.param))
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])
    return f"{db}.g"


def expected(spark: SparkSession) -> Rows:
    with switched_off(spark):
        spark.sql("SET spark.sql.sources.bucketing.enabled = false")
        rows = multiset(spark.sql(JOIN).collect())
        spark.sql("SET spark.sql.sources.bucketing.enabled = true")
    return rows


def test_files_that_we_write_are_in_the_manifest(spark: SparkSession, pair: str) -> None:
    assert known(spark, "a") == {file.name: False for file in files(spark, "a")}
    spark.sql("INSERT OVERWRITE a SELECT cast(id AS INT), id FROM range(9)")
    assert known(spark, "a") == {file.name: False for file in files(spark, "a")}
    properties = f"CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = '{pair.split('.')[1]}')"
    spark.sql(f"CREATE TABLE c USING parquet {properties} AS SELECT k, v FROM a")
    assert known(spark, "c") == {file.name: False for file in files(spark, "c")}
    parts = list((folder(spark, "c") / "_colocate").glob("manifest-*"))
    assert run(spark, "SELECT a.v, c.v FROM a JOIN c ON a.k = c.k").colocated
    assert list((folder(spark, "c") / "_colocate").glob("manifest-*")) == parts


def test_files_in_partitions_are_in_the_manifest(spark: SparkSession, db: str) -> None:
    create_member(spark, "p", "k INT, v BIGINT, s STRING", ["k"], 4, "parquet", partitioned=["s"])
    fill(spark, "p", "SELECT cast(id AS INT), id, concat('x y/', id % 2) FROM range(20)", ["k", "v", "s"])
    spark.sql("INSERT OVERWRITE p PARTITION (s = 'static') SELECT cast(id AS INT), id FROM range(8)")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    spark.sql("INSERT OVERWRITE p SELECT cast(id AS INT), id, 'static' FROM range(5)")
    root = folder(spark, "p")
    assert {str(file.relative_to(root)) for file in files(spark, "p")} <= set(known(spark, "p"))


def test_other_files_are_checked_once_and_then_known(spark: SparkSession, pair: str) -> None:
    forget(spark, "a")
    pairs = compare(spark, JOIN, pair)
    assert pairs.on.colocated
    assert known(spark, "a") == {file.name: False for file in files(spark, "a")}
    parts = list((folder(spark, "a") / "_colocate").glob("manifest-*"))
    assert run(spark, JOIN).rows == pairs.on.rows
    assert list((folder(spark, "a") / "_colocate").glob("manifest-*")) == parts


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_renamed_file_fails_the_query_once(spark: SparkSession, pair: str, adaptive: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    rows = expected(spark)
    wrong = rename(bucket_file(spark, "a", 3), 1)
    spark.sql("REFRESH TABLE a")
    with pytest.raises(PySparkException, match=r"claims bucket 1, but holds a row of bucket 3") as error:
        spark.sql(JOIN).collect()
    assert wrong.name in str(error.value)
    assert known(spark, "a")[wrong.name]
    again = run(spark, JOIN)
    assert (again.rows, again.exchanges, again.colocated) == (rows, 0, True)
    assert "1 stray shuffled" in spark.sql(f"EXPLAIN {JOIN}").collect()[0][0]
    listed = spark.sql(f"SELECT strays FROM system.colocation_tables WHERE `table` = 'a' AND `group` = '{pair}'")
    assert listed.collect()[0].strays == 1
    with switched_off(spark):
        assert run(spark, JOIN).rows == rows


EARLY = {
    "limit": "SELECT a.k FROM a LEFT ANTI JOIN b ON a.k = b.k LIMIT 1",
    "an empty other side": "SELECT a.k, b.v FROM (SELECT * FROM a WHERE v < 0) a JOIN b ON a.k = b.k",
    "a pruned bucket": "SELECT * FROM b WHERE k = {key}",
}


@pytest.mark.each_value
@pytest.mark.parametrize("case", EARLY)
def test_a_wrong_file_is_found_where_reading_would_stop_early(spark: SparkSession, pair: str, case: str) -> None:
    file = bucket_file(spark, "b", 3)
    key = spark.sql("SELECT k FROM b WHERE pmod(hash(k), 4) = 3").collect()[0][0]
    rename(file, 0)
    spark.sql("REFRESH TABLE b")
    sql = EARLY[case].format(key=key)
    with pytest.raises(PySparkException, match="holds a row of bucket 3"):
        spark.sql(sql).collect()
    with switched_off(spark):
        off = run(spark, sql)
    assert run(spark, sql).rows == off.rows


def test_a_file_replaced_under_its_name_is_checked_again(spark: SparkSession, pair: str) -> None:
    target, source = bucket_file(spark, "a", 1), bucket_file(spark, "a", 2)
    shutil.copyfile(source, target)
    target.with_name(f".{target.name}.crc").unlink(missing_ok=True)
    spark.sql("REFRESH TABLE a")
    with pytest.raises(PySparkException, match="claims bucket 1, but holds a row of bucket 2"):
        spark.sql(JOIN).collect()
    assert run(spark, JOIN).rows == expected(spark)


def test_a_foreign_file_with_a_name_of_ours_is_found(spark: SparkSession, pair: str) -> None:
    drop_in(spark, "a", FOREIGN.format(bucket=1), KEYS)
    with pytest.raises(PySparkException, match="claims bucket 1"):
        spark.sql(JOIN).collect()
    assert run(spark, JOIN).rows == expected(spark)


def test_one_wrong_row_at_the_end_is_found(spark: SparkSession, pair: str) -> None:
    """Behind more rows than a batch holds."""
    placed = "SELECT k FROM (SELECT cast(id AS INT) AS k FROM range({rows})) WHERE pmod(hash(k), 4) = {bucket}"
    right = [row[0] for row in spark.sql(placed.format(rows=30000, bucket=1)).collect()]
    wrong = spark.sql(placed.format(rows=100, bucket=2)).collect()[0][0]
    assert len(right) > 4096
    keys = pa.array([*right, wrong], pa.int32())
    drop_in(spark, "a", FOREIGN.format(bucket=1), {"k": keys, "v": pa.array(range(len(keys)), pa.int64())})
    with pytest.raises(PySparkException, match="claims bucket 1, but holds a row of bucket 2"):
        spark.sql(JOIN).collect()


@pytest.mark.each_value
@pytest.mark.parametrize("vectorized", ["true", "false"])
@pytest.mark.parametrize("provider", rest_slow(NATIVE, "parquet"))
def test_keys_of_all_types_are_checked(spark: SparkSession, db: str, provider: str, vectorized: str) -> None:
    spark.conf.set(f"spark.sql.{provider}.enableVectorizedReader", vectorized)
    spark.conf.set("spark.sql.orc.impl", "native")
    columns = "p INT, s STRING, d DECIMAL(20,2), t TIMESTAMP, b BINARY, v BIGINT, l DECIMAL(9,1)"
    create_member(spark, "w", columns, ["l", "t", "s", "d", "b"], 4, provider, partitioned=["p"])
    row = "nullif(concat('s', id), 's3'), id / 7, timestamp_seconds(id), cast(concat('b', id) AS BINARY)"
    fill(spark, "w", f"SELECT {row}, id, id / 3, id % 2 FROM range(60)", ["s", "d", "t", "b", "v", "l", "p"])
    forget(spark, "w")
    query = "SELECT l, t, s, d, b, count(*) FROM w GROUP BY l, t, s, d, b"
    assert compare(spark, query, f"{db}.g").on.colocated
    assert set(known(spark, "w").values()) == {False}
    file = bucket_file(spark, "w", 3)
    rename(file, 1)
    spark.sql("REFRESH TABLE w")
    with pytest.raises(PySparkException, match="claims bucket 1, but holds a row of bucket 3"):
        spark.sql(query).collect()


@pytest.mark.each_value
@pytest.mark.parametrize("nulls", [0, 3])
@pytest.mark.parametrize("provider", rest_slow(NATIVE, "parquet"))
def test_keys_of_words_are_checked_batch_by_batch(spark: SparkSession, db: str, provider: str, nulls: int) -> None:
    """Batches with a null and without; the last one is shorter than those before."""
    spark.conf.set("spark.sql.parquet.columnarReaderBatchSize", "7")
    spark.conf.set("spark.sql.orc.columnarReaderBatchSize", "7")
    create_member(spark, "w", "i INT, l BIGINT, d DATE, t TIMESTAMP, v BIGINT", ["t", "i", "d", "l"], 4, provider)
    i, day = f"if(id % 60 < {nulls}, NULL, cast(id AS INT))", "date_add(DATE '2020-01-01', cast(id AS INT))"
    fill(spark, "w", f"SELECT {i}, id * 3, {day}, timestamp_seconds(id), id FROM range(200)", ["i", "l", "d", "t", "v"])
    forget(spark, "w")
    query = "SELECT t, i, d, l, count(*) FROM w GROUP BY t, i, d, l"
    assert compare(spark, query, f"{db}.g").on.colocated
    assert set(known(spark, "w").values()) == {False}
    rename(bucket_file(spark, "w", 3), 1)
    spark.sql("REFRESH TABLE w")
    with pytest.raises(PySparkException, match="claims bucket 1, but holds a row of bucket 3"):
        spark.sql(query).collect()


HASHES = st.one_of(st.sampled_from([-(2**31), -1, 0, 1, 2**31 - 1]), st.integers(-(2**31), 2**31 - 1))
COUNTS = st.one_of(st.sampled_from([1, 2, 3, 2**30, 2**31 - 1]), st.integers(1, 64), st.integers(1, 2**31 - 1))


@given(hashed=HASHES, buckets=COUNTS, other=st.integers(1, 1000))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_bucket_of_a_hash_is_told_without_a_division(
    spark: SparkSession, hashed: int, buckets: int, other: int
) -> None:
    one_bucket = spark._jvm.org.apache.spark.sql.colocate.evidence.verify.BucketMatcher  # type: ignore[union-attr]
    own = hashed % buckets
    assert one_bucket(own, buckets).contains(hashed)
    assert one_bucket((own + other) % buckets, buckets).contains(hashed) == (other % buckets == 0)


def test_trust_in_names_is_stock_spark_and_said(spark: SparkSession, pair: str) -> None:
    rename(bucket_file(spark, "a", 3), 1)
    spark.sql("REFRESH TABLE a")
    spark.conf.set("spark.colocate.verify.onRead", "never")
    assert "file names trusted" in spark.sql(f"EXPLAIN {JOIN}").collect()[0][0]
    assert run(spark, JOIN).rows != expected(spark)


def _half_written(folder: Path) -> None:
    for part in folder.glob("manifest-*.json"):
        part.write_text(part.read_text()[:-20])


def _garbage(folder: Path) -> None:
    for part in folder.glob("manifest-*.json"):
        part.write_bytes(b"\x00\x01 no json")


def _drafts_only(folder: Path) -> None:
    for part in folder.glob("manifest-*.json"):
        part.rename(folder / f".draft-{part.name}")


def _other_layout(folder: Path) -> None:
    for part in folder.glob("manifest-*.json"):
        part.write_text(part.read_text().replace('"buckets":4', '"buckets":2', 1))


@pytest.mark.each_value
@pytest.mark.parametrize("damage", [_half_written, _garbage, _drafts_only, _other_layout])
def test_a_damaged_manifest_only_costs_another_check(
    spark: SparkSession, pair: str, damage: Callable[[Path], None]
) -> None:
    """As a crash between a commit and its note, or while it was written, leaves it."""
    rows = expected(spark)
    store = folder(spark, "a") / "_colocate"
    damage(store)
    for part in store.glob("manifest-*.json"):  # a name that this driver has not read yet
        part.rename(part.with_name(f"manifest-{uuid.uuid4()}.json"))
    for checksum in store.glob(".*.crc"):
        checksum.unlink()
    rename(bucket_file(spark, "a", 3), 1)
    spark.sql("REFRESH TABLE a")
    with pytest.raises(PySparkException, match="claims bucket 1"):
        spark.sql(JOIN).collect()
    assert run(spark, JOIN).rows == rows


def test_many_notes_become_one(spark: SparkSession, db: str) -> None:
    create_member(spark, "many", "k INT", ["k"], 2, "parquet")
    for number in range(53):
        spark.sql(f"INSERT INTO many VALUES ({number})")
    parts = list((folder(spark, "many") / "_colocate").glob("manifest-*.json"))
    assert len(parts) < 10
    assert known(spark, "many") == {file.name: False for file in files(spark, "many")}


@pytest.mark.parametrize("trials", [8, pytest.param(200, marks=pytest.mark.slow)])
def test_a_misnamed_file_is_found_in_every_trial(spark: SparkSession, pair: str, trials: int) -> None:
    rng = random.Random(4)
    fresh = sorted(files(spark, "a"))
    for trial in range(trials):
        file = rng.choice(fresh)
        os.utime(file, (trial, trial))  # another file than in an earlier trial, which may have made it a known stray
        bucket = int(file.name.split("_")[-1][:5])
        other = rng.choice([b for b in range(4) if b != bucket])
        wrong = rename(file, other)
        spark.sql("REFRESH TABLE a")
        with pytest.raises(PySparkException, match=f"claims bucket {other}, but holds a row of bucket {bucket}"):
            spark.sql(TRIED[trial % len(TRIED)]).collect()
        wrong.rename(file)
        spark.sql("REFRESH TABLE a")


def _two_members(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4)
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("value", ["null", '"4"', '"-1"'])
def test_a_delta_file_without_a_bucket_is_not_passed_over(
    spark: SparkSession, db: str, value: str, adaptive: str
) -> None:
    """No writer of Delta makes one; a task that took it for one of its own, or for nobody's, would lose rows."""
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    _two_members(spark)
    say_of_bucket_3(spark, "a", value)
    for query in (JOIN, "SELECT k, count(*) FROM a GROUP BY k", "MERGE INTO a USING b ON a.k = b.k AND a.v = b.v "
                  "WHEN MATCHED THEN UPDATE SET v = b.v + 1"):  # fmt: skip
        with pytest.raises(PySparkException, match="names none of the 4 buckets"):
            spark.sql(query).collect()
    with switched_off(spark):
        assert spark.sql(JOIN).count() == spark.sql("SELECT * FROM b x JOIN b y ON x.k = y.k").count()


def test_all_checks_a_delta_file_whose_partition_value_lies(spark: SparkSession, db: str) -> None:
    _two_members(spark)
    spark.conf.set("spark.colocate.verify.onRead", "always")
    assert run(spark, JOIN).colocated
    say_of_bucket_3(spark, "a", '"1"')
    with pytest.raises(PySparkException, match="claims bucket 1, but holds a row of bucket 3"):
        spark.sql(JOIN).collect()
    spark.conf.set("spark.colocate.verify.onRead", "new")
    with switched_off(spark):
        assert run(spark, JOIN).rows


@pytest.mark.parametrize("provider", rest_slow(["delta", *NATIVE], "delta", "orc"))
def test_all_checks_nothing_where_no_file_is_read(spark: SparkSession, db: str, provider: str) -> None:
    _two_members(spark)
    create_member(spark, "empty", "k INT, v BIGINT", ["k"], 4, provider)
    spark.conf.set("spark.colocate.verify.onRead", "always")
    left = compare(spark, "SELECT a.k, a.v, e.v FROM a LEFT JOIN empty e ON a.k = e.k")
    assert left.on.colocated
    assert left.on.rows
    fill(spark, "empty", "SELECT cast(id AS INT), id FROM range(9)", ["k", "v"])
    skipped = "SELECT a.k, a.v, e.v FROM a LEFT JOIN empty e ON a.k = e.k AND e.v > 1000"
    assert compare(spark, skipped).on.rows


@pytest.mark.each_value
@pytest.mark.parametrize("without", ["", "SpreadJoins"])
def test_unknown_files_that_may_be_cut_short_are_strays_from_the_start(
    spark: SparkSession, pair: str, without: str
) -> None:
    forget(spark, "a")
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    spark.conf.set("spark.colocate.rules.excluded", without)
    spark.conf.set("spark.colocate.skew.targetTaskBytes", "1")
    assert compare(spark, JOIN, pair).on.rows
    assert "4 of 4 files" in spark.sql(f"EXPLAIN FORMATTED {JOIN}").collect()[0][0]
