"""What the planner decided about colocation for one DataFrame, as values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_colocate.errors import Code, RequestError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Verdict:
    """One join, aggregate or window that touches a member, as EXPLAIN shows it.

    `code` is the reason's code in conf/reasons.json; `group` and `buckets` are set when it is colocated.
    """

    operator: str
    colocated: bool
    code: str
    text: str
    group: str | None = None
    buckets: int | None = None
    left: str | None = None
    right: str | None = None

    def __str__(self) -> str:
        return f"{self.operator}: {self.text}"


def verdicts(df: DataFrame) -> list[Verdict]:
    """The verdicts on `df`, in the order of its plan.

    Raises RequestError for a Spark Connect DataFrame, whose plan is on the server: use EXPLAIN there.
    """
    if not hasattr(df, "_jdf"):
        raise RequestError(
            Code.VERDICTS_NEED_JVM,
            "Cannot read verdicts of a Spark Connect DataFrame: its plan lives on the server, not in this process.",
            "Use df.explain(), which shows the same lines.",
        )
    # Not at the top: the control plane imports this package too, and must not wait for PySpark.
    from spark_colocate.bridge import driver

    return parse(driver.verdicts_json(df))


def parse(text: str) -> list[Verdict]:
    """The planner's JSON array as values."""
    return [Verdict(**entry) for entry in json.loads(text)]
