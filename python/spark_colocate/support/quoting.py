"""Quotes names, where they need it, and string literals in SQL."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def identifier(*parts: str) -> str:
    """A name with dots between its parts; only a part that is not a plain word gets quotes."""
    return ".".join(part if _PLAIN.fullmatch(part) else quoted(part) for part in parts)


def quoted(part: str) -> str:
    """A part of a name in Spark's quotes."""
    return "`" + part.replace("`", "``") + "`"


def text(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
