"""Statements and clauses of Doris and StarRocks that have no counterpart: conf/doris_statements.json lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spark_colocate.catalogues import conf
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.patterns import Match, Pattern, pattern
from spark_colocate.errors import Code


@dataclass(frozen=True, slots=True)
class Family:
    """Statements that are refused for one reason."""

    name: str
    why: str
    cure: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """Words of a statement that Spark knows, too. within: the first words of the statement; empty for all."""

    words: str
    why: str
    cure: str
    within: str = ""


@cache
def families() -> tuple[Family, ...]:
    return tuple(Family(one["name"], one["why"], one["cure"], tuple(one["statements"])) for one in _file()["refused"])


@cache
def clauses() -> tuple[Clause, ...]:
    return tuple(Clause(one["words"], one["why"], one["cure"], one.get("in", "")) for one in _file()["clauses"])


@cache
def translated() -> tuple[str, ...]:
    """Statements that have readers of their own, although a family may seem to have them."""
    return tuple(_file()["translated"])


def refuse_statement(text: str) -> None:
    """Raises DialectError if the text is a statement of a family; of two patterns that match, the longer one counts."""
    cursor = Cursor(text)
    has_reader = [found.end for words in translated() if (found := pattern(words).first(cursor))]
    for family, words in _statements().get(cursor.word(), ()):
        found = words.first(cursor)
        if found and found.end > max(has_reader, default=0):
            cursor.statement = _words(text, found)
            cursor.fail(found.point, family.why, family.cure, Code.DORIS_UNSUPPORTED)


def refuse_clause(text: str, at: int | None = None) -> None:
    """Raises DialectError if the text has such a clause; with `at`, if this place is in it."""
    cursor = Cursor(text)
    for clause in clauses():
        if clause.within and not pattern(clause.within).first(cursor):
            continue
        found = pattern(clause.words).anywhere(cursor, at)
        if found:
            cursor.statement = _words(text, found)
            cursor.fail(found.start, clause.why, clause.cure, Code.DORIS_UNSUPPORTED)


def _words(text: str, found: Match) -> str:
    """The matched words as they are written, on one line."""
    return " ".join(text[found.start : found.end].split())[:60]


@cache
def _statements() -> Mapping[str, Sequence[tuple[Family, Pattern]]]:
    """The refused statements, keyed by their first word."""
    found: dict[str, list[tuple[Family, Pattern]]] = {}
    for family in families():
        for words in family.statements:
            for first in words.split(" ", 1)[0].split("|"):
                found.setdefault(first, []).append((family, pattern(words)))
    return found


@cache
def _file() -> dict[str, Any]:
    loaded: dict[str, Any] = conf.load("doris_statements.json")
    return loaded
