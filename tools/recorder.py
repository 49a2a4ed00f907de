"""Records every plan that one statement executes, those that MERGE, UPDATE and DELETE run inside themselves among them.

with Recorder(spark) as seen:
    spark.sql("MERGE INTO ...")
seen.data           # the plans that read or write table data, in order; Delta's own work on its log is in seen.log
seen.exchanges      # shuffles in the data plans
print(seen)         # every plan, one node per line: for a person who wants to know what happened
"""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from pyspark.sql import SparkSession

from tools.plans import each

# Executions to look back on: more than any one statement makes.
_NEWEST = 60
_LOG_WORDS = ("_delta_log", "Delta Table State", "DeltaLog", "checkpoint")


@dataclass(frozen=True)
class Node:
    """One operator: its name (`Exchange`, `ColocatedScan db.t`) and its one-line description."""

    name: str
    text: str

    def is_a(self, *names: str) -> bool:
        return self.name in names


@dataclass(frozen=True)
class RecordedPlan:
    """The final plan (AQE's last one) of one SQL execution, what its stages wrote for shuffles, its tasks and time."""

    execution: int
    title: str
    nodes: list[Node]
    shuffle_bytes: int = 0
    tasks: int = 0
    seconds: float = 0.0

    def count(self, *names: str) -> int:
        return sum(node.is_a(*names) for node in self.nodes)

    @property
    def exchanges(self) -> int:
        return self.count("Exchange")

    @property
    def is_log_work(self) -> bool:
        """Delta reading its own log and file lists: no scan of a table's files in it."""
        scans = [n for n in self.nodes if n.name.startswith(("Scan ", "ColocatedScan"))]
        files = [n for n in scans if "FileScan" in n.text or n.name.startswith("ColocatedScan")]
        return not files or all(any(word in n.text for word in _LOG_WORDS) for n in files)

    def __str__(self) -> str:
        head = f"-- {self.execution} {self.title} ({self.exchanges} exchanges, {self.shuffle_bytes} shuffle bytes)"
        return "\n".join([head, *(f"   {node.name}: {node.text[:300]}" for node in self.nodes)])


@dataclass
class Recorder:
    """Context manager over Spark's own SQL status store, so that nothing has to be registered."""

    spark: SparkSession
    plans: list[RecordedPlan] = field(default_factory=list)

    def __enter__(self) -> "Recorder":
        self._last = max((int(execution.executionId()) for execution in self._newest()), default=-1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        fresh = [execution for execution in self._newest() if int(execution.executionId()) > self._last]
        self.plans = [self._record(execution) for execution in fresh]

    @property
    def data(self) -> list[RecordedPlan]:
        return [plan for plan in self.plans if not plan.is_log_work]

    @property
    def log(self) -> list[RecordedPlan]:
        return [plan for plan in self.plans if plan.is_log_work]

    @property
    def exchanges(self) -> int:
        return sum(plan.exchanges for plan in self.data)

    @property
    def shuffle_bytes(self) -> int:
        return sum(plan.shuffle_bytes for plan in self.data)

    def count(self, *names: str) -> int:
        """Operators of these names in the data plans."""
        return sum(plan.count(*names) for plan in self.data)

    def __str__(self) -> str:
        return "\n".join(str(plan) for plan in self.data)

    def _newest(self) -> list[Any]:
        """The newest executions in order: each one costs calls into the JVM, and one statement makes few."""
        self.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        store = self._store()
        return list(each(store.executionsList(max(0, int(store.executionsCount()) - _NEWEST), _NEWEST)))

    def _store(self) -> Any:
        return self.spark._jsparkSession.sharedState().statusStore()

    def _record(self, execution: Any) -> RecordedPlan:
        graph = self._store().planGraph(execution.executionId())
        ran = [attempt for stage in each(execution.stages().toSeq()) for attempt in self._attempts(int(stage))]
        return RecordedPlan(
            int(execution.executionId()),
            (str(execution.description()).splitlines() or [""])[0][:80],
            [Node(str(n.name()), str(n.desc())) for n in each(graph.allNodes())],
            sum(int(stage.shuffleWriteBytes()) for stage in ran),
            sum(int(stage.numTasks()) for stage in ran),
            _seconds(execution),
        )

    def _attempts(self, stage: int) -> list[Any]:
        store = self.spark.sparkContext._jsc.sc().statusStore()
        defaults = [getattr(store, f"stageData$default${n}")() for n in (3, 4, 5)]
        return list(each(store.stageData(stage, False, *defaults)))


def _seconds(execution: Any) -> float:
    """Wall clock of an execution, planning excluded; 0 while it has not ended."""
    ended = execution.completionTime()
    return (ended.get().getTime() - execution.submissionTime()) / 1000 if ended.isDefined() else 0.0
