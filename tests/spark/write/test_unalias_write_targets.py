"""Changes of a member through a temporary view, as Delta takes them of its tables."""

import pytest
from pyspark.sql import SparkSession

Rows = list[tuple[int, ...]]
MEMBER = "CLUSTERED BY (k) INTO 4 BUCKETS"
SOURCE = "(SELECT 3 AS k, 30 AS v UNION ALL SELECT 70, 7)"
CHANGES = {
    "delete": "DELETE FROM {t} WHERE k > 1",
    "update": "UPDATE {t} SET v = v + 100 WHERE k = 3 OR v = 4",
    "update of the key": "UPDATE {t} AS x SET x.k = x.k + 100 WHERE x.k = 4",
    "merge with stars": "MERGE INTO {t} USING " + SOURCE + " s ON {t}.k = s.k "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "merge": "MERGE INTO {t} AS x USING " + SOURCE + " s ON x.k = s.k WHEN MATCHED AND x.v = 3 THEN DELETE "
    "WHEN NOT MATCHED THEN INSERT (v, k) VALUES (s.v, s.k) "
    "WHEN NOT MATCHED BY SOURCE AND x.k < 2 THEN UPDATE SET v = 0",
}  # fmt: skip


def make(spark: SparkSession, db: str, table: str, layout: str, shown: str = "SELECT * FROM {t}") -> None:
    """A table of ten rows, and the view shown_<table> of it."""
    spark.sql(f"CREATE TABLE {table} (k INT, v INT) USING delta {layout}")
    spark.sql(f"INSERT INTO {table} SELECT cast(id AS INT), cast(id AS INT) FROM range(10)")
    spark.sql(f"CREATE TEMPORARY VIEW shown_{table} AS {shown.format(t=f'{db}.{table}')}")


def rows(spark: SparkSession, table: str) -> Rows:
    return sorted(tuple(row) for row in spark.table(table).collect())


def test_a_delete_through_a_view_is_one_of_its_table(spark: SparkSession, db: str) -> None:
    make(spark, db, "t", MEMBER)
    spark.sql("DELETE FROM shown_t WHERE k > 1")
    assert rows(spark, "t") == [(0, 0), (1, 1)]
    assert spark.table("shown_t").count() == 2


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_through_a_view_does_to_a_member_what_it_does_to_a_plain_table(
    spark: SparkSession, db: str, change: str
) -> None:
    for table, layout in (("plain", ""), ("member", MEMBER)):
        make(spark, db, table, layout)
        spark.sql(CHANGES[change].format(t=f"shown_{table}"))
    changed = rows(spark, "member")
    assert changed == rows(spark, "plain") == rows(spark, "shown_member")
    assert changed != [(k, k) for k in range(10)]
    assert spark.table("member").where("_colocate_bucket <> pmod(hash(k), 4)").count() == 0


def test_a_view_of_a_view_and_one_of_a_dataframe(spark: SparkSession, db: str) -> None:
    make(spark, db, "t", MEMBER)
    spark.sql("CREATE TEMPORARY VIEW again AS SELECT k, v FROM shown_t")
    spark.table("t").createOrReplaceTempView("frame")
    for number, view in enumerate(("again", "frame")):
        spark.sql(f"UPDATE {view} SET v = 77 WHERE k = {number}")
    assert rows(spark, "t")[:3] == [(0, 77), (1, 77), (2, 2)]


@pytest.mark.parametrize(
    "shown",
    ["SELECT v, k FROM {t}", "SELECT v AS k, k AS v FROM {t}", "SELECT k, v + 1 AS v FROM {t}", "SELECT k FROM {t}"],
    ids=["order", "names", "values", "fewer"],
)
def test_a_view_that_shows_something_else_is_not_written_through(spark: SparkSession, db: str, shown: str) -> None:
    make(spark, db, "t", MEMBER, shown)
    with pytest.raises(Exception, match="DELTA_OPERATION_ON_TEMP_VIEW_WITH_GENERATED_COLS_NOT_SUPPORTED"):
        spark.sql("UPDATE shown_t SET k = 5 WHERE k = 3")
    assert rows(spark, "t") == [(k, k) for k in range(10)]
