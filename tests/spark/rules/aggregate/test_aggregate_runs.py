"""Rows that follow others of their group are summed up before the group is looked up; the result is stock Spark's."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare

RUNS = "AggregateRunsExec"
COLUMNS = (
    "k BIGINT, i INT, d DATE, t TIMESTAMP, b BOOLEAN, small SMALLINT, price DECIMAL(12, 2), wide DECIMAL(38, 4), "
    "x BIGINT, s STRING, f DOUBLE"
)
NAMES = ["k", "i", "d", "t", "b", "small", "price", "wide", "x", "s", "f"]
FUNCTIONS = (
    "count(*), count(x), sum(x), sum(price), sum(wide), avg(price), avg(x), min(x), max(i), min(d), max(t), "
    "bool_and(b), bit_xor(x), cast(stddev_pop(small) AS DECIMAL(20, 6)), count_if(x % 2 = 0)"
)


def values(key: str) -> str:
    """Rows of `id`: every column with nulls of its own, so that no null hides behind another one."""
    return (
        f"SELECT {key}, if(id % 5 = 0, null, cast(id % 3 AS INT)), if(id % 7 = 0, null, date_add(date '2020-01-01', "
        "cast(id % 2 AS INT))), if(id % 6 = 0, null, timestamp '2020-01-01' + make_interval(0, 0, 0, "
        "cast(id % 2 AS INT))), if(id % 4 = 0, null, id % 3 = 0), cast(id % 100 AS SMALLINT), "
        "if(id % 9 = 0, null, id / 4), if(id % 8 = 0, null, id * 12345678901234.5678), if(id % 3 = 0, null, id - 500), "
        "cast(id % 4 AS STRING), if(id % 3 = 0, -0D, 0D)"
    )


def make_tables(spark: SparkSession) -> None:
    """lines: keys in runs, some again later, some null; mixed: no two neighbours of one key; heads: one row a key."""
    for name, key, rows in (
        ("lines", "if(id % 40 < 6, null, (id % 700) div 4)", 1000),
        ("mixed", "id * 37 % 101", 600),
        ("heads", "id", 150),
        ("empty", "id", 0),
    ):
        create_member(spark, name, COLUMNS, ["k"], 2)
        fill(spark, name, f"{values(key)} FROM range(0, {rows}, 1, 1)", NAMES)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "runs", make_tables)


SERVED = {
    "runs": f"SELECT k, {FUNCTIONS} FROM lines GROUP BY k",
    "no_runs": f"SELECT k, {FUNCTIONS} FROM mixed GROUP BY k",
    "more_keys": "SELECT k, i, d, t, b, small, count(*), sum(x) FROM lines GROUP BY k, i, d, t, b, small",
    "keys_alone_are_shown": "SELECT k FROM lines GROUP BY k HAVING sum(x) > 10",
    "expression_of_both": "SELECT k + 1, sum(x) / count(*) + k FROM lines GROUP BY k",
    "filtered_rows": "SELECT k, count(*), sum(price) FROM lines WHERE x % 3 <> 1 GROUP BY k",
    "above_a_join": "SELECT l.k, count(*), sum(l.x), sum(h.x) FROM lines l JOIN heads h ON l.k = h.k GROUP BY l.k",
    "above_an_outer_join": "SELECT h.k, count(*), sum(l.x) FROM lines l LEFT JOIN heads h ON l.k = h.k AND h.x > 0 "
    "WHERE l.k IS NOT NULL GROUP BY h.k, l.k",
    "below_a_join": "SELECT h.x, q.n FROM heads h JOIN (SELECT k, count(*) n FROM lines GROUP BY k) q ON h.k = q.k",
    "in_subquery": "SELECT x FROM heads WHERE k IN (SELECT k FROM lines GROUP BY k HAVING sum(x) > 0)",
}


@pytest.mark.each_value
@pytest.mark.parametrize("generated", [True, False])
@pytest.mark.parametrize("name", SERVED)
@pytest.mark.every(3)
def test_an_aggregate_in_one_step_reads_runs(session: SparkSession, name: str, generated: bool) -> None:
    session.conf.set("spark.sql.codegen.wholeStage", str(generated).lower())
    pair = compare(session, SERVED[name])
    assert pair.on.rows
    assert RUNS in pair.on.kinds
    assert pair.on.exchanges == 0


def test_runs_meet_in_sorted_buffers_when_memory_is_short(session: SparkSession) -> None:
    session.conf.set("spark.sql.TungstenAggregate.testFallbackStartsAt", "2,3")
    assert RUNS in compare(session, SERVED["runs"]).on.kinds


def test_no_rows_make_no_run(session: SparkSession) -> None:
    pair = compare(session, "SELECT k, count(*), sum(x) FROM empty GROUP BY k")
    assert not pair.on.rows
    assert RUNS in pair.on.kinds


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, s, count(*) FROM lines GROUP BY k, s",  # a text points into the row that was read
        "SELECT k, f, count(*) FROM lines GROUP BY k, f",  # 0.0 and -0.0 are one group
        "SELECT k, count(*) FILTER (WHERE x > 0) FROM lines GROUP BY k",
        "SELECT k, count(DISTINCT i), sum(x) FROM lines GROUP BY k",
        "SELECT k, sort_array(collect_set(i)) FROM lines GROUP BY k",
        "SELECT DISTINCT k FROM lines",
        "SELECT i, count(*) FROM lines GROUP BY i",
    ],
)
@pytest.mark.every(3)
def test_other_aggregates_stay_as_they_are(session: SparkSession, sql: str) -> None:
    assert RUNS not in compare(session, sql).on.kinds


def test_the_first_and_the_last_row_of_a_group_stay_the_first_and_the_last(session: SparkSession) -> None:
    """Which they are depends on the order of the rows, so within one file: there it is the order in which they lie."""
    sql = "SELECT k, first(x), last(x), first(x, true), any_value(x) FROM lines WHERE k < 100 GROUP BY k"
    assert RUNS in compare(session, sql).on.kinds
