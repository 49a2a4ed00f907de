"""UPDATE and MERGE that would make a row of no range partition: the error names the row, and nothing changes."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.ranged import IN_BUCKETS, held, months, properties, refused

FEATURES = ("delta.enableDeletionVectors", "delta.enableChangeDataFeed")
ALL = {"p201701": 31, "p201702": 28, "p201703": 21}


@pytest.mark.each_value
@pytest.mark.parametrize("features", ["true", "false"])
@pytest.mark.parametrize("buckets", [IN_BUCKETS, ""], ids=["buckets", "plain"])
def test_rows_are_moved_to_other_partitions_or_refused(
    spark: SparkSession, db: str, buckets: str, features: str
) -> None:
    months(spark, buckets=buckets, **dict.fromkeys(FEATURES, features))
    source = "(SELECT CAST(id AS INT) AS k, DATE'{day}' AS d, 's' AS v FROM range({ids}))"
    merge = f"MERGE INTO t USING {source} s ON t.k = s.k WHEN "
    for statement, row in {
        "UPDATE t SET d = DATE'2037-01-01' WHERE k = 5": "d = 2037-01-01",
        "UPDATE t SET d = '2037-01-01', v = 'u' WHERE k = 5": "d = 2037-01-01",
        "UPDATE t SET d = add_months(d, 2)": "d = 2017-0",
        merge.format(day="2037-01-01", ids="5, 6") + "MATCHED THEN UPDATE SET d = s.d": "d = 2037-01-01",
        merge.format(day="2037-01-01", ids="79, 81") + "NOT MATCHED THEN INSERT *": "d = 2037-01-01",
        merge.format(day="2037-01-01", ids="79, 81") + "MATCHED THEN UPDATE SET *": "d = 2037-01-01",
        merge.format(day="2017-01-01", ids="5, 6") + "NOT MATCHED BY SOURCE AND t.k = 7 THEN UPDATE SET "
        "d = add_months(t.d, 12)": "d = 2018-01-08",
    }.items():
        error = refused(spark, statement)
        assert "RANGE_NO_PARTITION" in error, statement
        assert f"the row with {row}" in error
        assert "[2017-04-01, MAX_VALUE)" in error
        assert held(spark) == ALL
    # The condition of a statement keeps the rows away that would fail, and values of the row itself count.
    spark.sql("UPDATE t SET d = add_months(d, 2) WHERE k < 21")
    assert held(spark) == {"p201701": 10, "p201702": 28, "p201703": 42}
    spark.sql("UPDATE t SET d = add_months(d, 2) WHERE d < '2017-01-31' AND k < 28")
    spark.sql(
        merge.format(day="2017-02-05", ids="28, 82") + "MATCHED AND s.k = 28 THEN UPDATE SET d = s.d, v = s.v "
        "WHEN MATCHED AND s.k = 79 THEN DELETE WHEN NOT MATCHED AND s.k = 80 THEN INSERT *"
    )
    assert held(spark) == {"p201701": 2, "p201702": 30, "p201703": 48}
    assert spark.sql("SELECT CAST(d AS STRING), v FROM t WHERE k IN (28, 80)").distinct().collect() == [
        ("2017-02-05", "s")
    ]
    wrong = "SELECT k FROM t WHERE _colocate_range IS DISTINCT FROM concat('p', date_format(d, 'yyyyMM'))"
    assert spark.sql(wrong).collect() == []


def test_several_columns_of_which_one_is_a_bucket_key(spark: SparkSession, db: str) -> None:
    partitions = [("a", "10", "5"), ("b", "20", "7")]
    spark.sql(f"CREATE TABLE t (m INT, k BIGINT, v INT) USING delta {IN_BUCKETS} {properties('m, k', partitions)}")
    spark.sql("INSERT INTO t SELECT id, id, id FROM range(20)")
    error = refused(spark, "UPDATE t SET k = m, m = 20 WHERE v = 9")
    assert "RANGE_NO_PARTITION" in error
    assert "the row with m = 20, k = 9 " in error
    spark.sql("UPDATE t SET k = 6, m = 20 WHERE v = 9")
    spark.sql("UPDATE t SET m = NULL WHERE v = 19")
    found = spark.sql("SELECT v, _colocate_range, _colocate_bucket = pmod(hash(k), 4) FROM t WHERE v IN (8, 9, 19)")
    assert sorted(map(tuple, found.collect())) == [(8, "a", True), (9, "b", True), (19, "a", True)]


def test_a_value_that_is_none_of_the_type_keeps_its_error(spark: SparkSession, db: str) -> None:
    months(spark)
    for statement, words in {
        "UPDATE t SET d = 'no day' WHERE k = 5": "CAST_INVALID_INPUT",
        "UPDATE t SET d = 5": "CAST_WITHOUT_SUGGESTION|CANNOT_SAFELY_CAST|DATATYPE_MISMATCH",
        "UPDATE t SET x = 5": "UNRESOLVED_COLUMN",
    }.items():
        with pytest.raises(Exception, match=words):
            spark.sql(statement)
    assert held(spark) == ALL
