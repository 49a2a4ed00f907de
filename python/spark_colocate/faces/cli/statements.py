"""The statements of a text. They end at a semicolon that is in no string, name or comment."""

from __future__ import annotations

import re

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

from spark_colocate.errors import Code, RequestError

_SCRIPT = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*BEGIN\b", re.IGNORECASE | re.DOTALL)


def statements(text: str) -> list[str]:
    """Each statement without its semicolon. A text that begins with BEGIN is one SQL script, and is left whole.

    Raises RequestError for a string, a name or a comment that does not end.
    """
    if _SCRIPT.match(text):
        return [text]
    found, begin, empty = [], 0, True
    for kind, start in _tokens(text):
        if kind is TokenType.SEMICOLON:
            if not empty:
                found.append(text[begin:start].strip())
            begin, empty = start + 1, True
        else:
            empty = False
    return found if empty else [*found, text[begin:].strip()]


def _tokens(text: str) -> list[tuple[TokenType, int]]:
    try:
        return [(token.token_type, token.start) for token in Spark().tokenize(text)]
    except SqlglotError as error:
        raise RequestError(
            Code.REQUEST_INVALID, f"Cannot find the statements of the text: {error}.", "End every string and comment."
        ) from error
