"""A query that is run again has the same generated code: Spark then finds it compiled, and the JVM has optimized it."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database
from tests.spark.plans import kinds

FUNCTIONS = {"a": "SUM", "b": "MIN", "c": "MAX", "d": "REPLACE", "e": "REPLACE_IF_NOT_NULL", "s": "MAX"}
VALUES = ", ".join(FUNCTIONS)

# The operator that has code of ours, and a query that gets it.
QUERIES = {
    "MergeFilesExec": f"SELECT k, {VALUES} FROM totals",
    "AnyTypeHashAggregateExec": "SELECT k, max(s), min(s), max_by(b, s), max_by(c, d), sum(e) FROM lines GROUP BY k",
    "AggregateRunsExec": "SELECT k, sum(a), min(b), max(c), count(d), avg(e) FROM lines GROUP BY k",
    "BucketHashJoinExec": "SELECT l.k, l.a, r.b, r.s FROM lines l LEFT JOIN small r ON l.k = r.k AND l.b < r.c",
}


def make_tables(spark: SparkSession) -> None:
    columns = "k BIGINT, a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT, s STRING"
    functions = ", ".join(f'"{column}": "{function}"' for column, function in FUNCTIONS.items())
    model = {"key_model": "aggregate", "key_columns": "k", "value_aggregates": f"{{{functions}}}"}
    create_member(spark, "totals", columns, ["k"], 2, properties=model)
    for name in ("lines", "small"):
        create_member(spark, name, columns, ["k"], 2)
    for name, rows in (("totals", 400), ("totals", 600), ("lines", 5000), ("small", 200)):
        spark.sql(f"INSERT INTO {name} SELECT id div 3, id, -id, id % 7, id % 5, id % 3, 's' || id FROM range({rows})")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "compiled", make_tables)


@pytest.fixture
def session(spark: SparkSession, tables: str) -> SparkSession:
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    return spark


def compiled(spark: SparkSession) -> int:
    """How many classes Spark has compiled in this JVM."""
    metrics = getattr(spark._jvm.org.apache.spark.metrics.source, "CodegenMetrics$")
    return int(getattr(metrics, "MODULE$").METRIC_COMPILATION_TIME().getCount())


@pytest.mark.parametrize("operator", QUERIES)
def test_the_same_query_is_compiled_once(session: SparkSession, operator: str) -> None:
    assert operator in kinds(session.sql(QUERIES[operator]))
    session.sql(QUERIES[operator]).collect()
    before = compiled(session)
    for _ in range(8):
        session.sql(QUERIES[operator]).collect()
    assert compiled(session) == before
