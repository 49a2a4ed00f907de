"""The on/off oracle: one query with colocation and without, the Exchanges of both counted, their rows compared.

Of each plan, the verdicts must be what its Exchanges say.
"""

import math
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.exchanges import assert_true_verdicts
from tests.spark.members import switched_off, unstable
from tests.spark.plans import SHUFFLES, nodes
from tests.spark.plans import kind as kind_of
from tests.spark.sessions import PLANTED_BUG

COLOCATED_SCAN = "ColocatedScanExec"
Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Outcome:
    """What one run of a query gave. rows: a multiset, None when the query failed; error: its condition or text."""

    rows: Rows | None
    error: str | None
    kinds: tuple[str, ...]

    @property
    def exchanges(self) -> int:
        return sum(kind in SHUFFLES for kind in self.kinds)

    @property
    def colocated(self) -> bool:
        return any(kind.startswith("Colocated") for kind in self.kinds)


@dataclass(frozen=True)
class Pair:
    on: Outcome
    off: Outcome


def compare(spark: SparkSession, sql: str, group: str | None = None) -> Pair:
    """Runs `sql` colocated and fallen back, and asserts equal rows (or equal errors) and that the switch really acted.

    group: full name of the group to mark unstable for the fallback. None: `SET disable_colocate_join`, which leaves
    native bucketing as stock Spark has it.
    """
    on = run(spark, sql)
    with _fallback(spark, group):
        off = run(spark, sql)
    assert not off.colocated, f"the switch did not act: {off.kinds}\n{sql}"
    return _equal(on, off, sql)


def _equal(on: Outcome, off: Outcome, sql: str) -> Pair:
    assert on.error == off.error, f"errors differ: {on.error} and {off.error}\n{sql}"
    assert on.rows == off.rows, difference(on.rows, off.rows, sql)
    return Pair(on, off)


def assert_no_exchange(spark: SparkSession, sql: str, group: str | None = None) -> Pair:
    """As compare, for a query that the layout serves: 0 Exchanges on, at least one in the fallback, and some rows."""
    return _served(compare(spark, sql, group), sql)


def assert_no_exchange_with_and_without_aqe(spark: SparkSession, sql: str, group: str | None = None) -> None:
    """As assert_no_exchange, twice. The fallback is run once, without: its rows are the same."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    pair = assert_no_exchange(spark, sql, group)
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    _served(_equal(run(spark, sql), pair.off, sql), sql)


def _served(pair: Pair, sql: str) -> Pair:
    assert pair.on.colocated, f"no colocated scan: {pair.on.kinds}\n{sql}"
    assert pair.on.exchanges == 0, f"{pair.on.exchanges} Exchanges: {pair.on.kinds}\n{sql}"
    assert pair.off.exchanges > 0, f"no Exchange in the fallback: {pair.off.kinds}\n{sql}"
    assert pair.on.rows, f"no rows\n{sql}"
    return pair


def assert_exchanges(spark: SparkSession, sql: str, left: int) -> Pair:
    """As compare, for a query that the layout serves in part: so many Exchanges are left, and there are some rows."""
    pair = compare(spark, sql)
    assert pair.on.colocated, f"no colocated scan: {pair.on.kinds}\n{sql}"
    assert pair.on.exchanges == left, f"{pair.on.exchanges} Exchanges, not {left}: {pair.on.kinds}\n{sql}"
    assert pair.on.rows, f"no rows\n{sql}"
    return pair


def assert_exchange(spark: SparkSession, sql: str, group: str | None = None) -> Pair:
    """As compare, for a query that the layout must not serve: an Exchange remains, and there are rows to compare."""
    pair = compare(spark, sql, group)
    assert pair.on.exchanges > 0, f"no Exchange: {pair.on.kinds}\n{sql}"
    assert pair.on.rows, f"no rows\n{sql}"
    return pair


def run(spark: SparkSession, sql: str) -> Outcome:
    try:
        df = spark.sql(sql)
        rows = multiset(df.collect())
    except PySparkException as error:
        return Outcome(None, error.getCondition() or str(error).splitlines()[0], ())
    if spark.conf.get(PLANTED_BUG, None) is None:  # a wrong planner's verdicts are wrong, too
        assert_true_verdicts(df)
    return Outcome(rows, None, tuple(kind_of(node) for node in nodes(df, run=False)))


def multiset(rows: list[Any]) -> Rows:
    return Counter(tuple(plain(value) for value in row) for row in rows)


def plain(value: Any) -> Any:
    """A value that can be hashed and compared across engines."""
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((plain(key), plain(item)) for key, item in value.items()))
    if isinstance(value, float) and math.isnan(value):
        return "NaN"  # which is equal to itself
    return value


def difference(on: Rows | None, off: Rows | None, sql: str) -> str:
    on, off = on or Counter(), off or Counter()
    lost, made = list((off - on).items())[:5], list((on - off).items())[:5]
    return f"{on.total()} rows on, {off.total()} off; lost {lost}, made {made}\n{sql}"


def _fallback(spark: SparkSession, group: str | None) -> AbstractContextManager[None]:
    return switched_off(spark) if group is None else unstable(spark, group)
