"""Statements of Doris and StarRocks that run under another spelling, and errors that say what to write instead."""

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

INTERPRETED = True


@pytest.fixture
def table(spark: SparkSession, db: str) -> str:
    """With range partitions p1 and p2, as SHOW CREATE TABLE of Doris prints them, and a row in p1."""
    spark.sql(
        "CREATE TABLE t (k INT NULL, v INT NULL, index INT NULL) ENGINE=OLAP UNIQUE KEY(k, v) PARTITION BY RANGE(k) "
        "(PARTITION p1 VALUES [('-2147483648'), ('10')), PARTITION p2 VALUES [('10'), ('20'))) "
        'DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("colocate_with" = "g", "compression" = "LZ4")'
    )
    spark.sql("INSERT INTO t WITH LABEL first [shuffle] (k, v) SELECT 1, 2 # one row")
    return "t"


def test_a_listing_is_filtered_ordered_and_cut(spark: SparkSession, table: str) -> None:
    names = "SHOW PARTITIONS FROM t ORDER BY PartitionName DESC LIMIT 1"
    assert [row["PartitionName"] for row in spark.sql(names).collect()] == ["p2"]
    [row] = spark.sql('SHOW PARTITIONS FROM t WHERE PartitionName = "p1" AND RowCount = 1').collect()
    assert row["Range"] == "[MIN_VALUE, 10)"
    [shown] = spark.sql("SHOW VARIABLES LIKE 'disable_colocate_j%'").collect()
    assert shown.asDict() == {"Variable_name": "disable_colocate_join", "Value": "false"}


def test_a_row_with_null_is_in_the_partition_that_begins_at_the_least_value(spark: SparkSession, table: str) -> None:
    spark.sql("INSERT INTO t VALUES (NULL, 1, 1)")
    [row] = spark.sql('SHOW PARTITIONS FROM t WHERE PartitionName = "p1"').collect()
    assert row["RowCount"] == 2


def test_hints_and_comments_are_left_out(spark: SparkSession, table: str) -> None:
    query = "SELECT /*+ SET_VAR(query_timeout = 1) */ a.v // both\nFROM t a JOIN [broadcast] t b ON a.k = b.k"
    assert spark.sql(query).collect() == [(2,)]


def test_what_spark_has_under_another_spelling_runs(spark: SparkSession, db: str, table: str) -> None:
    assert spark.sql('ALTER COLOCATE GROUP g SET ("replication_num" = "2")').collect() == [(f"{db}.g", 2, 1)]
    spark.sql("ALTER TABLE t COMPACT")
    spark.sql('ALTER TABLE t MODIFY COMMENT "what it is"')
    spark.sql("ALTER TABLE t ADD COLUMN big LARGEINT AFTER v")
    spark.sql("ALTER TABLE t RENAME u")
    assert [row["col_name"] for row in spark.sql("SHOW FULL COLUMNS FROM u").collect()] == ["k", "v", "big", "index"]
    spark.sql("SET GLOBAL disable_colocate_join = true")
    assert spark.conf.get("disable_colocate_join") == "true"
    spark.sql("ALTER TABLE u DROP PARTITIONS (p2)")
    assert spark.sql("SHOW PARTITIONS FROM u LIMIT 5").count() == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE ROUTINE LOAD a ON t FROM KAFKA ('x' = 'y')", "Cannot run CREATE ROUTINE LOAD at line 1, column 1: "),
        ("ALTER TABLE t\n  ADD ROLLUP r (k)", "Cannot run ALTER TABLE t ADD ROLLUP at line 2, column 3: "),
    ],
)
def test_a_statement_without_a_counterpart_is_refused_by_name(spark: SparkSession, text: str, words: str) -> None:
    with pytest.raises(ParseException) as refused:
        spark.sql(text)
    assert (refused.value.getCondition(), refused.value.getSqlState()) == ("DORIS_UNSUPPORTED", "0A000")
    assert f"[DORIS_UNSUPPORTED] {words}" in str(refused.value)


def test_a_clause_of_a_query_adds_a_line_to_sparks_error(spark: SparkSession) -> None:
    for text in ("SELECT 1 LIMIT 5, 10", "SELECT 1 // one\nLIMIT 5, 10"):
        with pytest.raises(ParseException) as refused:
            spark.sql(text)
        assert refused.value.getCondition() == "PARSE_SYNTAX_ERROR"
        assert "Syntax error at or near ','" in str(refused.value)
        assert "LIMIT has one number. Write LIMIT count OFFSET offset." in str(refused.value)


def test_a_clause_elsewhere_leaves_sparks_error_as_it_is(spark: SparkSession) -> None:
    for text in ("SELECT 1 -- LIMIT 5, 10\nFORM t u", "SELECT 'a XOR b', `#` FORM t u", "SHOW PARTITION t"):
        with pytest.raises(ParseException) as refused:
            spark.sql(text)
        assert "Doris" not in str(refused.value)
