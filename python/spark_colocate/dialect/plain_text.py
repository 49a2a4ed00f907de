"""Removes what only Doris and StarRocks read and what changes no row: `#` and `//` comments, hints, labels.

Blanks replace it, so that every other word keeps its place, which errors name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.patterns import pattern
from spark_colocate.errors import DialectError

_PIECES = re.compile(
    r"""(?P<hint>/\*\+.*?\*/)|(?P<own>(?:\#|//)[^\n]*)|(?P<comment>--[^\n]*|/\*.*?\*/)"""
    r"""|(?P<quoted>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|`[^`]*`)""",
    re.DOTALL | re.VERBOSE,
)
_HINTS = re.compile(
    r"\b(?:SET_VAR|SET_USER_VARIABLE|LEADING|USE_CBO_RULE|NO_USE_CBO_RULE|USE_MV|NO_USE_MV|MV_REWRITE|NO_MV_REWRITE"
    r"|QB_NAME|DISTRIBUTE)\s*\([^()]*\)|\bORDERED\b",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"(?:\(|,)\s*@?(\w+)\s*=\s*('[^']*'|\"[^\"]*\"|[^,()]*)")
_BRACKETS = "[ SHUFFLE|NOSHUFFLE|BROADCAST|BUCKET|BUCKETS|COLOCATE|SKEW|UNREORDER ]"
_LABEL = pattern("WITH LABEL *")
_LABEL_KEPT = "WITH LABEL is left out: a load that is written twice is done twice. Write MERGE if it may come again."


@dataclass(frozen=True, slots=True)
class PlainText:
    """variables: what SET_VAR hints set, with the place of each."""

    text: str
    warnings: tuple[str, ...] = ()
    variables: tuple[tuple[str, str, int], ...] = ()


def plain(text: str) -> PlainText:
    """The same text if it has nothing of this kind."""
    made, hints = text, list[str]()
    variables: list[tuple[str, str, int]] = []
    for piece in _PIECES.finditer(text):
        if piece["own"]:
            made = _blank(made, *piece.span())
        elif piece["hint"]:
            made = _without_hints(made, piece, hints, variables)
    without_label = _without_label(made)
    bare = _without_brackets(without_label, hints)
    left = [f"Without a meaning in Spark, and left out: {', '.join(hints)}."] if hints else []
    left += [_LABEL_KEPT] if without_label != made else []
    return PlainText(bare, tuple(left), tuple(variables))


def _without_hints(text: str, piece: re.Match[str], hints: list[str], variables: list[tuple[str, str, int]]) -> str:
    for hint in _HINTS.finditer(piece[0]):
        start = piece.start() + hint.start()
        text = _blank(text, start, piece.start() + hint.end())
        hints.append(hint[0])
        if hint[0].upper().startswith("SET_VAR"):
            variables += [(one[1], one[2].strip(), start + one.start(1)) for one in _VARIABLE.finditer(hint[0])]
    rest = text[piece.start() : piece.end()]
    return _blank(text, *piece.span()) if re.fullmatch(r"/\*\+[\s,]*\*/", rest) else text


def _without_brackets(text: str, hints: list[str]) -> str:
    """[shuffle] behind JOIN, and behind the table of an INSERT."""
    if "[" not in text:
        return text
    for match in _matches(text, f"JOIN {_BRACKETS}", f"INSERT INTO|OVERWRITE [TABLE] * {_BRACKETS}"):
        start = text.index("[", match[0])
        hints.append(text[start : match[1]])
        text = _blank(text, start, match[1])
    return text


def _without_label(text: str) -> str:
    """WITH LABEL of an INSERT; `WITH label AS (...)` is Spark's."""
    if not re.search(r"\bwith\s+label\s+(?!as\b)", text, re.IGNORECASE):
        return text
    heads = (
        "INSERT INTO|OVERWRITE [TABLE] * WITH LABEL *",
        ("INSERT INTO|OVERWRITE [TABLE] * PARTITION|PARTITIONS|TEMPORARY ... WITH LABEL *"),
    )
    cursor = _cursor(text)
    if cursor is None or not any(pattern(head).first(cursor) for head in heads):
        return text
    found = _LABEL.anywhere(cursor)
    return _blank(text, found.start, found.end) if found else text


def _matches(text: str, *patterns: str) -> Iterator[tuple[int, int]]:
    cursor = _cursor(text)
    if cursor is None:
        return
    for words in patterns:
        for place in range(cursor.size):
            found = pattern(words).match(cursor, place)
            if found:
                yield found.start, found.end


def _cursor(text: str) -> Cursor | None:
    try:
        return Cursor(text)
    except DialectError:
        return None


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"\S", " ", text[start:end]) + text[end:]
