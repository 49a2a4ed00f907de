"""Keys that are stored as another value than the one that was hashed: equal keys would lie in different buckets."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.spark.members import create_member, fill
from tests.spark.oracle import assert_exchange, compare, run

INTERPRETED = True

MILLIS = ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
LEGACY = ("spark.sql.parquet.datetimeRebaseModeInWrite", "LEGACY")
NEAR = "SELECT timestamp'2024-01-01 00:00:00' + make_dt_interval(0, 0, 0, id / 10000), id FROM range(40)"


@pytest.mark.parametrize(
    ("kind", "setting", "value"),
    [("TIMESTAMP", *MILLIS), ("TIMESTAMP", *LEGACY), ("DATE", *LEGACY)],
)
def test_a_write_that_may_change_keys_is_refused(
    spark: SparkSession, db: str, kind: str, setting: str, value: str
) -> None:
    create_member(spark, "t", f"k {kind}, v BIGINT", ["k"], 4)
    spark.conf.set(setting, value)
    rows = f"SELECT cast(timestamp'2024-01-01' AS {kind}), id FROM range(5)"
    grouped = f"SELECT cast(timestamp'2024-01-01' AS {kind}) AS k, 1L AS v"
    for write in (
        f"INSERT INTO t (k, v) {rows}",
        f"MERGE INTO t USING ({grouped}) s ON t.k = s.k WHEN NOT MATCHED THEN INSERT *",
        f"CREATE TABLE c USING delta CLUSTERED BY (k) INTO 4 BUCKETS AS {grouped}",
    ):
        with pytest.raises(AnalysisException, match=rf"(?s)Cannot write.*{setting} is {value}.*SET {setting} ="):
            spark.sql(write)
    assert spark.table("t").count() == 0
    assert not spark.catalog.tableExists("c")
    spark.conf.unset(setting)
    spark.sql(f"INSERT INTO t (k, v) {rows}")
    assert spark.table("t").count() == 5


@pytest.mark.parametrize("query", ["SELECT * FROM t", "SELECT v FROM t WHERE k = DATE'2024-01-01'"])
def test_reads_are_not_refused(spark: SparkSession, db: str, query: str) -> None:
    """Delta resolves the text of the bucket column for a table that is read, too."""
    create_member(spark, "t", "k DATE, v BIGINT", ["k"], 4)
    fill(spark, "t", "SELECT DATE'2024-01-01', id FROM range(5)", ["k", "v"])
    spark.conf.set(*LEGACY)
    assert len(spark.sql(query).collect()) == 5


def test_other_keys_and_tables_are_written_under_any_setting(spark: SparkSession, db: str) -> None:
    create_member(spark, "t", "k INT, at TIMESTAMP", ["k"], 4)
    spark.sql("CREATE TABLE p (k TIMESTAMP, v BIGINT) USING delta")
    spark.conf.set(*MILLIS)
    fill(spark, "t", "SELECT cast(id AS INT), timestamp'2024-01-01' FROM range(5)", ["k", "at"])
    fill(spark, "p", NEAR, ["k", "v"])
    assert spark.table("p").groupBy("k").count().count() == 4


def test_a_native_file_whose_keys_changed_is_no_file_of_ours(spark: SparkSession, db: str) -> None:
    create_member(spark, "t", "k TIMESTAMP, v BIGINT", ["k"], 4, "parquet")
    spark.conf.set("spark.colocate.strays.maxShare", "1.0")
    spark.conf.set(*MILLIS)
    fill(spark, "t", NEAR, ["k", "v"])
    query = "SELECT k, count(*) FROM t GROUP BY k"
    _tell_wrong_files(spark, query)
    rows = compare(spark, query, f"{db}.g").on.rows
    assert rows is not None
    assert rows.total() == 4


def _tell_wrong_files(spark: SparkSession, sql: str) -> None:
    """Runs `sql` until it succeeds: the file of a bucket after the other becomes a stray."""
    while wrong := run(spark, sql).error:
        assert wrong == "INVALID_BUCKET_FILE"


TIMES = ["1969-12-31 23:59:59.5", "1970-01-01 00:00:00.5", "1582-10-10 00:00:00", "1582-10-15 00:00:00"]
ORC_EDGES = {
    "TIMESTAMP": TIMES,
    "TIMESTAMP_NTZ": TIMES,
    "DATE": ["1582-10-05", "1582-10-14", "1582-10-15", "0001-01-01"],
}


@pytest.mark.parametrize("kind", ORC_EDGES)
def test_orc_keys_that_come_back_as_others(spark: SparkSession, db: str, kind: str) -> None:
    """Delta keeps what ORC gives back; the two meet, whatever was hashed when ORC was written."""
    _make_orc_pair(spark, kind)
    for text in ORC_EDGES[kind]:
        fill(spark, "o", f"SELECT CAST('{text}' AS {kind}), 1L", ["k", "v"])
    _keep_what_is_read(spark)
    _assert_all_meet(spark, db, rows=len(ORC_EDGES[kind]))


def test_orc_times_under_another_zone(spark: SparkSession, db: str) -> None:
    """A file that a reader has checked gives a reader in another zone other keys."""
    _make_orc_pair(spark, "TIMESTAMP")
    fill(spark, "o", "SELECT timestamp'2024-01-01 00:00:00' + make_dt_interval(0, id), id FROM range(40)", ["k", "v"])
    _keep_what_is_read(spark)
    _assert_all_meet(spark, db, rows=40)
    zones = spark._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone("Asia/Tokyo"))
    try:
        assert spark.sql("SELECT min(k) FROM o").collect() != spark.sql("SELECT min(k) FROM d").collect()
        _keep_what_is_read(spark)
        _assert_all_meet(spark, db, rows=40)
    finally:
        zones.setDefault(before)


def _make_orc_pair(spark: SparkSession, kind: str) -> None:
    spark.conf.set("spark.colocate.strays.maxShare", "1.0")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    create_member(spark, "o", f"k {kind}, v BIGINT", ["k"], 16, "orc")
    create_member(spark, "d", f"k {kind}, v BIGINT", ["k"], 16)


def _keep_what_is_read(spark: SparkSession) -> None:
    _tell_wrong_files(spark, "INSERT OVERWRITE d SELECT k, v FROM o")


def _assert_all_meet(spark: SparkSession, db: str, rows: int) -> None:
    query = "SELECT o.k, d.v FROM o JOIN d ON o.k = d.k AND o.v = d.v"
    _tell_wrong_files(spark, query)
    pair = compare(spark, query, f"{db}.g")
    assert pair.on.colocated
    assert pair.on.rows is not None
    assert pair.on.rows.total() >= rows


def test_a_partition_column_is_no_bucket_key(spark: SparkSession, db: str) -> None:
    with pytest.raises(AnalysisException, match=r"CLUSTERED BY \(p\) is refused.*PARTITIONED BY"):
        create_member(spark, "t", "p STRING, v BIGINT", ["P"], 4, partitioned=["p"])
    assert not spark.catalog.tableExists("t")


def test_a_partition_column_of_another_hand_proves_nothing(spark: SparkSession, db: str) -> None:
    """An empty text becomes null on its way into a partition's folder, after it was hashed."""
    spark.sql(
        "CREATE TABLE t (p STRING, v BIGINT, _colocate_bucket INT GENERATED ALWAYS AS (pmod(hash(p), 4))) "
        "USING delta PARTITIONED BY (p, _colocate_bucket)"
    )
    spark.sql("INSERT INTO t (p, v) VALUES ('', 1), (NULL, 2), ('a', 3)")
    pair = assert_exchange(spark, "SELECT p, count(*) FROM t GROUP BY p")
    assert not pair.on.colocated
    assert pair.on.rows == {(None, 2): 1, ("a", 1): 1}
