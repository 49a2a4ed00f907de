"""Partitions with numbers of buckets of their own: how they are declared, shown and dropped, and kept out of groups."""

from collections import Counter

from pyspark.sql import SparkSession

from tests.spark.foreign import change_property
from tests.spark.members import folder
from tests.spark.oracle import assert_no_exchange, compare
from tests.spark.ranged import MIXED_ROWS, listed, misplaced, mixed, months, refused

INTERPRETED = True
OWN = "CALL system.add_partition(table => '{}', partition => 'own', upper => '2017-12-01', buckets => {})"


def _buckets(spark: SparkSession, name: str = "t") -> dict[str, int]:
    rows = spark.sql(f"CALL system.show_partitions(table => '{name}')").collect()
    return {row["PartitionName"]: row["Buckets"] for row in rows}


def test_each_partition_shows_its_number(spark: SparkSession, db: str) -> None:
    mixed(spark)
    assert _buckets(spark) == {"low": 8, "mid": 4, "high": 6}
    described = dict(tuple(row)[:2] for row in spark.sql("DESCRIBE EXTENDED t").collect())
    assert described["Buckets"] == "8"
    assert described["low"] == "[MIN_VALUE, 2017-02-01)"
    assert described["mid"] == "[2017-03-01, 2017-04-01), 4 buckets"
    statement = spark.sql("SHOW CREATE TABLE t").first()[0]
    spark.sql(statement.replace(f"{db}.t", f"{db}.again"))
    assert _buckets(spark, "again") == _buckets(spark)
    spark.sql("CREATE TABLE alike LIKE t")
    assert _buckets(spark, "alike") == _buckets(spark)
    spark.conf.set("spark.colocate.dialect", "doris")
    doris = spark.sql("SHOW CREATE TABLE t").first()[1]
    assert 'PARTITION `mid` VALUES [("2017-03-01"), ("2017-04-01")) DISTRIBUTED BY HASH(`k`) BUCKETS 4' in doris
    assert doris.endswith("DISTRIBUTED BY HASH(`k`) BUCKETS 8;") or "BUCKETS 8\nPROPERTIES" in doris
    spark.sql(doris.replace("CREATE TABLE `t`", "CREATE TABLE `written`"))
    assert _buckets(spark, "written") == _buckets(spark)
    for name in ("again", "written"):
        spark.sql(f"INSERT INTO {name} SELECT * FROM t")
        assert misplaced(spark, name) == 0


def test_a_dropped_partition_takes_its_number_along(spark: SparkSession, db: str) -> None:
    mixed(spark)
    spark.sql("CALL system.drop_partition(table => 't', partition => 'mid')")
    assert _buckets(spark) == {"low": 8, "high": 6}
    spark.sql("CALL system.add_partition(table => 't', partition => 'mid', upper => '2017-04-01')")
    spark.sql(f"INSERT INTO t {MIXED_ROWS}")
    assert _buckets(spark) == {"low": 8, "mid": 8, "high": 6}
    assert misplaced(spark, number="CASE _colocate_range WHEN 'high' THEN 6 ELSE 8 END") == 0
    compare(spark, "SELECT k, count(*) FROM t GROUP BY k")
    before = spark.sql("SELECT k, count(*) FROM t VERSION AS OF 3 GROUP BY k")
    assert before.count() == 51
    spark.sql("ALTER TABLE t DROP PARTITION high")
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('colocate_with' = 'g8')")
    assert_no_exchange(spark, "SELECT k, count(*) FROM t GROUP BY k")
    spark.sql("RESTORE TABLE t TO VERSION AS OF 3")
    assert misplaced(spark) == 0
    assert_no_exchange(spark, "SELECT k, count(*) FROM t GROUP BY k")


def test_a_group_has_one_number(spark: SparkSession, db: str) -> None:
    mixed(spark)
    months(spark, "member", colocate_with="g")
    error = refused(spark, OWN.format("member", 8))
    assert f"Cannot make partition own of {db}.member with 8 buckets: the table is in group g" in error
    assert "has the group's number, 4" in error
    joins = "ALTER TABLE t SET TBLPROPERTIES ('colocate_with' = 'g')"
    error = refused(spark, joins)
    assert f"Cannot colocate {db}.t with group {db}.g" in error
    assert "(mid: 4, high: 6) than the table (8)" in error or "(high: 6, mid: 4) than the table (8)" in error
    rewrite = error[error.index("CREATE OR REPLACE") :].split(". SQLSTATE")[0].split(", or ")[0]
    assert '"upper":["2017-06-01"]' in rewrite
    assert "RANGE_BUCKETS" in refused(spark, "CREATE TABLE c LIKE t TBLPROPERTIES ('colocate_with' = 'g')")
    assert _buckets(spark) == {"low": 8, "mid": 4, "high": 6}
    assert "colocate_with" not in str(spark.sql("SHOW TBLPROPERTIES t").collect())
    spark.sql(rewrite.replace("INTO 8 BUCKETS", "INTO 4 BUCKETS"))
    assert _buckets(spark) == {"low": 4, "mid": 4, "high": 4}
    assert_no_exchange(spark, "SELECT t.k, count(*) FROM t JOIN member m ON t.k = m.k GROUP BY t.k")
    spark.sql("ALTER TABLE member SET TBLPROPERTIES ('colocate_with' = '')")
    spark.sql(OWN.format("member", 8))
    assert _buckets(spark, "member")["own"] == 8
    spark.sql("INSERT INTO member VALUES (DATE'2017-11-30', 3, 'own')")
    assert_no_exchange(spark, "SELECT t.k, count(*) FROM t JOIN member m ON t.k = m.k GROUP BY t.k")


def test_a_number_that_was_changed_by_hand_is_noticed(spark: SparkSession, db: str) -> None:
    mixed(spark)
    change_property(spark, "t", "range_partitions", lambda text: text.replace('"buckets":6', '"buckets":8'))
    spark.sql("REFRESH TABLE t")
    assert "is not what its rows were partitioned by" in refused(spark, OWN.format("t", 8))
    compare(spark, "SELECT k, count(*) FROM t GROUP BY k")


def test_a_session_without_the_extension_reads_and_writes(spark: SparkSession, db: str) -> None:
    mixed(spark)
    jvm = spark._jvm
    stock = jvm.org.apache.spark.sql.colocate.testing.StockSession.beside(spark._jsparkSession)
    path = f"delta.`{folder(spark, 't')}`"
    stock.sql(f"INSERT INTO {path} (d, k, v) {MIXED_ROWS}")
    stock.sql(f"UPDATE {path} SET d = DATE'2017-05-05' WHERE k = 7")
    stock.sql(
        f"MERGE INTO {path} t USING (SELECT 9 k) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET d = DATE'2017-03-05'"
    )
    assert stock.sql(f"SELECT * FROM {path}").count() == 800
    assert spark.table("t").count() == 800
    assert misplaced(spark) == 0
    assert_no_exchange(spark, "SELECT k, count(*), sum(v) FROM t GROUP BY k")
    assert compare(spark, "SELECT * FROM t WHERE k = 7").on.rows
    assert listed(spark)[2][0] == "high"


def test_key_models_and_compaction(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE u (d DATE, k INT, v BIGINT SUM) AGGREGATE KEY(d, k) PARTITION BY RANGE(d) "
        '(PARTITION low VALUES LESS THAN ("2017-02-01"), PARTITION mid VALUES LESS THAN ("2017-04-01") '
        "DISTRIBUTED BY HASH(k) BUCKETS 4, PARTITION high VALUES LESS THAN (MAXVALUE) "
        "DISTRIBUTED BY HASH(k) BUCKETS 6) DISTRIBUTED BY HASH(k) BUCKETS 8"
    )
    for _ in range(2):
        spark.sql(f"INSERT INTO u {MIXED_ROWS}")
    expected = spark.sql(f"SELECT d, k, 2 * sum(v) FROM ({MIXED_ROWS}) AS r(d, k, v) GROUP BY d, k").collect()
    for _ in range(2):
        assert Counter(map(tuple, spark.table("u").collect())) == Counter(map(tuple, expected))
        assert misplaced(spark, "u") == 0
        assert_no_exchange(spark, "SELECT k, sum(v) FROM u GROUP BY k")
        spark.sql("CALL system.compact(table => 'u')")
