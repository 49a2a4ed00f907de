"""When two results are the same: as bags of rows, doubles to nine digits (their sums depend on the order of adding)."""

from typing import Any

from benchmarks.measure import Rows


def same(left: Rows, right: Rows) -> bool:
    return len(left) == len(right) and canonical(left) == canonical(right)


def canonical(rows: Rows) -> list[tuple[str, ...]]:
    return sorted(tuple(_text(value) for value in row) for row in rows)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    return "null" if value is None else f"{type(value).__name__}:{value}"
