"""The check by the tasks that read the rows: below an Exchange, and nowhere else."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tests.spark.members import create_member, fill, folder, switched_off
from tests.spark.native import files
from tests.spark.oracle import compare, run
from tests.spark.plans import kind, kinds, nodes
from tests.spark.strays import FOREIGN, bucket_file, drop_in, forget, known, rename, say_of_bucket_3
from tests.tiers.params import rest_slow
from tools.stages import last_stage, stages_since

INTERPRETED = True

JOIN = "SELECT count(*), sum(a.v), sum(b.v) FROM a JOIN b ON a.k = b.k"
WRONG = "claims bucket 1, but holds a row of bucket 3"

# Each has an Exchange above b's scan that the layout can't save.
BELOW_AN_EXCHANGE = {
    "join": JOIN,
    "join of sorted rows": f"{JOIN.replace('SELECT', 'SELECT /*+ MERGE(a, b) */')}",
    "broadcast": "SELECT /*+ BROADCAST(t) */ count(*) FROM (SELECT sum(v) s FROM b GROUP BY k) b JOIN t ON b.s = t.v",
    "the rest of b is not asked for": "SELECT /*+ MERGE(f, b) */ count(*), sum(b.v) FROM f JOIN b ON f.k = b.k",
    "no row of the other side": "SELECT count(*), sum(b.v) FROM a JOIN b ON a.k = b.k AND a.v < 0",
    "left anti": "SELECT count(*), sum(a.k) FROM a LEFT ANTI JOIN b ON a.k = b.k",
    "right": "SELECT count(*), sum(a.v) FROM a RIGHT JOIN b ON a.k = b.k",
    "full outer": "SELECT count(*), sum(a.v), sum(b.v) FROM a FULL JOIN b ON a.k = b.k",
    "aggregate": "SELECT count(*), sum(s) FROM (SELECT k, sum(v) AS s FROM b GROUP BY k)",
    "window": "SELECT count(*), sum(r) FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY v) AS r FROM b)",
    "top of each": "SELECT count(*) FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY v) AS r FROM b) WHERE r = 1",
    "grouping sets": "SELECT count(*) FROM (SELECT k, v, count(*) FROM b GROUP BY GROUPING SETS ((k), (k, v)))",
    "distinct": "SELECT count(*), count(DISTINCT s) FROM (SELECT DISTINCT k, v % 3 AS s FROM b)",
    "sorted after": "SELECT * FROM (SELECT k, sum(v) AS s FROM b GROUP BY k) ORDER BY s",
    "repartitioned": "SELECT /*+ REPARTITION(3) */ k, count(*) FROM b GROUP BY k",
}


@pytest.fixture(params=["delta", "parquet", "orc"])
def pair(spark: SparkSession, db: str, request: pytest.FixtureRequest) -> str:
    _tables(spark, str(request.param))
    return str(request.param)


def _tables(spark: SparkSession, provider: str) -> None:
    """a, b and f (one low key of each bucket) of 4 buckets; t without a layout. Each read of a member is checked."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, provider)
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(40)", ["k", "v"])
    create_member(spark, "f", "k INT, v BIGINT", ["k"], 4, provider)
    fill(spark, "f", "SELECT min(k), 1 FROM b GROUP BY pmod(hash(k), 4)", ["k", "v"])
    spark.sql(f"CREATE TABLE t USING {provider} AS SELECT sum(v) AS v FROM b GROUP BY k")
    spark.conf.set("spark.colocate.verify.onRead", "always")


def in_tasks(spark: SparkSession, sql: str) -> bool:
    return "FinishChecksExec" in kinds(spark.sql(sql))


class WrongFile:
    """In the block, b's file of bucket 3 claims bucket 1. Another file each time, so that none is a known stray.

    Delta's log, which lists the files, stays as it was written.
    """

    made = 0

    def __init__(self, spark: SparkSession, provider: str) -> None:
        self._spark, self._in_log = spark, provider == "delta"

    def __enter__(self) -> Path:
        if self._in_log:
            say_of_bucket_3(self._spark, "b", '"1"')
            return folder(self._spark, "b")
        self._right = bucket_file(self._spark, "b", 3)
        WrongFile.made += 1
        os.utime(self._right, (WrongFile.made, WrongFile.made))
        self._wrong = rename(self._right, 1)
        self._spark.sql("REFRESH TABLE b")
        return self._wrong

    def __exit__(self, *_: object) -> None:
        if not self._in_log:
            self._wrong.rename(self._right)
            self._spark.sql("REFRESH TABLE b")


@pytest.mark.parametrize(
    ("pair", "adaptive"),
    [("delta", "true"), ("parquet", "false"), pytest.param("orc", "true", marks=pytest.mark.slow)],
    indirect=["pair"],
)
def test_rows_below_an_exchange_are_checked_as_they_are_read(spark: SparkSession, pair: str, adaptive: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    for case, sql in BELOW_AN_EXCHANGE.items():
        assert in_tasks(spark, sql), case
        assert compare(spark, sql).on.rows, case
    spark.conf.set("spark.sql.adaptive.enabled", "false")  # AQE drops stages that it finds are not needed
    assert _stages_of(spark, JOIN) == _stages_of(spark, JOIN, "new")


def _stages_of(spark: SparkSession, sql: str, verify: str = "always") -> int:
    """Stages that run for a query; a check of its own would be more. Delta's look at its log is left out."""
    before = last_stage(spark)
    spark.conf.set("spark.colocate.verify.onRead", verify)
    spark.sql(sql).collect()
    spark.conf.set("spark.colocate.verify.onRead", "always")
    return sum(not (_skipped(stage) or _of_delta(stage)) for stage in stages_since(spark, before))


def _skipped(stage: Any) -> bool:
    return str(stage.status()) == "SKIPPED"


def _of_delta(stage: Any) -> bool:
    return str(stage.description()).startswith("Some(Delta:")


@pytest.mark.parametrize(
    ("pair", "vectorized"),
    [("parquet", "false"), ("orc", "true"), pytest.param("parquet", "true", marks=pytest.mark.slow)],
    indirect=["pair"],
)
def test_a_wrong_row_fails_the_query_and_is_told_plainly(spark: SparkSession, pair: str, vectorized: str) -> None:
    for provider in ("parquet", "orc"):
        spark.conf.set(f"spark.sql.{provider}.enableVectorizedReader", vectorized)
        spark.conf.set(f"spark.sql.{provider}.columnarReaderBatchSize", "2")  # so that there is a rest to read
    for case, sql in BELOW_AN_EXCHANGE.items():
        with switched_off(spark):
            rows = run(spark, sql).rows
        with WrongFile(spark, pair):
            with pytest.raises(PySparkException, match=WRONG) as error:
                spark.sql(sql).collect()
            assert str(error.value).startswith("Cannot read"), (case, str(error.value))
            assert error.value.getCondition() == "INVALID_BUCKET_FILE"
            assert "Cannot read" in error.value.getMessage()
            assert run(spark, sql).rows == rows, case


def test_every_query_of_a_wrong_delta_table_fails(spark: SparkSession, db: str) -> None:
    _tables(spark, "delta")
    with WrongFile(spark, "delta"):
        for case, sql in BELOW_AN_EXCHANGE.items():
            assert run(spark, sql).error == "INVALID_BUCKET_FILE", case


ELSEWHERE = {
    "the result itself": "SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k",
    "limit": "SELECT count(*) FROM (SELECT a.k FROM a LEFT ANTI JOIN b ON a.k = b.k LIMIT 3)",
    "one bucket": "SELECT count(*) FROM b WHERE k = 3",
    "a union": "SELECT count(*) FROM (SELECT k FROM b GROUP BY k UNION ALL SELECT k FROM a GROUP BY k)",
}


@pytest.mark.each_value
@pytest.mark.parametrize("case", ELSEWHERE)
@pytest.mark.every(3)
def test_elsewhere_the_check_comes_first(spark: SparkSession, pair: str, case: str) -> None:
    assert not in_tasks(spark, ELSEWHERE[case])
    with WrongFile(spark, pair), pytest.raises(PySparkException, match=WRONG):
        spark.sql(ELSEWHERE[case]).collect()


@pytest.mark.parametrize("pair", ["parquet"], indirect=True)
def test_rows_for_python_are_checked_first(spark: SparkSession, pair: str) -> None:
    def counted() -> DataFrame:
        first = spark.table("b").groupBy("k").applyInPandas(lambda rows: rows.head(1), "k INT, v BIGINT")
        return first.groupBy().count()

    assert "FinishChecksExec" not in kinds(counted())
    with WrongFile(spark, pair), pytest.raises(PySparkException, match=WRONG):
        counted().collect()


def test_nothing_is_checked_that_is_known(spark: SparkSession, pair: str) -> None:
    spark.conf.set("spark.colocate.verify.onRead", "new")
    assert not in_tasks(spark, JOIN)
    spark.conf.set("spark.colocate.verify.onRead", "never")
    assert not in_tasks(spark, JOIN)


@pytest.mark.parametrize("pair", rest_slow(["parquet", "orc"], "parquet"), indirect=True)
def test_a_first_read_makes_files_known(spark: SparkSession, pair: str) -> None:
    spark.conf.set("spark.colocate.verify.onRead", "new")
    rows = run(spark, JOIN).rows
    for file in files(spark, "b"):
        os.utime(file, (7, 7))
    forget(spark, "b")
    assert in_tasks(spark, JOIN)
    assert not in_tasks(spark, JOIN)
    assert run(spark, JOIN).rows == rows
    assert known(spark, "b") == {file.name: False for file in files(spark, "b")}


@pytest.mark.parametrize("pair", rest_slow(["parquet", "orc"], "parquet"), indirect=True)
def test_a_stray_that_a_task_finds_is_kept(spark: SparkSession, pair: str) -> None:
    spark.conf.set("spark.colocate.verify.onRead", "new")
    with WrongFile(spark, pair) as wrong:
        assert run(spark, JOIN).error == "INVALID_BUCKET_FILE"
        assert "1 stray shuffled" in spark.sql(f"EXPLAIN {JOIN}").collect()[0][0]
        assert known(spark, "b")[wrong.name]


@pytest.mark.parametrize("pair", ["parquet"], indirect=True)
def test_a_table_that_is_dropped_after_its_check_stays_away(spark: SparkSession, pair: str) -> None:
    root = folder(spark, "b")
    for _ in range(5):
        rename(bucket_file(spark, "b", 3), 1)
        spark.sql("REFRESH TABLE b")
        assert run(spark, JOIN).error == "INVALID_BUCKET_FILE"
        spark.sql("INSERT OVERWRITE b SELECT cast(id % 13 AS INT), id FROM range(40)")
        assert known(spark, "b") == {file.name: False for file in files(spark, "b")}
    rename(bucket_file(spark, "b", 3), 1)
    spark.sql("REFRESH TABLE b")
    assert run(spark, JOIN).error == "INVALID_BUCKET_FILE"
    spark.sql("DROP TABLE b")
    assert not root.exists()


@pytest.mark.parametrize("pair", rest_slow(["parquet", "orc"], "parquet"), indirect=True)
def test_a_filter_that_is_pushed_makes_no_file_known(spark: SparkSession, pair: str) -> None:
    """Rows that it passes over may be of any bucket: they are read on their own, or the file stays unknown."""
    filtered = f"{JOIN} WHERE b.v > 1000000"
    with WrongFile(spark, pair) as wrong:
        assert in_tasks(spark, filtered)
        assert wrong.name not in known(spark, "b")
        spark.conf.set("spark.colocate.verify.onRead", "new")
        assert run(spark, JOIN).error == "INVALID_BUCKET_FILE"
    with WrongFile(spark, pair):
        assert run(spark, filtered).error == "INVALID_BUCKET_FILE"


@pytest.mark.parametrize("pair", ["parquet"], indirect=True)
def test_a_null_key_in_a_wrong_bucket_is_found_behind_a_filter_that_leaves_it_away(
    spark: SparkSession, pair: str
) -> None:
    """An inner join asks for no null; an aggregate after it does, of a file that counts as known by then."""
    home = spark.sql("SELECT pmod(hash(cast(NULL AS INT)), 4)").collect()[0][0]
    other = next(bucket for bucket in range(4) if bucket != home)
    nulls = {"k": pa.array([None] * 9, pa.int32()), "v": pa.array(range(9), pa.int64())}
    spark.conf.set("spark.colocate.verify.onRead", "new")
    drop_in(spark, "b", FOREIGN.format(bucket=other), nulls)
    assert run(spark, JOIN).error == "INVALID_BUCKET_FILE"
    assert compare(spark, "SELECT k, count(*) FROM b GROUP BY k").on.rows


@pytest.mark.parametrize("pair", ["delta", "parquet"], indirect=True)
def test_a_task_that_ends_before_all_is_checked_fails(spark: SparkSession, pair: str) -> None:
    """No part of Spark ends one so; if some does one day, no row may come of it."""
    df = spark.sql(
        "SELECT /*+ REPARTITION(3) */ k, v FROM (SELECT /*+ MERGE(a, b) */ a.k, b.v FROM a JOIN b ON a.k = b.k)"
    )
    (last,) = [node for node in nodes(df) if kind(node) == "FinishChecksExec"]
    with pytest.raises(Py4JJavaError, match="A task ended before the rows that it reads by bucket were checked"):
        last.child().execute().toJavaRDD().take(1)
