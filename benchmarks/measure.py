"""Runs one statement and tells what it cost: time, shuffle, spill, memory, and the plan's exchanges."""

import gc
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tools.plans import below, kind
from tools.stages import last_stage, stages_since

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Stage:
    """Where the time of one stage went: seconds are sums over its tasks, sizes in bytes.

    What seconds has and cpu has not, a task waited: for a disk, for other tasks, for garbage collection (gc).
    """

    tasks: int
    seconds: float
    cpu: float
    gc: float
    input_bytes: int
    shuffle_read_bytes: int
    shuffle_write_bytes: int
    shuffle_write_seconds: float
    output_bytes: int


@dataclass(frozen=True)
class Measured:
    """seconds: wall clock, planning included. All sizes in bytes.

    exchanges counts shuffles but those into one task (the last step of a global aggregate), planned_exchanges those of
    the plan that adaptive execution started from: it drops some when it sees an empty or a small side, and which ones
    depends on what was finished first. join_shuffle_bytes is what was written by the exchanges below a join;
    shuffle_bytes is everything. task_memory_bytes: the largest sum over the tasks of one stage of their peak execution
    memory. heap_bytes: peak of the JVM's heap, garbage included. tasks_at_host, tasks_elsewhere: tasks of scans that
    prefer hosts, those that ran on one and the others.
    """

    seconds: float
    exchanges: int = 0
    planned_exchanges: int = 0
    broadcasts: int = 0
    join_shuffle_bytes: int = 0
    shuffle_bytes: int = 0
    spill_bytes: int = 0
    input_bytes: int = 0
    task_memory_bytes: int = 0
    heap_bytes: int = 0
    joins: tuple[str, ...] = ()
    tasks_at_host: int = 0
    tasks_elsewhere: int = 0
    stages: tuple[Stage, ...] = ()
    rows: Rows = field(default_factory=list, repr=False, compare=False)

    def numbers(self) -> dict[str, Any]:
        """Everything but the rows, as JSON takes it."""
        return {key: value for key, value in asdict(self).items() if key != "rows"}


def measure(spark: SparkSession, sql: str) -> Measured:
    """Plans and runs `sql` once, collecting its rows. Commands (CTAS, MERGE) are measured as well."""
    gc.collect()
    last = last_stage(spark)
    heap = _HeapPeak(spark)
    started = time.perf_counter()
    df = spark.sql(sql)
    rows = [tuple(row) for row in df.collect()]
    seconds = time.perf_counter() - started
    fresh = stages_since(spark, last)
    return Measured(
        seconds=seconds,
        shuffle_bytes=sum(stage.shuffleWriteBytes() for stage in fresh),
        spill_bytes=sum(stage.diskBytesSpilled() for stage in fresh),
        input_bytes=sum(stage.inputBytes() for stage in fresh),
        task_memory_bytes=max((stage.peakExecutionMemory() for stage in fresh), default=0),
        heap_bytes=heap.bytes(),
        stages=tuple(_profile(stage) for stage in fresh),
        rows=rows,
        **_plan_facts(df),
    )


def _profile(stage: Any) -> Stage:
    return Stage(
        tasks=stage.numTasks(),
        seconds=stage.executorRunTime() / 1e3,
        cpu=stage.executorCpuTime() / 1e9,
        gc=stage.jvmGcTime() / 1e3,
        input_bytes=stage.inputBytes(),
        shuffle_read_bytes=stage.shuffleReadBytes(),
        shuffle_write_bytes=stage.shuffleWriteBytes(),
        shuffle_write_seconds=stage.shuffleWriteTime() / 1e9,
        output_bytes=stage.outputBytes(),
    )


def _plan_facts(df: DataFrame) -> dict[str, Any]:
    plan = df._jdf.queryExecution().executedPlan()
    facts, planned = _PlanFacts(), _PlanFacts()
    facts.visit(plan, False)
    planned.visit(plan.initialPlan() if kind(plan) == "AdaptiveSparkPlanExec" else plan, False)
    return {
        "exchanges": facts.exchanges,
        "planned_exchanges": planned.exchanges,
        "broadcasts": facts.broadcasts,
        "join_shuffle_bytes": facts.join_shuffle_bytes,
        "joins": tuple(facts.joins),
        "tasks_at_host": facts.scan_tasks["tasksAtHost"],
        "tasks_elsewhere": facts.scan_tasks["tasksElsewhere"],
    }


class _PlanFacts:
    def __init__(self) -> None:
        self.exchanges = self.broadcasts = self.join_shuffle_bytes = 0
        self.joins: list[str] = []
        self.scan_tasks = {"tasksAtHost": 0, "tasksElsewhere": 0}

    def visit(self, node: Any, under_join: bool) -> None:
        name = kind(node)
        if name == "ShuffleExchangeExec":
            self._count(node, under_join)
        self.broadcasts += name == "BroadcastExchangeExec"
        if name.endswith("JoinExec"):
            self.joins.append(name)
        for metric in self.scan_tasks if name == "ColocatedScanExec" else ():
            if node.metrics().contains(metric):
                self.scan_tasks[metric] += node.metrics().apply(metric).value()
        for child in below(node):
            self.visit(child, under_join or name.endswith("JoinExec"))

    def _count(self, exchange: Any, under_join: bool) -> None:
        self.exchanges += kind(exchange.outputPartitioning()) != "SinglePartition$"
        if under_join:
            self.join_shuffle_bytes += exchange.metrics().apply("shuffleBytesWritten").value()


class _HeapPeak:
    """Peak use of the heap's pools since this was made."""

    def __init__(self, spark: SparkSession) -> None:
        runtime = spark._jvm.java.lang.management.ManagementFactory  # type: ignore[union-attr]
        self._pools = [pool for pool in runtime.getMemoryPoolMXBeans() if pool.getType().name() == "HEAP"]
        spark._jvm.System.gc()  # type: ignore[union-attr]
        for pool in self._pools:
            pool.resetPeakUsage()

    def bytes(self) -> int:
        return sum(pool.getPeakUsage().getUsed() for pool in self._pools)
