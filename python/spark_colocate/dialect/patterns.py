"""Patterns of words, as conf/doris_statements.json writes them, and where they match in a text.

A|B: one of them. [A]: may be left out. *: one name, with its database, or one value. ...: anything. $: the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from spark_colocate.dialect.cursor import Cursor

_ANY, _NAME, _END = "...", "*", "$"

Element = tuple[tuple[str, ...], bool]
"""The words of which one comes, and whether all may be left out."""


@dataclass(frozen=True, slots=True)
class Match:
    """start, end: of the words in the text. point: the word that tells the statement from one of Spark."""

    start: int
    point: int
    end: int


@dataclass(frozen=True, slots=True)
class Pattern:
    elements: tuple[Element, ...]

    @property
    def shown(self) -> str:
        """The pattern as messages show it, with the first of several words."""
        words = [choices[0] for choices, optional in self.elements if not optional and choices != (_END,)]
        return " ".join("..." if word == _NAME else word for word in words)

    def first(self, cursor: Cursor) -> Match | None:
        """The match at the first word of the text."""
        return self.match(cursor, 0)

    def anywhere(self, cursor: Cursor, at: int | None = None) -> Match | None:
        """The first place where it matches; with `at`, one that this place is in."""
        for place in range(cursor.size):
            found = self.match(cursor, place)
            if found and (at is None or found.start <= at <= found.end):
                return found
        return None

    def match(self, cursor: Cursor, place: int) -> Match | None:
        end = _end(cursor, place, self.elements)
        if end is None or end == place:
            return None
        point = max(place, end - _words_behind(self.elements))
        return Match(cursor.start_of(place), cursor.start_of(point), cursor.end_of(end - 1))


@cache
def pattern(text: str) -> Pattern:
    return Pattern(tuple(_element(word) for word in text.split()))


def _element(word: str) -> Element:
    if len(word) > 2 and word[0] == "[" and word[-1] == "]":
        return (tuple(word[1:-1].split("|")), True)
    return (tuple(word.split("|")), False)


def _end(cursor: Cursor, place: int, elements: tuple[Element, ...]) -> int | None:
    """The token after those that the elements take from `place` on; None where they do not match."""
    if not elements:
        return place
    (choices, optional), rest = elements[0], elements[1:]
    if choices == (_ANY,):
        ends = (_end(cursor, later, rest) for later in range(place, cursor.size))
        return next((end for end in ends if end is not None), None)
    after = _one(cursor, place, choices)
    end = None if after is None else _end(cursor, after, rest)
    return _end(cursor, place, rest) if end is None and optional else end


def _one(cursor: Cursor, place: int, choices: tuple[str, ...]) -> int | None:
    if place >= cursor.size or cursor.is_at(place, ";"):
        return place if _END in choices else None
    if choices == (_NAME,):
        return _name(cursor, place)
    return place + 1 if any(cursor.is_at(place, word) for word in choices) else None


def _name(cursor: Cursor, place: int) -> int | None:
    """A name of several parts, or one value."""
    if not cursor.is_word_or_value(place):
        return None
    place += 1
    while cursor.is_at(place, ".") and cursor.is_word_or_value(place + 1):
        place += 2
    return place


def _words_behind(elements: tuple[Element, ...]) -> int:
    """How many words there are behind the last name or gap; all of them where there is none."""
    words = 0
    for choices, optional in reversed(elements):
        if choices[0] in (_ANY, _NAME):
            return max(words, 1)
        words += 0 if optional or choices == (_END,) else 1
    return len(elements)
