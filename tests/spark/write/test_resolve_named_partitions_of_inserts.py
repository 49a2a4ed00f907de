"""INSERT INTO t PARTITION (p): rows of the named range partitions only; Spark's own PARTITION clause stays Spark's."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.spark.ranged import IN_BUCKETS, MONTHS, held, months, properties, refused

HELD = {"p201701": 31, "p201702": 28, "p201703": 21}
COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}
INTERPRETED_CODE = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@pytest.mark.each_value
@pytest.mark.parametrize("code", [COMPILED, INTERPRETED_CODE], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("buckets", [IN_BUCKETS, ""], ids=["buckets", "plain"])
def test_rows_of_the_named_partitions_are_written_and_no_others(
    spark: SparkSession, db: str, buckets: str, code: dict[str, str]
) -> None:
    months(spark, buckets=buckets)
    for key, value in code.items():
        spark.conf.set(key, value)
    for statement in (
        "INSERT INTO t PARTITION (p201701) VALUES (DATE'2017-01-05', 1, 'n')",
        "INSERT INTO t PARTITION (P201702, `p201703`) (v, k, d) SELECT 'n', 1, DATE'2017-03-05'",
        "INSERT INTO TABLE t PARTITION (p201702) BY NAME SELECT 1 AS k, DATE'2017-02-05' AS d, 'n' AS v",
        "INSERT INTO t PARTITION p201703 SELECT d, k, 'n' FROM t WHERE d = '2017-03-03' AND v = 'v'",
        "INSERT INTO t PARTITIONS (p201701, p201702) VALUES ('2017-02-05', 1, 'n'), ('2017-01-31', 2L, 'n')",
    ):
        spark.sql(statement)
    written = {"p201701": 33, "p201702": 30, "p201703": 23}
    assert held(spark) == written
    for statement, row in {
        "INSERT INTO t PARTITION (p201701) VALUES ('2017-01-05', 1, 'n'), ('2017-02-01', 1, 'n')": "d = 2017-02-01",
        "INSERT INTO t PARTITION (p201701) (d, v) SELECT '2017-02-28', 'n'": "d = 2017-02-28",
        "INSERT INTO t PARTITION p201701 SELECT d, k, v FROM t": "d = 2017-0",
    }.items():
        error = refused(spark, statement)
        assert "RANGE_OTHER_PARTITION" in error
        assert f"Cannot write to partition p201701 [MIN_VALUE, 2017-02-01) of {db}.t: the row with {row}" in error
        assert "belongs to partition p20170" in error
    assert "partition p201702 [2017-02-01, 2017-03-01), partition p201703 [2017-03-01, 2017-04-01) of" in refused(
        spark, "INSERT INTO t PARTITION (p201702, p201703) VALUES ('2017-01-31', 1, 'n')"
    )
    assert "RANGE_NO_PARTITION" in refused(spark, "INSERT INTO t PARTITION (p201701) VALUES ('2019-01-01', 1, 'n')")
    assert held(spark) == written


def test_several_inserts_of_one_statement_have_their_own_partitions(spark: SparkSession, db: str) -> None:
    months(spark)
    spark.sql(
        "FROM (SELECT d, k, 'n' FROM t) INSERT INTO t PARTITION (p201701) SELECT * WHERE d < '2017-02-01' "
        "INSERT INTO t PARTITION (p201703) SELECT * WHERE d >= '2017-03-01'"
    )
    assert held(spark) == {"p201701": 62, "p201702": 28, "p201703": 42}
    spark.sql("INSERT INTO t VALUES (DATE'2017-02-05', 1, 'n')")
    assert held(spark)["p201702"] == 29


def test_what_can_not_be_named(spark: SparkSession, db: str) -> None:
    months(spark)
    for names in ("p201704", "p201701, k", "d"):
        error = refused(spark, f"INSERT INTO t PARTITION ({names}) VALUES (DATE'2017-01-05', 1, 'n')")
        assert f"[RANGE_PARTITION_UNKNOWN] There is no range partition {names.split(', ')[-1]} of {db}.t" in error
        assert "(partitions: p201701, p201702, p201703)" in error
    error = refused(spark, "INSERT INTO t PARTITION (p201701) (k, v) VALUES (1, 'n')")
    assert "RANGE_OTHER_PARTITION" in error or "RANGE_NO_PARTITION" in error
    assert held(spark) == HELD


def test_sparks_own_partition_clause_means_what_it_did(spark: SparkSession, db: str) -> None:
    columns = "d DATE, p201701 INT, v STRING"
    spark.sql(f"CREATE TABLE t ({columns}) USING delta PARTITIONED BY (p201701) {properties('d', MONTHS)}")
    spark.sql("CREATE TABLE u (k INT, p INT) USING delta PARTITIONED BY (p)")
    spark.sql("CREATE TABLE q (k INT, p INT) USING parquet PARTITIONED BY (p)")
    spark.sql("INSERT INTO t PARTITION (p201701) SELECT DATE'2017-02-05', 7, 'n'")
    spark.sql("INSERT INTO t PARTITION (p201701 = 8) SELECT DATE'2017-03-05', 'n'")
    assert held(spark) == {"p201702": 1, "p201703": 1}
    spark.sql("INSERT INTO u PARTITION (p) VALUES (1, 2)")
    spark.sql("INSERT INTO q PARTITION (p) VALUES (1, 2)")
    assert spark.table("u").collect() == spark.table("q").collect() == [(1, 2)]
    for statement in (
        "INSERT INTO u PARTITION (x) VALUES (1, 2)",
        "INSERT INTO q PARTITION (x) VALUES (1, 2)",
        "INSERT INTO t PARTITION (p201702 = 1) VALUES (DATE'2017-02-05', 7, 'n')",
        "INSERT INTO t PARTITION (p201701, p201702) VALUES (DATE'2017-02-05', 7, 'n')",
    ):
        with pytest.raises(AnalysisException) as error:
            spark.sql(statement)
        assert error.value.getCondition() in ("NON_PARTITION_COLUMN", "PARTITIONS_NOT_FOUND")
