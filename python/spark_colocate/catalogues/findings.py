"""The catalogue of findings in conf/findings.json: what may be wrong or wasteful, and the statement that fixes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from spark_colocate.catalogues import conf


class Severity(StrEnum):
    """error: rows or joins are not what the tables say. warning: it costs time. advice: it might be better."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or wasteful. object: a table or a group. cure: the statement to type."""

    severity: Severity
    code: str
    object: str
    finding: str
    cure: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: `sentence` and `cure` are templates. needs: the store alone, or a look at the tables."""

    code: str
    severity: Severity
    needs: str
    sentence: str
    cure: str


@cache
def catalogue() -> dict[str, Entry]:
    """All findings by code."""
    entries = conf.load("findings.json")["findings"]
    return {e["code"]: Entry(**{**e, "severity": Severity(e["severity"])}) for e in entries}


def finding(code: str, thing: object, **arguments: object) -> Finding:
    """A finding with its arguments filled in. An unknown code is a programming error."""
    entry = catalogue()[code]
    return Finding(entry.severity, code, str(thing), entry.sentence.format(**arguments), entry.cure.format(**arguments))
