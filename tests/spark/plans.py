"""Counts the nodes of executed plans, and what the executions of a block did."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tools.plans import each, kind, walk
from tools.stages import last_stage, stages_since

SHUFFLES = {"ShuffleExchangeExec"}
BROADCASTS = {"BroadcastExchangeExec"}


def nodes(df: DataFrame, run: bool = True) -> list[Any]:
    """The nodes of the executed plan. run: execute first, so that AQE's plan is the final one."""
    if run:
        df.collect()
    return list(walk(df._jdf.queryExecution().executedPlan()))


def kinds(df: DataFrame, run: bool = True) -> list[str]:
    return [kind(node) for node in nodes(df, run)]


def exchanges(df: DataFrame, run: bool = True) -> int:
    """Shuffles in the executed plan; an Exchange that is used twice counts once."""
    return sum(name in SHUFFLES for name in kinds(df, run))


def broadcasts(df: DataFrame, run: bool = True) -> int:
    return sum(name in BROADCASTS for name in kinds(df, run))


def join_kinds(df: DataFrame, run: bool = True) -> list[str]:
    """Class names of the joins, top down, such as ShuffledHashJoinExec."""
    return [name for name in kinds(df, run) if name.endswith("JoinExec")]


def rows_read(spark: SparkSession, sql: str) -> int:
    """Rows that a query's tasks read from files, those of tables' logs among them."""
    return sum(stage.inputRecords() for stage in _stages(spark, sql))


def rows_shuffled(spark: SparkSession, sql: str) -> int:
    """Rows that a query's tasks wrote for other tasks."""
    return sum(stage.shuffleWriteRecords() for stage in _stages(spark, sql))


def _stages(spark: SparkSession, sql: str) -> list[Any]:
    before = last_stage(spark)
    spark.sql(sql).collect()
    return stages_since(spark, before)


class Executions:
    """The SQL executions that a block ran, writes and MERGE among them, from Spark's own status store.

    with Executions(spark) as seen:
        spark.sql("MERGE INTO ...")
    seen.exchanges, seen.shuffle_bytes
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.node_names: list[str] = []
        self.shuffle_bytes = 0

    def __enter__(self) -> "Executions":
        self._ids = {execution.executionId() for execution in self._executions()}
        self._last = last_stage(self._spark)
        return self

    def __exit__(self, *_: object) -> None:
        store = self._spark._jsparkSession.sharedState().statusStore()
        for execution in self._executions():
            if execution.executionId() not in self._ids:
                graph = store.planGraph(execution.executionId())
                self.node_names += [str(node.name()) for node in each(graph.allNodes())]
        self.shuffle_bytes = sum(stage.shuffleWriteBytes() for stage in stages_since(self._spark, self._last))

    @property
    def exchanges(self) -> int:
        return sum(name == "Exchange" for name in self.node_names)

    def _executions(self) -> list[Any]:
        self._spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        return list(each(self._spark._jsparkSession.sharedState().statusStore().executionsList()))
