"""The catalogue of reasons in conf/reasons.json: why a join is not colocated, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from spark_colocate import settings


@dataclass(frozen=True, slots=True)
class Reason:
    """One entry: `sentence` and `cure` are templates whose {arguments} the planner fills."""

    code: str
    sentence: str
    cure: str

    def text(self, **arguments: object) -> str:
        """Sentence and cure with their arguments filled in."""
        return f"{self.sentence} {self.cure}".format(**arguments).strip()


@cache
def catalogue() -> dict[str, Reason]:
    """All reasons by code."""
    entries = settings.load("reasons.json")["reasons"]
    return {e["code"]: Reason(e["code"], e["sentence"], e["cure"]) for e in entries}
