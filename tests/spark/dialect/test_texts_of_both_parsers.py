"""Texts that Spark and Doris or StarRocks both read, and read something else in: what is done with each."""

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.ranged import MONTHS, properties

INTERPRETED = True


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    """t with 31, 28 and 21 rows in its partitions; own: no table of ours."""
    spark.sql("CREATE DATABASE both_parsers")
    spark.sql("USE both_parsers")
    spark.sql(f"CREATE TABLE t (d DATE, k INT) USING delta {properties('d', MONTHS)}")
    spark.sql("INSERT INTO t SELECT date_add(DATE'2017-01-01', CAST(id AS INT)), id FROM range(80)")
    spark.sql("CREATE TABLE own AS SELECT 1 AS k, 2 AS v")
    yield "both_parsers"
    spark.sql("DROP DATABASE both_parsers CASCADE")


# The text, what it is to Doris or StarRocks, and what comes of it: rows, or a part of the error.
DORIS_MEANING: dict[str, tuple[str, object]] = {
    "SELECT count(*) FROM t PARTITION(p201701, p201702)": ("the rows of two partitions", [(59,)]),
    "SELECT count(*) FROM t PARTITIONS(p201701)": ("the rows of a partition", [(31,)]),
    "SET enable_unique_key_partial_update = true": ("INSERT keeps other columns", "[DORIS_UNSUPPORTED] Cannot set"),
    "SET a = 1, sql_mode = 'ANSI_QUOTES'": ("two variables", "[DORIS_UNSUPPORTED] Cannot set sql_mode"),
    "SET SQL_MODE = 'ONLY_FULL_GROUP_BY'": ("what happens here anyway", [("SQL_MODE", "'ONLY_FULL_GROUP_BY'")]),
    "SET time_zone = 'Asia/Shanghai'": ("the session's time zone", "Write SET TIME ZONE"),
}
SPARK_MEANING: dict[str, tuple[str, object]] = {
    "SELECT PARTITION.b FROM own PARTITION(a, b)": ("no table with partitions", [(2,)]),
    "SELECT true || false": ("OR", [("truefalse",)]),
    "SELECT 'a' 'b'": ("'a', named b", [("ab",)]),
    "SELECT a.k FROM own TABLET(k, v), own a": ("no text: a tablet is a number", [(1,)]),
    "SELECT count(*) FROM t TABLESAMPLE (10 ROWS)": ("any ten rows", [(10,)]),
    "SELECT CAST(7 AS INT) / 2, 7 % 4, 5 ^ 1": ("the same", [(3.5, 3, 4)]),
    "SELECT * EXCEPT (v) FROM own": ("the same", [(1,)]),
    "SELECT CAST('x' AS INT)": ("NULL", "CAST_INVALID_INPUT"),
    "SET my.sql_mode = x": ("no variable", [("my.sql_mode", "x")]),
}
CASES = {**DORIS_MEANING, **SPARK_MEANING}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.every(3)
def test_the_meaning_of_a_text_of_both(spark: SparkSession, tables: str, text: str) -> None:
    _meaning, expected = CASES[text]
    if isinstance(expected, str):
        with pytest.raises(PySparkException) as error:
            spark.sql(text).collect()
        assert expected in str(error.value)
    else:
        assert [tuple(row) for row in spark.sql(text).collect()] == expected
