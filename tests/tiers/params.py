"""Values of one parameter of which the second tier takes some: those that stand for a class of values each."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def rest_slow(values: Iterable[Any], *kept: object) -> list[Any]:
    """All of the values, of which those that are not `kept` are for the third tier. kept: every one is a value."""
    found = list(values)
    strangers = [one for one in kept if one not in found]
    assert not strangers, f"no value: {strangers}"
    return [pytest.param(one, marks=() if one in kept else pytest.mark.slow) for one in found]


def some(values: Iterable[Any], every: int, marks: Mapping[Any, pytest.MarkDecorator] | None = None) -> list[Any]:
    """All of the values, of which each second, third, ... is kept, and the others are for the third tier.

    For lists of statements that another test looks at as well, or that come in an order of their kinds.
    marks: of some values, as in `marked`.
    """
    found, given = list(values), marks or {}
    own = [[given[one]] if one in given else [] for one in found]
    return [
        pytest.param(one, marks=[*more, *([pytest.mark.slow] if place % every else [])])
        for place, (one, more) in enumerate(zip(found, own, strict=True))
    ]


def marked(values: Iterable[Any], marks: Mapping[Any, pytest.MarkDecorator]) -> list[Any]:
    """All of the values, some with a mark of their own, such as `since`. marks: every one is of a value.

    Tuples are values of several parameters.
    """
    found = list(values)
    strangers = [one for one in marks if one not in found]
    assert not strangers, f"no value: {strangers}"
    return [pytest.param(*(one if isinstance(one, tuple) else [one]), marks=marks.get(one, ())) for one in found]
