"""Structs, arrays and maps with FLOAT and DOUBLE as keys of everything: Spark rewrites them to compare -0.0 and NaN."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database
from tests.spark.oracle import compare
from tests.tiers.params import rest_slow

INTERPRETED = True

# A type, and the SQL of a value made of the double d and the text t.
VALUES = {
    "STRUCT<x: DOUBLE, y: STRING>": "named_struct('x', d, 'y', t)",
    "STRUCT<a: STRUCT<x: FLOAT, y: STRING>, z: DOUBLE>": (
        "named_struct('a', named_struct('x', cast(d AS FLOAT), 'y', t), 'z', d)"
    ),
    "ARRAY<DOUBLE>": "array(d, -d)",
    "ARRAY<STRUCT<x: DOUBLE, y: ARRAY<FLOAT>>>": "array(named_struct('x', d, 'y', array(cast(d AS FLOAT))))",
    "MAP<STRING, DOUBLE>": "map(t, d)",
    "STRUCT<m: MAP<STRING, STRUCT<x: DOUBLE>>>": "named_struct('m', map(t, named_struct('x', d)))",
}
GROUPED = [
    "SELECT k, s, count(*) FROM {a} GROUP BY k, s",
    "SELECT s, v % 2, count(*), sum(v) FROM {a} GROUP BY s, v % 2",
    "SELECT s, count(DISTINCT k), count(DISTINCT v) FROM {a} GROUP BY s",
]
# Spark refuses them for maps.
COMPARED = [
    "SELECT DISTINCT s FROM {a}",
    "SELECT DISTINCT s FROM (SELECT DISTINCT k, s FROM {a})",
    "SELECT k, v, row_number() OVER (PARTITION BY s ORDER BY v) FROM {a}",
    "SELECT k, sum(v) OVER (PARTITION BY k, s) FROM {a}",
    "SELECT a.v, b.v FROM {a} a JOIN {b} b ON a.s = b.s AND a.k = b.k",
    "SELECT a.v, b.v FROM {a} a LEFT JOIN {b} b ON a.s = b.s",
    "SELECT x.s, b.v FROM (SELECT DISTINCT k, s FROM {a}) x JOIN {b} b ON x.s = b.s AND x.k = b.k",
    "SELECT /*+ BROADCAST(x) */ b.v FROM (SELECT s, max(k) AS k FROM {a} GROUP BY s) x "
    "JOIN {b} b ON x.k = b.k AND x.s = b.s",
    "SELECT s FROM {a} EXCEPT SELECT s FROM {b} WHERE v % 4 = 3",
    "SELECT k, s FROM {a} INTERSECT SELECT k, s FROM {b}",
    "SELECT s, k, count(*) FROM {a} GROUP BY GROUPING SETS ((s, k), (k))",
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "nested_keys", _make)


def _make(spark: SparkSession) -> None:
    for number, (declared, value) in enumerate(VALUES.items()):
        for name, provider in ((f"a{number}", "delta"), (f"b{number}", "parquet")):
            create_member(spark, name, f"k BIGINT, v INT, s {declared}", ["k"], 4, provider)
            spark.sql(
                f"INSERT INTO {name} SELECT k, v, {value} FROM (SELECT id % 5 AS k, cast(id AS INT) AS v, "
                "CASE id % 4 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D ELSE 1.5D END AS d, "
                "if(id % 3 = 0, 'x', 'y') AS t FROM range(24))"
            )


@pytest.mark.parametrize("number", rest_slow(range(len(VALUES)), 0, 3, 5), ids=list(VALUES))
def test_keys_of_everything(session: SparkSession, number: int) -> None:
    for sql in GROUPED + ([] if "MAP" in list(VALUES)[number] else COMPARED):
        assert compare(session, sql.format(a=f"a{number}", b=f"b{number}")).on.rows, sql


def test_without_adaptive_execution(session: SparkSession) -> None:
    session.conf.set("spark.sql.adaptive.enabled", "false")
    test_keys_of_everything(session, 1)
