"""The build side of our own hash join: the rows of a key stay the same ones, wherever they are put."""

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

KEYS = 100
ROWS = 30_000  # 1 MB in 2 MB of pages, and 0.4 MB of slots
ENOUGH = 64 << 20
TOO_LITTLE = 3 << 20  # for the rows, but not for a second copy of them
LOOKUPS = 400  # of 300 rows each: more than the table waits for


@pytest.fixture
def manager(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Any]:
    """A task's memory, of so many bytes."""
    jvm: Any = spark._jvm
    conf = spark.sparkContext._jsc.sc().conf()
    whole = jvm.org.apache.spark.memory.UnifiedMemoryManager(conf, request.param, 0, 1)
    task = jvm.org.apache.spark.memory.TaskMemoryManager(whole, 0)
    yield task
    assert task.cleanUpAllAllocatedMemory() == 0, "not all memory was given back"


def table_of(spark: SparkSession, memory: Any) -> Any:
    """v = 0 to ROWS - 1 by k = v % KEYS, so that rows of a key are far from each other."""
    jvm: Any = spark._jvm
    rows = spark.range(0, ROWS, 1, 1).selectExpr(f"id % {KEYS} AS k", "id AS v")
    long = jvm.org.apache.spark.sql.types.DataTypes.LongType
    key = jvm.org.apache.spark.sql.catalyst.expressions.BoundReference(0, long, False)
    tables = jvm.org.apache.spark.sql.execution.joins.colocate.LongKeyTable
    every = getattr(getattr(tables, "Every$"), "MODULE$")
    return tables.build(rows._jdf.queryExecution().executedPlan().executeToIterator(), key, 2, every, memory)


def values(rows: Any) -> list[int]:
    found = []
    while rows.hasNext():
        found.append(rows.next().getLong(1))
    return found


@pytest.mark.parametrize(("manager", "gathers"), [(ENOUGH, True), (TOO_LITTLE, False)], indirect=["manager"])
def test_rows_that_were_marked_stay_marked_and_no_row_is_lost(spark: SparkSession, manager: Any, gathers: bool) -> None:
    table = table_of(spark, manager)
    for key in range(KEYS - 1):
        table.get(key).next()
        table.mark()
    used = table.getUsed()
    assert not table.isGathered()
    assert [table.get(at % KEYS).size() for at in range(LOOKUPS)] == [ROWS // KEYS] * LOOKUPS
    assert table.get(KEYS) is None
    assert table.isGathered() == gathers
    assert (table.getUsed() == used) or gathers
    for key in (0, 57, KEYS - 1):
        assert sorted(values(table.get(key))) == list(range(key, ROWS, KEYS))
    left = table.unmarked().size()
    table.close()
    assert left == ROWS - (KEYS - 1)
