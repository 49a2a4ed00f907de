"""The on/off matrix: formats x join types x AQE, key types, and the shapes of queries that the layout serves."""

import itertools
import re
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import NATIVE, create_member, fill
from tests.spark.oracle import assert_no_exchange_with_and_without_aqe, compare
from tests.tiers.params import rest_slow

FORMATS = ("delta", "parquet", "orc")
PAIRS = list(itertools.combinations_with_replacement(FORMATS, 2))
JOINS = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")

# How a number `x` becomes a value of each legal key type.
KEY_TYPES = {
    "BOOLEAN": "x % 2 = 0",
    "TINYINT": "cast(x as tinyint)",
    "SMALLINT": "cast(x as smallint)",
    "INT": "cast(x as int)",
    "BIGINT": "x * 5000000000",
    "DECIMAL(10,2)": "cast(x / 4 as decimal(10,2))",
    "DECIMAL(30,4)": "cast(x / 4 as decimal(30,4))",
    "DATE": "date_add(DATE'2024-02-20', cast(x as int))",
    "TIMESTAMP": "timestamp_seconds(x * 40000)",
    "TIMESTAMP_NTZ": "cast(timestamp_seconds(x * 40000) as timestamp_ntz)",
    "BINARY": "cast(concat('b', x) as binary)",
    "STRING": "concat('key ', x)",
    "VARCHAR(12)": "concat('key ', x)",
}

# Queries that the layout serves. {l} and {r}: clustered by (k); {lp} and {rp}: clustered by (k, s).
SHAPES = {
    "keys that are a superset": "SELECT l.k, l.v, r.v FROM {l} l JOIN {r} r ON l.k = r.k AND l.s = r.s",
    "keys in another order": "SELECT l.v, r.v FROM {lp} l JOIN {rp} r ON l.s = r.s AND l.k = r.k",
    "two keys and more": "SELECT l.v, r.v FROM {lp} l JOIN {rp} r ON l.v = r.v AND l.s = r.s AND l.k = r.k",
    "a non-equi condition": "SELECT l.v, r.v FROM {l} l LEFT JOIN {r} r ON l.k = r.k AND l.v < r.v + 20",
    "using": "SELECT k, l.v, r.v FROM {l} l JOIN {r} r USING (k)",
    "views and aliases": "WITH a AS (SELECT k AS x, v AS y FROM {l}) SELECT x, y, v FROM a JOIN {r} ON x = k",
    "three tables": "SELECT a.v, b.v, c.v FROM {l} a JOIN {r} b ON a.k = b.k JOIN {l} c ON b.k = c.k AND c.v < 30",
    "three tables, outer": "SELECT a.v, b.v, c.v FROM {l} a LEFT JOIN {r} b ON a.k = b.k "
    "LEFT JOIN {l} c ON a.k = c.k AND c.v < 30",
    "a self-join": "SELECT a.v, b.v FROM {l} a JOIN {l} b ON a.k = b.k AND a.v < b.v JOIN {r} r ON r.k = a.k",
    "an aggregate above": "SELECT l.k, count(*), sum(r.v), count(DISTINCT r.s) FROM {l} l JOIN {r} r ON l.k = r.k "
    "GROUP BY l.k",
    "an aggregate below": "SELECT l.v, n, t FROM {l} l JOIN (SELECT k, count(*) n, sum(v) t FROM {r} GROUP BY k) r "
    "ON l.k = r.k",
    "an aggregate with a filter": "SELECT l.k, count(*) FILTER (WHERE r.v % 2 = 0) n, min(l.s) FROM {l} l "
    "JOIN {r} r ON l.k = r.k GROUP BY l.k HAVING count(*) > 1",
    "distinct on more columns": "SELECT DISTINCT l.k, l.s FROM {l} l JOIN {r} r ON l.k = r.k",
    "a window": "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) n FROM "
    "(SELECT l.k, l.v FROM {l} l LEFT SEMI JOIN {r} r ON l.k = r.k)",
    "a window on more columns": "SELECT l.k, "
    " sum(r.v) OVER (PARTITION BY l.k, l.s) n FROM {l} l JOIN {r} r ON l.k = r.k",
    "exists": "SELECT k, v FROM {l} l WHERE EXISTS (SELECT 1 FROM {r} r WHERE r.k = l.k AND r.v > l.v)",
    "not exists": "SELECT k, v FROM {l} l WHERE NOT EXISTS (SELECT 1 FROM {r} r WHERE r.k = l.k AND r.v > l.v + 20)",
    "exists or a condition": "SELECT k, v FROM {l} l WHERE l.v = 3 OR EXISTS (SELECT 1 FROM {r} r WHERE r.k = l.k)",
    "in": "SELECT k, v FROM {l} WHERE k IN (SELECT k FROM {r} WHERE v % 2 = 0)",
    "a correlated scalar": "SELECT k, v FROM {l} l WHERE v > (SELECT avg(v) FROM {r} r WHERE r.k = l.k)",
    "a subquery in from": "SELECT x.k, n FROM "
    "(SELECT l.k, count(*) n FROM {l} l JOIN {r} r ON l.k = r.k GROUP BY l.k) x "
    "LEFT ANTI JOIN {r} y ON x.k = y.k AND y.v > 55",
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    """A database with the members l, r, lp, rp of each format: 60 rows, null keys, buckets without rows."""
    spark.sql("CREATE DATABASE oracle")
    spark.sql("USE oracle")
    rows = "SELECT if(id % 9 = 0, NULL, cast(id % 13 as int)), concat('s', id % 3), id FROM range({start}, {end})"
    for provider in FORMATS:
        for name, keys, group in (("l", "k", "g"), ("r", "k", "g"), ("lp", "k,s", "g2"), ("rp", "k,s", "g2")):
            table = f"{name}_{provider}"
            create_member(spark, table, "k INT, s STRING, v BIGINT", keys.split(","), 4, provider, group)
            start = 0 if name[0] == "l" else 7
            fill(spark, table, rows.format(start=start, end=start + 60), ["k", "s", "v"])
    spark.sql("USE default")
    yield "oracle"
    spark.sql("DROP DATABASE oracle CASCADE")


@pytest.fixture
def shuffling(spark: SparkSession, tables: str, request: pytest.FixtureRequest) -> None:
    """No broadcasts, and codegen off: tiny queries spend most of their time in the compiler."""
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")


def _group(left: str, right: str, group: str = "g") -> str | None:
    """Stock Spark joins native buckets without an Exchange too, so only the flag makes their fallback shuffle."""
    return f"oracle.{group}" if {left, right} <= set(NATIVE) else None


@pytest.mark.pairs
@pytest.mark.usefixtures("shuffling")
@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_a_join_has_no_exchange(spark: SparkSession, left: str, right: str, join: str) -> None:
    columns = "l.k, l.s, l.v" if join in ("LEFT SEMI", "LEFT ANTI") else "l.k, l.v, r.k, r.s, r.v"
    sql = f"SELECT {columns} FROM l_{left} l {join} JOIN r_{right} r ON l.k = r.k"
    assert_no_exchange_with_and_without_aqe(spark, sql, _group(left, right))


@pytest.mark.each_value
@pytest.mark.usefixtures("shuffling")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("left", "right"), [("delta", "delta"), ("delta", "parquet"), ("parquet", "orc")])
def test_the_layout_serves(spark: SparkSession, left: str, right: str, shape: str) -> None:
    names = {"l": f"l_{left}", "r": f"r_{right}", "lp": f"lp_{left}", "rp": f"rp_{right}"}
    group = "g2" if "{lp}" in SHAPES[shape] else "g"
    assert_no_exchange_with_and_without_aqe(spark, SHAPES[shape].format(**names), _group(left, right, group))


@pytest.mark.usefixtures("shuffling")
@pytest.mark.parametrize(
    "key_type",
    rest_slow(
        KEY_TYPES,
        "BOOLEAN",
        "TINYINT",
        "BIGINT",
        "DECIMAL(10,2)",
        "DECIMAL(30,4)",
        "TIMESTAMP",
        "BINARY",
        "VARCHAR(12)",
    ),
)
def test_a_key_of_each_legal_type_is_colocated_across_formats(spark: SparkSession, key_type: str) -> None:
    value, word = KEY_TYPES[key_type], re.sub(r"\W+", "_", key_type.lower())
    for side, provider, rows in (("l", "delta", 40), ("r", "parquet", 30)):
        table = f"{side}_{word}"
        create_member(spark, table, f"k {key_type}, v BIGINT", ["k"], 4, provider, f"g_{word}")
        numbers = f"SELECT id, id % 11 x FROM range({rows})"
        fill(spark, table, f"SELECT if(id % 7 = 0, NULL, {value}), id FROM ({numbers})", "kv")
    assert_no_exchange_with_and_without_aqe(spark, f"SELECT l.k, l.v, r.v FROM l_{word} l JOIN r_{word} r ON l.k = r.k")
    assert_no_exchange_with_and_without_aqe(spark, f"SELECT k, count(*), max(v) FROM l_{word} GROUP BY k")
    several = [re.sub(r"\bx\b", str(number), f"({value})") for number in range(11)]
    listed = f"{several[5]}, {several[8]}", f"{', '.join(several)}, NULL"
    asked = (f"= {several[3]}", f"<=> {several[4]}", *(f"IN ({one})" for one in listed))
    points = [f"SELECT '{n}', k, v FROM {side}_{word} WHERE k {one}" for n, one in enumerate(asked) for side in "lr"]
    rows = compare(spark, " UNION ALL ".join(points)).on.rows
    assert rows is not None
    assert {row[0] for row in rows} == {"0", "1", "2", "3"}
