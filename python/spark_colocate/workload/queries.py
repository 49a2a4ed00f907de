"""The queries of an application: their last plans, with what was measured in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spark_colocate.workload.logs import Event
from spark_colocate.workload.plans import Node, plan_of

_SQL = "org.apache.spark.sql.execution.ui.SparkListener"


@dataclass(frozen=True)
class Query:
    """text: what Spark's page calls it. started: in seconds since the epoch."""

    text: str
    started: float
    plan: Node


def queries(found: Iterable[Event]) -> list[Query]:
    """Of one application's events. A query that has no end in the log counts with what was measured until then."""
    starts: dict[int, Event] = {}
    plans: dict[int, Mapping[str, Any]] = {}
    values: dict[int, int] = {}
    for event in found:
        name = event["Event"].removeprefix(_SQL)
        if name == "SparkListenerStageCompleted":
            _count(values, event)
        elif name == "DriverAccumUpdates":
            values.update((number, int(value)) for number, value in event["accumUpdates"])
        elif name == "SQLExecutionStart":
            starts[event["executionId"]] = event
            plans[event["executionId"]] = event["sparkPlanInfo"]
        elif name == "SQLAdaptiveExecutionUpdate":
            plans[event["executionId"]] = event["sparkPlanInfo"]
    return [
        Query(start["description"], start["time"] / 1000, plan_of(plans[number], values))
        for number, start in starts.items()
    ]


def _count(values: dict[int, int], event: Event) -> None:
    """A stage tells of each accumulator the value that it has by then, over all stages."""
    for one in event["Stage Info"].get("Accumulables", ()):
        value = one.get("Value")
        if one.get("Metadata") == "sql" and str(value).lstrip("-").isdigit():
            values[one["ID"]] = max(values.get(one["ID"], 0), int(value))
