"""MERGE, by SQL and by the DeltaTable API, finds the bucket and the range of new rows by their values as stored."""

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from spark_colocate.captured import RowRefused

from tests.spark.ranged import IN_BUCKETS, MONTHS, held, misplaced, mixed, months, properties

INTERPRETED = True
WRONG = "SELECT k FROM {t} WHERE _colocate_bucket IS DISTINCT FROM pmod(hash(k), 4)"


def merged(spark: SparkSession, table: str, source: str, *clauses: str) -> None:
    spark.sql(f"MERGE INTO {table} t USING ({source}) s ON t.v = s.v {' '.join(clauses)}")


@pytest.mark.parametrize("policy", ["ANSI", "LEGACY"])
def test_a_key_of_another_type_is_stored_as_in_a_plain_table(spark: SparkSession, db: str, policy: str) -> None:
    spark.conf.set("spark.sql.storeAssignmentPolicy", policy)
    insert = "WHEN NOT MATCHED THEN INSERT"
    steps = [
        ("SELECT id AS k, id AS v FROM range(5)", f"{insert} *"),
        ("SELECT CAST(id AS STRING) AS k, id AS v FROM range(5, 10)", f"{insert} (v, k) VALUES (s.v, s.k)"),
        ("SELECT CAST(id AS SMALLINT) AS k, id AS v FROM range(10, 15)", f"{insert} (v, k) VALUES (s.v, s.k + 1)"),
        ("SELECT 1L AS k, 20L AS v", f"{insert} (v) VALUES (s.v)"),
        ("SELECT id + 70L AS k, id AS v FROM range(3)", "WHEN MATCHED THEN UPDATE SET *", f"{insert} *"),
        ("SELECT id AS k, id AS v FROM range(3)", "WHEN MATCHED THEN UPDATE SET k = s.k - 90L"),
    ]
    if policy == "LEGACY":
        steps = [steps[1], ("SELECT 4294967301L AS k, 30L AS v", f"{insert} *")]
    spark.sql(f"CREATE TABLE b (k INT, v BIGINT) USING delta {IN_BUCKETS}")
    spark.sql("CREATE TABLE plain (k INT, v BIGINT) USING delta")
    for source, *clauses in steps:
        for table in ("b", "plain"):
            merged(spark, table, source, *clauses)
        assert sorted(map(str, spark.table("b").collect())) == sorted(map(str, spark.table("plain").collect())), source
        assert spark.sql(WRONG.format(t="b")).collect() == []


def test_a_row_is_in_a_bucket_by_the_number_of_its_partition(spark: SparkSession, db: str) -> None:
    mixed(spark)
    spark.sql("CREATE TABLE plain USING delta AS SELECT * FROM t")
    days = "element_at(array(DATE'2017-05-03', DATE'2017-01-03', DATE'2017-03-03'), CAST(id % 3 + 1 AS INT))"
    source = f"SELECT id AS v, {days} AS d, id * 7 AS k FROM range(200, 450)"
    steps = [
        ("WHEN MATCHED AND t.v % 2 = 0 THEN UPDATE SET d = s.d", "WHEN NOT MATCHED THEN INSERT *"),
        ("WHEN MATCHED AND t.v % 3 = 0 THEN UPDATE SET k = s.k + 1L",),
        ("WHEN MATCHED THEN UPDATE SET *",),
    ]
    for clauses in steps:
        for table in ("t", "plain"):
            merged(spark, table, source, *clauses)
        assert sorted(map(str, spark.table("t").collect())) == sorted(map(str, spark.table("plain").collect())), clauses
        assert misplaced(spark) == 0, clauses


def test_a_value_that_is_none_of_the_type_keeps_its_error(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE b (k INT, v BIGINT) USING delta {IN_BUCKETS}")
    for key, condition in {"4294967301L": "OVERFLOW", "'x'": "CAST_INVALID_INPUT"}.items():
        with pytest.raises((PySparkException, Py4JJavaError), match=condition):
            merged(spark, "b", f"SELECT {key} AS k, 1L AS v", "WHEN NOT MATCHED THEN INSERT *")
    assert spark.table("b").count() == 0


@pytest.mark.parametrize("buckets", [IN_BUCKETS, ""], ids=["buckets", "plain"])
def test_the_delta_table_api_names_the_row(spark: SparkSession, db: str, buckets: str) -> None:
    months(spark, buckets=buckets)
    rows = spark.sql("SELECT DATE'2017-02-05' + INTERVAL 1 DAY * id AS d, 500 + id AS k, 'n' AS v FROM range(2)")
    table = DeltaTable.forName(spark, "t")
    columns = {"d": "s.d", "k": "s.k", "v": "s.v"}
    table.alias("t").merge(rows.alias("s"), "t.k = s.k").whenNotMatchedInsert(values=columns).execute()
    assert held(spark) == {"p201701": 31, "p201702": 30, "p201703": 21}
    if buckets:
        assert spark.sql(WRONG.format(t="t")).collect() == []
    late = {**columns, "d": "add_months(s.d, 12)", "k": "s.k + 10"}
    for refuse in (
        lambda: table.alias("t").merge(rows.alias("s"), "t.k = s.k + 9").whenNotMatchedInsert(values=late).execute(),
        lambda: table.update("k = 5", {"d": "DATE'2037-01-01'"}),
    ):
        with pytest.raises(RowRefused) as error:
            refuse()
        assert error.value.getCondition() == "RANGE_NO_PARTITION"
    assert held(spark) == {"p201701": 31, "p201702": 30, "p201703": 21}


def test_a_row_without_the_range_column_is_named(spark: SparkSession, db: str) -> None:
    bounded = properties("d", MONTHS).replace('"upper"', '"lower": ["2017-01-01"], "upper"', 1)
    spark.sql(f"CREATE TABLE t (d DATE, k INT, v STRING) USING delta {IN_BUCKETS} {bounded}")
    insert = "MERGE INTO t USING (SELECT 2 k) s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k)"
    for statement in (insert, "INSERT INTO t VALUES (NULL, 2, 'v')"):
        with pytest.raises(RowRefused, match="the row with d = NULL belongs to none") as error:
            spark.sql(statement)
        assert error.value.getSqlState() == "44000"
    months(spark, "open")
    spark.sql(insert.replace("INTO t", "INTO open t").replace("2 k", "200 k"))
    assert held(spark, "open") == {"p201701": 32, "p201702": 28, "p201703": 21}
