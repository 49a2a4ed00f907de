"""Range partitions with different numbers of buckets: what their scans promise, and what breaks the proof."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.foreign import compute
from tests.spark.members import database, switched_off
from tests.spark.oracle import assert_exchange, assert_no_exchange_with_and_without_aqe, compare, run
from tests.spark.plans import nodes
from tests.spark.ranged import misplaced, mixed
from tests.tiers.params import some
from tools.plans import kind

INTERPRETED = True
SUMS = "SELECT count(*), sum(hash(d, k, v)), sum(hash(v, k)) FROM {}"

SERVED = [
    "SELECT k, count(*), sum(v) FROM t GROUP BY k",
    "SELECT DISTINCT k FROM t",
    "SELECT d, k, count(*) FROM t GROUP BY d, k",
    "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) FROM t",
    "SELECT a.k, a.v, b.v FROM t a JOIN t b ON a.k = b.k AND a.v < b.v",
    "SELECT t.k, count(*), max(w) FROM t JOIN s ON t.k = s.k GROUP BY t.k",
    "SELECT t.v, s.w FROM t LEFT JOIN s ON t.k = s.k",
    "SELECT t.v, s.w FROM s LEFT JOIN t ON t.k = s.k",
    "SELECT t.v, s.w FROM t FULL JOIN s ON t.k = s.k",
    "SELECT t.v FROM t LEFT ANTI JOIN (SELECT * FROM s WHERE w < 20) s ON t.k = s.k",
    "SELECT t.v, s.w FROM t JOIN s ON t.k <=> s.k",
    "SELECT k, count(*) FROM t WHERE d >= '2017-03-01' GROUP BY k",
    "SELECT k, count(*) FROM (SELECT k, v FROM t UNION ALL SELECT k, v FROM t) GROUP BY k",
]

POINTS = [
    "SELECT * FROM t WHERE k = {k}",
    "SELECT k, count(*) FROM t WHERE k IN ({k}, 11, 23) GROUP BY k",
    "SELECT * FROM t WHERE k = {k} AND d BETWEEN '2017-03-05' AND '2017-05-20'",
    "SELECT * FROM t WHERE k = {k} AND d IN ('2017-03-09', '2017-05-06')",
    "SELECT a.v, b.v FROM t a JOIN t b ON a.k = b.k WHERE a.k = {k}",
    "SELECT t.v, s.w FROM t JOIN (SELECT * FROM s WHERE k = {k}) s ON t.k = s.k",
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "partition_buckets", _make)


def _make(spark: SparkSession) -> None:
    mixed(spark)
    spark.sql("CREATE TABLE s (k INT, w INT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS")
    spark.sql("INSERT INTO s SELECT if(id % 13 = 0, NULL, id % 60), id FROM range(120)")


def _tasks(spark: SparkSession, sql: str) -> list[int]:
    scans = [node for node in nodes(spark.sql(sql)) if kind(node) == "ColocatedScanExec"]
    return [scan.outputPartitioning().numPartitions() for scan in scans]


@pytest.mark.parametrize("sql", some(SERVED, 2))
@pytest.mark.every(3)
def test_no_exchange_and_the_same_rows(tables: str, session: SparkSession, sql: str) -> None:
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    assert_no_exchange_with_and_without_aqe(session, sql)


@pytest.mark.parametrize("broadcast", ["-1", "10485760"])
def test_filters_on_the_key_lose_no_row(tables: str, session: SparkSession, broadcast: str) -> None:
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", broadcast)
    for sql in POINTS:
        pairs = [compare(session, sql.format(k=k)) for k in (5, 36)]
        assert any(pair.on.rows for pair in pairs)
    assert compare(session, "SELECT * FROM t WHERE k IS NULL").on.rows


def test_the_scan_has_as_many_tasks_as_divide_the_numbers_of_the_partitions_it_reads(
    tables: str, session: SparkSession
) -> None:
    count = "SELECT k, count(*) FROM t WHERE {} GROUP BY k"
    for condition, tasks in {
        "true": 2,
        "d < '2017-02-01'": 8,
        "d = '2017-03-05'": 4,
        "d > '2017-05-03'": 6,
        "d < '2017-04-01'": 4,
        "d IN ('2017-03-05', '2017-05-05')": 2,
    }.items():
        assert _tasks(session, count.format(condition)) == [tasks], condition
        assert_no_exchange_with_and_without_aqe(session, count.format(condition))


def test_too_few_tasks_are_no_promise(spark: SparkSession, db: str) -> None:
    """One task for all rows would be slower than a shuffle."""
    mixed(spark)
    spark.sql(
        "ALTER TABLE t ADD PARTITION odd VALUES [('2017-07-01'), ('2017-08-01')) DISTRIBUTED BY HASH(k) BUCKETS 5"
    )
    spark.sql("INSERT INTO t SELECT DATE'2017-07-05', id, id FROM range(40)")
    sql = "SELECT k, count(*) FROM t GROUP BY k"
    assert not assert_exchange(spark, sql).on.colocated
    reasons = spark.sql(f"CALL system.explain('{sql}')").collect()
    assert [row["code"] for row in reasons] == ["MIXED_BUCKETS"]
    assert "4, 5, 6, 8 buckets" in str(reasons)
    only = "SELECT k, count(*) FROM t WHERE d > '2017-06-01' GROUP BY k"
    assert _tasks(spark, only) == [5]
    assert_no_exchange_with_and_without_aqe(spark, only)


OTHERS = {
    "another condition": ("2017-05-01", "2017-03-15"),
    "no literal": ("ELSE 6", "ELSE 6 + 0"),
    "another function": ("coalesce(", "ifnull("),
    "a column as the table's number": (", 8))", ", v))"),
    "no number of buckets": ("ELSE 6", "ELSE 0"),
}


def test_an_expression_that_differs_from_the_partitions_proves_nothing(spark: SparkSession, db: str) -> None:
    """Rows between two conditions would have another number of buckets than their partition's."""
    mixed(spark)
    sql = "SELECT k, count(*), sum(v) FROM t GROUP BY k"
    right = compare(spark, sql).on
    assert right.colocated
    for what, (old, new) in OTHERS.items():
        compute(spark, "t", "_colocate_bucket", lambda text, old=old, new=new: text.replace(old, new))
        found = run(spark, sql)
        assert found.rows == right.rows
        assert not found.colocated, what
        assert "NO_LAYOUT_PROOF" in str(spark.sql(f"CALL system.explain('{sql}')").collect())
        compute(spark, "t", "_colocate_bucket", lambda text, old=old, new=new: text.replace(new, old))


def test_a_file_that_names_no_bucket_of_its_partition_is_not_read(spark: SparkSession, db: str) -> None:
    """The rows lie by 6 buckets, and the changed expression says 4: nothing is returned, not even a wrong row."""
    mixed(spark)
    compute(spark, "t", "_colocate_bucket", lambda text: text.replace("ELSE 6", "ELSE 4"))
    pair = spark.sql("SELECT k, count(*) FROM t GROUP BY k")
    with pytest.raises(Exception, match="FILE_WITHOUT_BUCKET"):
        pair.collect()
    with switched_off(spark):
        assert spark.sql("SELECT k, count(*) FROM t GROUP BY k").count() == 51


def test_every_write_puts_rows_into_the_buckets_of_their_partition(spark: SparkSession, db: str) -> None:
    mixed(spark)
    spark.sql("CREATE TABLE plain USING delta AS SELECT * FROM t")
    spark.sql("CREATE TABLE s USING delta AS SELECT CAST(id AS INT) k, id w FROM range(3, 60, 4)")
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    for statement in (
        "INSERT INTO t (v, d, k) SELECT sum(v), max(d), k FROM t WHERE d IS NOT NULL GROUP BY k",
        "INSERT INTO t SELECT a.d, b.k, a.v FROM t a JOIN t b ON a.k = b.k AND a.v = b.v",
        "UPDATE t SET k = k + 1 WHERE v % 7 = 1",
        "UPDATE t SET d = DATE'2017-03-03' WHERE k IN (3, 4, 14)",
        "DELETE FROM t WHERE k = 6 OR d = '2017-05-04'",
        "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND v % 2 = 0 THEN UPDATE SET v = s.w "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (d, k, v) VALUES (DATE'2017-05-02', s.k, s.w)",
        "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET d = DATE'2017-01-09', v = 0",
    ):
        for adaptive, name in (("true", "t"), ("false", "plain")):
            spark.conf.set("spark.sql.adaptive.enabled", adaptive)
            spark.sql(statement.replace(" t ", f" {name} ").replace("t.k", f"{name}.k"))
        assert misplaced(spark) == 0, statement
        assert spark.sql(SUMS.format("t")).first() == spark.sql(SUMS.format("plain")).first(), statement
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    spark.sql("OPTIMIZE t")
    assert misplaced(spark) == 0
    compare(spark, "SELECT k, count(*), sum(v) FROM t GROUP BY k")


def test_a_load_writes_one_file_for_each_bucket(spark: SparkSession, db: str) -> None:
    mixed(spark)
    spark.sql("TRUNCATE TABLE t")
    spark.sql(
        "INSERT INTO t SELECT date_add(DATE'2017-01-01', CAST(id % 3 * 60 AS INT)), id, id FROM range(0, 30000, 1, 5)"
    )
    assert spark.sql("DESCRIBE DETAIL t").first()["numFiles"] == 8 + 4 + 6
    assert misplaced(spark) == 0
    where = spark.sql("DESCRIBE DETAIL t").first()["location"]
    spark.table("t").write.format("delta").mode("overwrite").save(where)
    assert spark.sql("DESCRIBE DETAIL t").first()["numFiles"] == 8 + 4 + 6
    assert misplaced(spark) == 0


def test_a_table_made_from_a_query_has_each_partitions_number(spark: SparkSession, db: str) -> None:
    mixed(spark)
    made = spark.sql("SHOW CREATE TABLE t").first()[0].replace(f"{db}.t", f"{db}.u")
    columns = made[made.index("(") : made.index("USING")]
    spark.sql(made.replace(columns, "").rstrip() + " AS SELECT * FROM t")
    assert misplaced(spark, "u") == 0
    assert spark.sql("SELECT * FROM u EXCEPT ALL SELECT * FROM t").count() == 0
    assert _tasks(spark, "SELECT k, count(*) FROM u GROUP BY k") == [2]
    spark.table("t").write.format("delta").mode("overwrite").option("overwriteSchema", "true").saveAsTable("u")
    assert misplaced(spark, "u") == 0
    assert _tasks(spark, "SELECT k, count(*) FROM u GROUP BY k") == [2]
    spark.sql("CREATE TABLE c SHALLOW CLONE t")
    assert _tasks(spark, "SELECT k, count(*) FROM c GROUP BY k") == [2]
    assert misplaced(spark, "c") == 0
