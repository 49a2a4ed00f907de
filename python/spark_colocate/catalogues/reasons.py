"""The catalogue of reasons in conf/reasons.json: why a join is not colocated, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from spark_colocate.catalogues import conf


@dataclass(frozen=True, slots=True)
class Reason:
    """One entry: `sentence` and `cure` are templates whose {arguments} the planner fills."""

    code: str
    sentence: str
    cure: str


@cache
def catalogue() -> dict[str, Reason]:
    """All reasons by code."""
    entries = conf.load("reasons.json")["reasons"]
    return {e["code"]: Reason(e["code"], e["sentence"], e["cure"]) for e in entries}
