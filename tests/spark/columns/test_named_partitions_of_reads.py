"""FROM t PARTITION (p, q): the rows of these range partitions. Spark's parser reads another name of t in it."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.spark.ranged import MONTHS, listed, months, properties, refused

INTERPRETED = True
ALL, TWO = 80, 59


@pytest.fixture
def t(spark: SparkSession, db: str) -> str:
    """With 31, 28 and 21 days of rows in its partitions, and as many columns as names are given."""
    spark.sql(f"CREATE TABLE t (d DATE, k INT) USING delta {properties('d', MONTHS)}")
    spark.sql("INSERT INTO t SELECT date_add(DATE'2017-01-01', CAST(id AS INT)), id FROM range(80)")
    return f"{db}.t"


def count(spark: SparkSession, relation: str) -> int:
    return int(spark.sql(f"SELECT count(*) FROM {relation}").first()[0])


NAMED = {
    "t PARTITION(p201701, p201702)": TWO,
    "t partitions (P201701)": 31,
    "t\n /* a */ PARTITION -- b\n (`p201703`)": 21,
    "spark_catalog.{db}.t PARTITION(p201701, p201701)": 31,
    "IDENTIFIER('t') PARTITION(p201702)": 28,
    "IDENTIFIER(concat('{db}', '.', 't')) PARTITION(p201702)": 28,
    "delta.`{path}` PARTITION(p201702)": 28,
    "t VERSION AS OF 1 PARTITION(p201701)": 31,
    "t TABLESAMPLE (100 PERCENT) PARTITION(p201701)": 31,
    "t PARTITION p201701": 31,
    "t PARTITION(p201701) a": 31,
    "t PARTITION(p201701, p201702) AS a WHERE a.k > 0": TWO - 1,
    "t PARTITION('p201701')": 31,
    "t PARTITION(p201701) TABLESAMPLE (100 PERCENT) a": 31,
    "(SELECT * FROM t PARTITION p201701) x": 31,
    "t PARTITION(p201701) WHERE t.d >= '2017-01-31'": 1,
    "t PARTITION(p201701) WHERE _colocate_range IS NOT NULL": 31,
    "t PARTITION(p201701) WHERE k IN (SELECT k FROM t PARTITION(p201701, p201702) WHERE k > 20)": 10,
    "t PARTITION(p201701) a JOIN t PARTITION(p201702) b ON a.k + 31 = b.k": 28,
    "t PARTITION(p201701) JOIN (SELECT k FROM t PARTITION(p201701) LIMIT 5) u ON t.k = u.k": 5,
    "(TABLE t) x": ALL,
}


def test_the_named_partitions_are_read_and_no_others(spark: SparkSession, t: str) -> None:
    path = spark.sql("DESCRIBE DETAIL t").first()["location"].removeprefix("file:")
    wanted = {text.format(db=t.split(".")[0], path=path): rows for text, rows in NAMED.items()}
    assert {text: count(spark, text) for text in wanted} == wanted
    assert spark.sql("SELECT * FROM t PARTITION(p201701, p201702)").columns == ["d", "k"]
    ordered = spark.sql("SELECT t.k, x.k FROM t PARTITION(p201703) JOIN t x ON t.d = x.d ORDER BY 1 LIMIT 1")
    assert ordered.collect() == [(59, 59)]


def test_what_is_written_and_kept_has_only_their_rows(spark: SparkSession, t: str) -> None:
    spark.sql("CREATE TABLE made USING parquet AS SELECT * FROM t PARTITION(p201701, p201702)")
    spark.sql("INSERT INTO made SELECT * FROM t PARTITION(p201703)")
    assert count(spark, "made") == ALL
    spark.sql("CREATE VIEW two AS SELECT * FROM t PARTITION(p201701, p201702)")
    spark.sql("CREATE VIEW one (a, b) AS SELECT x.d, x.k FROM t PARTITION(p201701) x")
    spark.sql("CREATE TEMPORARY VIEW last AS SELECT * FROM t PARTITION p201703")
    spark.sql("INSERT INTO t VALUES (DATE'2017-01-01', 100), (DATE'2017-03-01', 101)")
    assert (count(spark, "two"), count(spark, "one"), count(spark, "last")) == (TWO + 1, 32, 22)
    spark.sql("CACHE TABLE t")
    assert (count(spark, "two"), count(spark, "t PARTITION(p201703)"), count(spark, "t")) == (TWO + 1, 22, ALL + 2)
    spark.sql("UNCACHE TABLE t")
    spark.sql(
        "MERGE INTO t USING (SELECT k FROM t PARTITION(p201701, p201702)) s ON t.k = s.k WHEN MATCHED THEN DELETE"
    )
    assert [rows for _, _, rows in listed(spark)] == [0, 0, 22]
    spark.catalog.dropTempView("last")


def test_files_of_other_partitions_are_not_read(spark: SparkSession, db: str) -> None:
    months(spark)
    plan = spark.sql("SELECT a.v FROM t PARTITION(p201702) a JOIN t PARTITION(p201702) b ON a.k = b.k")
    assert plan.count() == 28
    text = plan._jdf.queryExecution().executedPlan().toString()
    assert text.count("_colocate_range") >= 2
    assert "hashpartitioning" not in text
    assert "_metadata" not in plan.columns
    files = "SELECT DISTINCT _metadata.file_path FROM t"
    assert spark.sql(f"{files} PARTITION(p201702)").count() < spark.sql(files).count()


def test_tables_with_a_key_model(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE u (k INT, d DATE, s INT REPLACE, m INT MAX) AGGREGATE KEY(k, d) PARTITION BY RANGE(d) "
        "(PARTITION p1 VALUES LESS THAN ('2017-02-01'), PARTITION p2 VALUES LESS THAN ('2017-03-01')) "
        "DISTRIBUTED BY HASH(k) BUCKETS 4"
    )
    for value in (1, 2):
        spark.sql(
            f"INSERT INTO u SELECT id % 5, date_add(DATE'2017-01-29', CAST(id AS INT)), {value}, -id FROM range(9)"
        )
    query = "SELECT k, s, m FROM u PARTITION(p2) ORDER BY m"
    rows = [(3, 2, -8), (2, 2, -7), (1, 2, -6), (0, 2, -5), (4, 2, -4), (3, 2, -3)]
    assert spark.sql(query).collect() == rows
    assert spark.sql("SELECT max(m), count(*) FROM u PARTITION(p1)").collect() == [(0, 3)]
    spark.sql("CREATE VIEW v AS SELECT k, s, m FROM u PARTITION(p2)")
    assert spark.sql("SELECT * FROM v ORDER BY m").collect() == rows
    spark.sql("CACHE TABLE v")
    spark.sql("INSERT INTO u VALUES (9, DATE'2017-02-03', 3, 9), (9, DATE'2017-01-03', 3, 9)")
    assert spark.sql("SELECT k, s, m FROM v ORDER BY m").collect() == [*rows, (9, 3, 9)]
    read = spark.sql(query)._jdf.queryExecution().optimizedPlan().toString()
    assert "Filter" in read.split("Aggregate", 1)[1]
    spark.sql("UNCACHE TABLE v")


def test_what_can_not_be_named(spark: SparkSession, t: str) -> None:
    spark.sql("CREATE TABLE plain (k INT, v INT) USING delta CLUSTERED BY (k) INTO 2 BUCKETS")
    spark.sql(
        "CREATE TABLE files (k INT, v INT) USING parquet CLUSTERED BY (k) INTO 2 BUCKETS "
        "TBLPROPERTIES ('colocate_with' = 'g')"
    )
    spark.sql("CREATE VIEW shown AS SELECT * FROM t")
    for names in ("PARTITION(p201701, p201704)", "PARTITION p201704", "PARTITIONS (p201704) x"):
        error = refused(spark, f"SELECT * FROM t {names}")
        assert f"[RANGE_PARTITION_UNKNOWN] There is no range partition p201704 of {t}" in error
        assert "(partitions: p201701, p201702, p201703)" in error
    for table in ("plain", "files"):
        error = refused(spark, f"SELECT count(*) FROM {table} PARTITION(p1, p2)")
        assert "[RANGE_TABLE] Cannot read partition p1, p2 of " in error
        assert f"{table}: it is not a table with range partitions. Write the rows to read into WHERE, or AS" in error
    for table in ("plain", "files", "shown", "(SELECT 1 AS a) c, shown"):
        assert "[RANGE_TABLE] Cannot read partition p1 of " in refused(spark, f"SELECT * FROM {table} PARTITION p1")
    assert "RANGE_TABLE" in refused(spark, "WITH c AS (SELECT 1 AS a) SELECT * FROM c PARTITION p1")
    assert "RANGE_TABLE" in refused(spark, "SELECT * FROM STREAM plain PARTITION(p1)")
    for text in ("SELECT * FROM absent PARTITION(p1)", "SELECT * FROM absent PARTITION p1"):
        with pytest.raises(AnalysisException) as error:
            spark.sql(text)
        assert error.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"


def test_sparks_meaning_stays_where_it_is_one(spark: SparkSession, t: str) -> None:
    spark.sql("CREATE TABLE own USING delta AS SELECT 1 AS k, 2 AS v")
    spark.sql("CREATE VIEW shown AS SELECT k, d FROM t")
    for text in (
        "SELECT a FROM own PARTITION(a, b)",
        "SELECT partition.a FROM own PARTITION(a, b)",
        "WITH own AS (SELECT 1, 2) SELECT a FROM own PARTITION(a, b)",
        "SELECT a FROM (SELECT 1, 2) PARTITION(a, b)",
        "SELECT p201701 FROM t AS PARTITION(p202001, p201701) WHERE p201701 = 1",
        "SELECT p201701 FROM t `PARTITION` (p202001, p201701) WHERE p201701 = 1",
        "SELECT p201701 FROM shown PARTITION(p201701, p202001) WHERE p201701 = 1",
        "SELECT PARTITION.k FROM t PARTITION WHERE k = 1",
        "SELECT max(k) OVER (PARTITION BY d) FROM t PARTITION(p201701) WHERE t.k = 1",
    ):
        assert spark.sql(text).collect() == [(1,)], text
