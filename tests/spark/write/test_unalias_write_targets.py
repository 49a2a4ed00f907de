"""A change of a member through a temporary view, as Delta takes it of its tables."""

from pyspark.sql import SparkSession


def test_a_delete_through_a_view_is_one_of_its_table(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE t (k INT, v INT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS")
    spark.sql("INSERT INTO t SELECT cast(id AS INT), cast(id AS INT) FROM range(10)")
    spark.sql(f"CREATE TEMPORARY VIEW shown AS SELECT * FROM {db}.t")
    spark.sql("DELETE FROM shown WHERE k > 1")
    assert sorted(tuple(row) for row in spark.table("t").collect()) == [(0, 0), (1, 1)]
    assert spark.table("shown").count() == 2
