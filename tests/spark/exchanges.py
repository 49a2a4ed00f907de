"""The truth about verdicts, read off a plan's Exchanges. Shares no code with what computes the verdicts in the JVM."""

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame

from tools.plans import STAGES, each

WRAPPERS = {"WholeStageCodegenExec", "InputAdapter", "AQEShuffleReadExec", "JoinInputExec"}
# These look into what stands elsewhere in the plan.
REUSES = {"ReusedExchangeExec", "ReusedSubqueryExec", "SubqueryAdaptiveBroadcastExec", "ValuesOfBuildSide"}
BROADCAST_JOINS = {"BroadcastHashJoinExec", "BroadcastNestedLoopJoinExec"}
KEYED_JOINS = {"SortMergeJoinExec", "ShuffledHashJoinExec", "BucketHashJoinExec"}
JOINS = BROADCAST_JOINS | KEYED_JOINS | {"CartesianProductExec"}
AGGREGATES = {
    "HashAggregateExec", "ObjectHashAggregateExec", "SortAggregateExec", "AnyTypeHashAggregateExec",
    "MergingSessionsExec",
}  # fmt: skip
WINDOWS = {"WindowExec", "ArrowWindowPythonExec"}
# All rows come to one task through a shuffle that is no node.
GATHER = {"TakeOrderedAndProjectExec", "CollectLimitExec", "CollectTailExec", "GatherOnDriverExec"}


class Node:
    """One operator of a plan; what only carries another one is left out."""

    def __init__(self, java: Any) -> None:
        self.java, self.reused = java, False
        self.kind = _kind(java)
        while (inner := self._carried()) is not None:
            self.java, self.kind = inner, _kind(inner)

    def _carried(self) -> Any:
        if self.kind == "AdaptiveSparkPlanExec":
            return self.java.executedPlan()
        if self.kind in STAGES:
            return self.java.plan()
        if self.kind == "CommandResultExec":
            return self.java.commandPhysicalPlan()
        if self.kind in REUSES:
            self.reused = True
        return self.java.child() if self.kind in WRAPPERS | {"ReusedExchangeExec"} else None

    @cached_property
    def children(self) -> "list[Node]":
        return [Node(child) for child in each(self.java.children())]

    def operators(self) -> "Iterator[Node]":
        """Top down; what is used twice is listed where it is computed, or where it is used first if it is nowhere else:
        adaptive execution drops a side of a join that need not be read, and with it what another side uses again."""
        computed = [node.java.canonicalized() for node in self._walk(None) if node.kind.endswith("ExchangeExec")]
        return self._walk(computed)

    def _walk(self, computed: "list[Any] | None") -> "Iterator[Node]":
        if self.reused:
            if computed is None or not self.kind.endswith("ExchangeExec"):
                return
            same = self.java.canonicalized()
            if any(same.equals(one) for one in computed):
                return
            computed.append(same)
        yield self
        for child in self.children:
            yield from child._walk(computed)
        for subquery in each(self.java.subqueries()):
            yield from Node(subquery)._walk(computed)

    @cached_property
    def touches_member(self) -> bool:
        return any(child.touches_member for child in self.children) if self.children else _is_member(self)

    @cached_property
    def is_broadcast(self) -> bool:
        return self.kind == "BroadcastExchangeExec"

    @cached_property
    def in_place(self) -> bool:
        """No Exchange between these rows and the files of a table that they come from."""
        if self.kind.endswith("ExchangeExec") or self.kind in GATHER:
            return False
        if self.kind in BROADCAST_JOINS:
            return all(child.in_place for child in self.children if not child.is_broadcast)
        found = [child.in_place for child in self.children]
        return any(found) if len(found) == 2 and self.kind != "UnionExec" else all(found)

    @property
    def verdict(self) -> tuple[str, bool] | None:
        """What EXPLAIN must say of this operator: its name, and whether it is colocated."""
        name = self._name()
        if name is None or not self.touches_member:
            return None
        keyless = self.kind in JOINS - KEYED_JOINS
        return name, not keyless and all(child.in_place for child in self.children)

    def _name(self) -> str | None:
        if self.kind in JOINS:
            return self.kind.removesuffix("Exec")
        if self.kind in AGGREGATES:
            keys = self.java.requiredChildDistributionExpressions()
            return "Aggregate" if keys.isDefined() and not keys.get().isEmpty() else None
        if self.kind in WINDOWS:
            return None if self.java.partitionSpec().isEmpty() else "Window"
        return None


def expected(df: DataFrame) -> list[tuple[str, bool]]:
    """The verdicts that the executed plan of `df` must have."""
    plan = Node(df._jdf.queryExecution().executedPlan())
    return [verdict for node in plan.operators() if (verdict := node.verdict) is not None]


def untrue(df: DataFrame) -> str | None:
    """How the verdicts on `df` differ from the Exchanges of its plan, if they do."""
    execution = df._jdf.queryExecution()
    found = json.loads(df.sparkSession._jvm.org.apache.spark.sql.colocate.explain.Verdicts.json(execution))
    said = [(str(verdict["operator"]).split()[0], bool(verdict["colocated"])) for verdict in found]
    truth = expected(df)
    if said == truth:
        return None
    texts = "\n".join(f"{verdict['operator']}: {verdict['text']}" for verdict in found)
    return f"EXPLAIN says {said}, the Exchanges say {truth}:\n{texts}\n{execution.executedPlan().toString()}"


def assert_true_verdicts(df: DataFrame) -> None:
    """Every verdict on a query that has run equals what the Exchanges of its plan say, and none is missing."""
    difference = untrue(df)
    assert difference is None, difference


def _kind(java: Any) -> str:
    return str(java.getClass().getSimpleName())


def _is_member(leaf: Node) -> bool:
    """Of a table with a layout: read by bucket, or Delta with the bucket column, or native with the property."""
    if leaf.kind == "ColocatedScanExec":
        return True
    if leaf.kind != "FileSourceScanExec":
        return False
    relation = leaf.java.relation()
    if "_colocate_bucket" in list(relation.partitionSchema().fieldNames()):
        return True
    identifier = leaf.java.tableIdentifier()
    if relation.bucketSpec().isEmpty() or identifier.isEmpty():
        return False
    catalog = relation.sparkSession().sessionState().catalog()
    group = catalog.getTableMetadata(identifier.get()).properties().get("colocate_with")
    return bool(group.isDefined() and group.get())
