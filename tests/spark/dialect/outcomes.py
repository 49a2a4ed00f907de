"""What comes of each statement of statements_of_both.jsonl: it is read, refused by name, or refused without help.

They are of the kinds that the documents and test suites of Doris and StarRocks have, with names of our own.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

FILE = Path(__file__).parent / "statements_of_both.jsonl"


class Outcome(StrEnum):
    WORKS = "works"
    DIFFERS = "differs"
    """It runs, and a warning or docs/how-to/doris.md says what is otherwise."""
    REFUSED_CLEARLY = "refused_clearly"
    REFUSED_UNCLEARLY = "refused_unclearly"
    """Never expected."""


@dataclass(frozen=True, slots=True)
class Statement:
    """outcome: the expected one."""

    id: str
    family: str
    system: str
    outcome: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """is_read: the parser made a plan of it."""

    is_read: bool
    error: str = ""

    @property
    def is_clear(self) -> bool:
        """It names the construct with line and column, and says what to write."""
        return any(f"Cannot {verb} " in self.error for verb in ("read", "run", "set"))

    def fits(self, expected: str) -> bool:
        return self.is_clear if expected == Outcome.REFUSED_CLEARLY else self.is_read


def statements() -> list[Statement]:
    return [Statement(**json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines()]


def answer(spark: SparkSession, statement: Statement) -> Answer:
    """What the session's parser makes of the text; nothing runs."""
    try:
        spark._jsparkSession.sessionState().sqlParser().parsePlan(statement.text)
    except (PySparkException, Py4JJavaError) as error:
        return Answer(False, str(error))
    return Answer(True)


def table() -> str:
    """How many there are of each outcome in each family, in Markdown."""
    counts: Counter[tuple[str, str]] = Counter()
    for statement in statements():
        counts[statement.family, statement.outcome] += 1
        counts["all", statement.outcome] += 1
    families = list(dict.fromkeys(statement.family for statement in statements()))
    head = "| statements about | works | differs | refused clearly | refused unclearly |\n|---|---|---|---|---|"
    rows = [
        f"| {family} | " + " | ".join(str(counts[family, outcome]) for outcome in Outcome) + " |"
        for family in (*families, "all")
    ]
    return "\n".join((head, *rows))
