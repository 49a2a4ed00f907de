"""Pieces of Spark SQL: quoted names and string literals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from spark_colocate.support.quoting import quoted, text

__all__ = ["call", "name", "names", "properties", "text"]


def name(*parts: str) -> str:
    """A name in Spark's quotes, part by part."""
    return ".".join(map(quoted, parts))


def names(columns: Iterable[str]) -> str:
    return ", ".join(name(column) for column in columns)


def properties(values: Mapping[str, str]) -> str:
    """A list of properties, in parentheses."""
    return "(" + ", ".join(f"{text(key)} = {text(value)}" for key, value in values.items()) + ")"


def call(procedure: str, **arguments: str | int | bool | None) -> str:
    """A call of one of our procedures."""
    return f"CALL system.{procedure}({', '.join(f'{key} => {_value(value)}' for key, value in arguments.items())})"


def _value(value: str | int | bool | None) -> str:
    if value is None:
        return "NULL"
    return text(value) if isinstance(value, str) else str(value).lower()
