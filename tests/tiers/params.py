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


def some(values: Iterable[Any], every: int) -> list[Any]:
    """All of the values, of which each second, third, ... is kept, and the others are for the third tier.

    For lists of statements that another test looks at as well, or that come in an order of their kinds.
    """
    return [pytest.param(one, marks=pytest.mark.slow if place % every else ()) for place, one in enumerate(values)]


def marked(values: Iterable[Any], marks: Mapping[Any, pytest.MarkDecorator]) -> list[Any]:
    """All of the values, some with a mark of their own, such as `since`. marks: every one is of a value."""
    found = list(values)
    strangers = [one for one in marks if one not in found]
    assert not strangers, f"no value: {strangers}"
    return [pytest.param(one, marks=marks.get(one, ())) for one in found]
