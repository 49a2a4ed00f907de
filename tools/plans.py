"""Walks executed plans through py4j, as trees and never as text. Tests and benchmarks count with it."""

from collections.abc import Iterator
from typing import Any

SPARKS_OWN = {"BufferedExchangeExec": "ShuffleExchangeExec"}
STAGES = {"ShuffleQueryStageExec", "BroadcastQueryStageExec", "TableCacheQueryStageExec", "ResultQueryStageExec"}


def walk(node: Any) -> Iterator[Any]:
    """Every node below and with `node`: the final plan of AQE, inside query stages, cached plans and subqueries.

    A reused exchange or subquery comes by its own name and is not entered: its work is done once, elsewhere.
    """
    yield node
    for child in below(node):
        yield from walk(child)


def below(node: Any) -> Iterator[Any]:
    """The nodes one step down; for AQE's wrappers, what they hold."""
    name = kind(node)
    if name == "AdaptiveSparkPlanExec":
        yield node.executedPlan()
    elif name in STAGES:
        yield node.plan()
    elif name == "InMemoryTableScanExec":
        yield node.relation().cachedPlan()
    elif name == "CommandResultExec":
        yield node.commandPhysicalPlan()
    if name == "ValuesOfBuildSide":  # the stage that it looks into is its join's
        yield from (child for child in each(node.children()) if kind(child) not in STAGES)
    elif name != "ReusedExchangeExec":
        yield from each(node.children())
    yield from (subquery for subquery in each(node.subqueries()) if kind(subquery) != "ReusedSubqueryExec")


def kind(node: Any) -> str:
    """The operator's class; for one of ours that only writes its rows in another way, Spark's."""
    name = str(node.getClass().getSimpleName())
    return SPARKS_OWN.get(name, name)


def each(sequence: Any) -> Iterator[Any]:
    """The elements of a Scala Seq."""
    for index in range(sequence.size()):
        yield sequence.apply(index)
