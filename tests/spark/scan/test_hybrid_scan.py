"""Strays of a native member cost a shuffle of their rows alone (design D7), and never a row."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.spark.members import NATIVE, create_member, fill, unstable
from tests.spark.oracle import assert_no_exchange, compare, multiset, run
from tests.spark.plans import Executions
from tests.spark.strays import UUID, drop_in
from tests.spark.versions import UNIONS_KEEP_PARTITIONING
from tests.tiers.params import marked, rest_slow

COLUMNS = "k INT, s STRING, v BIGINT"
NAMES = ("data_1.{ext}", "000003_0", f"part-00000-{UUID}.c000.{{ext}}", f"part-00000-{UUID}_00099.c000.{{ext}}")
NO_LIMIT = {"spark.colocate.strays.maxShare": "1.0", "spark.sql.autoBroadcastJoinThreshold": "-1"}

SERVED = {
    "inner": "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k",
    "left": "SELECT t.k, t.v, u.v FROM t LEFT JOIN u ON t.k = u.k AND u.v > 20",
    "right": "SELECT t.v, u.k, u.v FROM t RIGHT JOIN u ON t.k = u.k",
    "full": "SELECT t.k, t.v, u.k, u.v FROM t FULL JOIN u ON t.k = u.k AND t.v < u.v",
    "semi": "SELECT * FROM t LEFT SEMI JOIN u ON t.k = u.k AND t.v <> u.v",
    "anti": "SELECT * FROM t LEFT ANTI JOIN u ON t.k = u.k",
    "null safe": "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k <=> u.k",
    "superset": "SELECT t.k, t.v FROM t JOIN u ON t.k = u.k AND t.s = u.s",
    "self": "SELECT a.v, b.v FROM t a JOIN t b ON a.k = b.k",
    "three": "SELECT t.v, u.v, d.v FROM t JOIN u ON t.k = u.k JOIN d ON u.k = d.k",
    "aggregate": "SELECT k, count(*), sum(v), max(s) FROM t GROUP BY k",
    "distinct": "SELECT DISTINCT k, s FROM t",
    "count distinct": "SELECT k, count(DISTINCT s) FROM t GROUP BY k",
    "join, then aggregate": "SELECT t.k, sum(u.v) FROM t JOIN u ON t.k = u.k GROUP BY t.k",
    "window": "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v, s) FROM t",
    "union": "SELECT k, count(*) FROM (SELECT k FROM t UNION ALL SELECT k FROM u) GROUP BY k",
    "except": "SELECT k FROM t EXCEPT SELECT k FROM u WHERE v BETWEEN 30 AND 40",
    "some keys": "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k WHERE t.k IN (3, 5, 30)",
    "filtered": "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k WHERE t.v > 900 AND u.s LIKE '%1'",
    "file names": "SELECT t.k, t._metadata.file_name, u.v FROM t JOIN u ON t.k = u.k",
}


@pytest.fixture(scope="module", params=NATIVE)
def tables(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """t and u of 4 buckets, e of 8, all with strays; d, a Delta member without. Null keys, keys on one side only."""
    spark.sql("CREATE DATABASE hybrid")
    spark.sql("USE hybrid")
    for name, buckets, rows in (("t", 4, 80), ("u", 4, 60), ("e", 8, 50), ("d", 4, 40)):
        provider, group = "delta" if name == "d" else request.param, "g8" if name == "e" else "g"
        create_member(spark, name, COLUMNS, ["k"], buckets, provider, group)
        query = f"SELECT nullif(cast(id % 31 AS INT), 7), concat('s', id % 3), id FROM range({rows})"
        fill(spark, name, query, ["k", "s", "v"])
    for table, names in (("t", NAMES), ("u", NAMES[:2]), ("e", NAMES[2:])):
        for number, file in enumerate(names):
            drop_in(spark, table, file, _rows(1000 * (number + 1)))
    spark.sql("USE default")
    yield str(request.param)
    spark.sql("DROP DATABASE hybrid CASCADE")


def _rows(start: int) -> dict[str, pa.Array]:
    """Rows of every bucket, some of keys that only strays have, one of the null key."""
    keys = [None, *range(24, 36)]
    return {
        "k": pa.array(keys, pa.int32()),
        "s": pa.array([f"s{n % 3}" for n in range(len(keys))]),
        "v": pa.array(range(start, start + len(keys)), pa.int64()),
    }


@pytest.fixture
def hybrid(spark: SparkSession, tables: str) -> Iterator[SparkSession]:
    spark.sql("USE hybrid")
    for key, value in NO_LIMIT.items():
        spark.conf.set(key, value)
    yield spark
    spark.sql("USE default")


@pytest.mark.each_value
@pytest.mark.parametrize("case", marked(SERVED, {"union": UNIONS_KEEP_PARTITIONING}))
@pytest.mark.every(3)
def test_a_member_with_strays_is_read_by_bucket(hybrid: SparkSession, case: str) -> None:
    pair = assert_no_exchange(hybrid, SERVED[case], "hybrid.g")
    assert pair.on.rows is not None
    hybrid.conf.set("spark.sql.adaptive.enabled", "false")
    hybrid.conf.set("spark.sql.codegen.wholeStage", "false")
    plain = run(hybrid, SERVED[case])
    assert plain.rows == pair.on.rows
    assert plain.exchanges == 0


def test_members_of_other_bucket_counts_meet_with_their_strays(hybrid: SparkSession) -> None:
    sql = "SELECT t.k, t.v, e.v FROM t FULL JOIN e ON t.k = e.k"
    on = run(hybrid, sql)
    with unstable(hybrid, "hybrid.g"), unstable(hybrid, "hybrid.g8"):
        off = run(hybrid, sql)
    assert on.rows == off.rows
    assert (on.exchanges, off.exchanges) == (0, 2)


def test_row_readers_give_the_same_rows(hybrid: SparkSession, tables: str) -> None:
    batched = run(hybrid, SERVED["inner"])
    hybrid.conf.set(f"spark.sql.{tables}.enableVectorizedReader", "false")
    rows = run(hybrid, SERVED["inner"])
    assert rows.rows == batched.rows
    assert rows.colocated
    assert rows.exchanges == 0


def test_explain_counts_and_names_the_strays(hybrid: SparkSession) -> None:
    text = hybrid.sql(f"EXPLAIN FORMATTED {SERVED['inner']}").collect()[0][0]
    assert "colocate: true (group hybrid.g, 4 buckets, 6 strays shuffled)" in text
    assert "Strays: 4 of " in text
    assert "data_1" in text


def test_above_the_share_the_table_falls_back_with_the_reason(hybrid: SparkSession) -> None:
    hybrid.conf.set("spark.colocate.strays.maxShare", "0.05")
    pair = compare(hybrid, SERVED["inner"], "hybrid.g")
    assert not pair.on.colocated
    text = hybrid.sql(f"EXPLAIN {SERVED['inner']}").collect()[0][0]
    assert "[STRAY]" in text
    assert "% of the bytes of hybrid.t are in files whose bucket is not known" in text


def test_a_scan_that_needs_no_layout_is_ordinary_and_whole(hybrid: SparkSession) -> None:
    """Spark's own pruning by bucket must not believe a stray's name either."""
    for where in ("", "WHERE k = 30", "WHERE k = 30 OR k = 26", "WHERE k IN (24, 30, 35) AND v > 5"):
        pair = compare(hybrid, f"SELECT * FROM t {where}", "hybrid.g")
        assert pair.on.rows
        assert pair.on.exchanges == 0


def test_input_file_name_is_told_for_rows_of_strays(hybrid: SparkSession) -> None:
    sql = (
        "SELECT f.file, u.v FROM (SELECT k, regexp_extract(input_file_name(), '[^/]+$', 0) AS file FROM t) f "
        "JOIN u ON f.k = u.k"
    )
    pair = compare(hybrid, sql, "hybrid.g")
    assert pair.on.rows
    assert not any(row[0] == "" for row in pair.on.rows)


def test_a_member_joined_to_a_plain_table_shuffles_the_other_side_and_the_strays(hybrid: SparkSession) -> None:
    plain = "(SELECT cast(id AS INT) AS k, id AS w FROM range(40)) plain"
    pair = compare(hybrid, f"SELECT t.v, w FROM t JOIN {plain} ON t.k = plain.k", "hybrid.g")
    assert pair.on.colocated
    assert pair.on.exchanges == 1
    assert pair.off.exchanges == 2


def test_adaptive_execution_does_not_take_the_strays_for_the_table(hybrid: SparkSession) -> None:
    """An Exchange of the strays in the plan would be its only statistic: a few rows, so broadcast."""
    hybrid.conf.set("spark.sql.adaptive.autoBroadcastJoinThreshold", "2000")
    outcome = run(hybrid, "SELECT t.v, u.v FROM t JOIN u ON t.k = u.k")
    assert not any("Broadcast" in kind for kind in outcome.kinds)
    assert outcome.exchanges == 0


def test_a_cached_member_with_strays_keeps_its_rows(hybrid: SparkSession) -> None:
    expected = run(hybrid, SERVED["inner"])
    hybrid.sql("CACHE TABLE t")
    cached = run(hybrid, SERVED["inner"])
    hybrid.sql("UNCACHE TABLE t")
    assert cached.rows == expected.rows


@pytest.mark.parametrize("provider", rest_slow(NATIVE, "orc"))
def test_strays_in_partitions_with_static_and_dynamic_pruning(spark: SparkSession, db: str, provider: str) -> None:
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT, p INT", ["k"], 4, provider, partitioned=["p"])
        fill(spark, name, "SELECT cast(id % 13 AS INT), id, cast(id % 3 AS INT) FROM range(60)", ["k", "v", "p"])
    rows = {"k": pa.array(range(13), pa.int32()), "v": pa.array(range(500, 513), pa.int64())}
    drop_in(spark, "a", "data_2.{ext}", rows, "p=1")
    drop_in(spark, "a", "x.{ext}", rows, "p=2")
    spark.range(3).selectExpr("cast(id AS INT) AS p", "id AS w").write.saveAsTable("days")
    spark.conf.set("spark.colocate.strays.maxShare", "1.0")
    joined = "SELECT a.k, a.v, a.p, b.v FROM a JOIN b ON a.k = b.k"
    for adaptive in ("true", "false"):
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        for where in ("", " WHERE a.p = 1", " WHERE a.p = 0 AND b.p > 0"):
            assert_no_exchange(spark, joined + where, f"{db}.g")
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10000")
        dynamic = "SELECT /*+ MERGE(a, b), BROADCAST(days) */ a.k, a.v, b.v, w FROM a JOIN days ON a.p = days.p "
        pair = compare(spark, dynamic + "JOIN b ON a.k = b.k WHERE days.w = 1", f"{db}.g")
        assert pair.on.rows
        assert pair.on.colocated


def test_one_percent_of_strays_shuffles_at_most_two_percent_of_the_bytes(spark: SparkSession, db: str) -> None:
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, "parquet")
        fill(spark, name, "SELECT cast(id % 9000 AS INT), hash(id) FROM range(60000)", ["k", "v"])
        count = 600
        keys, values = pa.array(range(count), pa.int32()), pa.array(range(count), pa.int64())
        drop_in(spark, name, "data_0.{ext}", {"k": keys, "v": values})
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    sql = "SELECT count(*), sum(a.v - b.v) FROM a JOIN b ON a.k = b.k WHERE a.v IS NOT NULL"
    with Executions(spark) as on:
        rows = multiset(spark.sql(sql).collect())
    with unstable(spark, f"{db}.g"), Executions(spark) as off:
        assert multiset(spark.sql(sql).collect()) == rows
    assert 0 < on.shuffle_bytes <= 0.02 * off.shuffle_bytes, (on.shuffle_bytes, off.shuffle_bytes)
