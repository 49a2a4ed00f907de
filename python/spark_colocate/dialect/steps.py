"""Partitions with a step, which become plain ranges: `FROM ... TO ... INTERVAL`, and `START ... END ... EVERY`."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import NoReturn

from spark_colocate.checks import range_values
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.values import RangeBounds, Steps
from spark_colocate.errors import Code, ColocateError

MOST = 4096
"""The most partitions of one clause, as in Doris."""

_NAMES = {"YEAR": "%Y", "QUARTER": "%Y%m", "MONTH": "%Y%m", "WEEK": "%G_%V", "DAY": "%Y%m%d", "HOUR": "%Y%m%d%H"}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SPANS = {"DAY": timedelta(days=1), "WEEK": timedelta(weeks=1), "HOUR": timedelta(hours=1)}


def steps(cursor: Cursor) -> Steps:
    """Reads the clause from its first word on."""
    at = cursor.at
    is_doris = cursor.word() == "FROM"
    cursor.expect("FROM" if is_doris else "START")
    first = _value(cursor)
    cursor.expect("TO" if is_doris else "END")
    last = _value(cursor)
    if is_doris:
        step, unit = _interval(cursor)
        return Steps(first, last, step, unit, "p_", at)
    cursor.expect("EVERY", "(")
    step, unit = _interval(cursor) if cursor.comes("INTERVAL") else (_number(cursor), "")
    cursor.expect(")")
    return Steps(first, last, step, unit, "p", at)


def ranges(cursor: Cursor, found: Steps, kind: str) -> list[RangeBounds]:
    """A partition for each step. kind: the type of the range column; empty if it is not known yet."""
    kind = kind or ("date" if found.unit else "bigint")
    if (kind in range_values.INTEGERS) == bool(found.unit):
        unit = "no unit" if kind in range_values.INTEGERS else "a unit such as DAY"
        _fail(cursor, found, f"the step of a column of type {kind.upper()} has {unit}", "Write INTERVAL 1 DAY, or 10.")
    if found.unit == "HOUR" and kind == "date":
        _fail(cursor, found, "a DATE has no hours", "Write DAY, or a column of type DATETIME.")
    numbers = _numbers(cursor, found, kind) if not found.unit else _moments(cursor, found, kind)
    made = [RangeBounds(name, (lower,), (upper,), found.at) for name, lower, upper in numbers]
    if not made:
        cursor.fail(found.at, "there is no step between its bounds", "Write a larger end.", Code.RANGE_BACKWARDS)
    return made


def _numbers(cursor: Cursor, found: Steps, kind: str) -> Iterator[tuple[str, str, str]]:
    first, last = (_parsed(cursor, found, text, kind) for text in (found.first, found.last))
    assert isinstance(first, int) and isinstance(last, int)
    _check(cursor, found, (last - first) // found.step)
    for lower in range(first, last, found.step):
        yield f"{found.prefix}{lower}".replace("-", "_"), str(lower), str(min(lower + found.step, last))


def _moments(cursor: Cursor, found: Steps, kind: str) -> Iterator[tuple[str, str, str]]:
    parsed = [_parsed(cursor, found, text, "date" if kind == "date" else "timestamp_ntz")
              for text in (found.first, found.last)]  # fmt: skip
    first, last = (one if isinstance(one, datetime) else datetime(one.year, one.month, one.day)
                   for one in parsed if isinstance(one, date))  # fmt: skip
    lower, count = first, 0
    while lower < last:
        count += 1
        _check(cursor, found, count)
        upper = min(_later(first, found, count), last)
        yield f"{found.prefix}{lower.strftime(_NAMES[found.unit])}", _shown(lower, kind), _shown(upper, kind)
        lower = upper


def _later(first: datetime, found: Steps, count: int) -> datetime:
    """Counted from the first bound, so that steps of a month from the 31st stay at the end of the month."""
    if found.unit in _SPANS:
        return first + _SPANS[found.unit] * found.step * count
    months = first.month - 1 + _MONTHS[found.unit] * found.step * count
    year, month = first.year + months // 12, months % 12 + 1
    return first.replace(year=year, month=month, day=min(first.day, monthrange(year, month)[1]))


def _shown(moment: datetime, kind: str) -> str:
    return str(moment.date()) if kind == "date" else moment.isoformat(sep=" ")


def _check(cursor: Cursor, found: Steps, count: int) -> None:
    if count > MOST:
        _fail(cursor, found, f"the steps make more than {MOST} partitions", "Write a longer step.")


def _parsed(cursor: Cursor, found: Steps, text: str, kind: str) -> range_values.Value:
    value = range_values.parse(text, kind)
    if isinstance(value, ColocateError):
        cursor.fail(found.at, value.headline.removesuffix("."), value.cure, value.code)
    if isinstance(value, range_values.Limit):
        _fail(cursor, found, "steps have two ends", "Write values.")
    return value


def _fail(cursor: Cursor, found: Steps, what: str, cure: str) -> NoReturn:
    cursor.fail(found.at, what, cure, Code.RANGE_VALUE_INVALID)


def _interval(cursor: Cursor) -> tuple[int, str]:
    cursor.expect("INTERVAL")
    step = _number(cursor)
    unit = cursor.word().removesuffix("S") if cursor.word().removesuffix("S") in _NAMES else ""
    if unit:
        cursor.takes(cursor.word())
    elif cursor.word() not in ("", "PARTITION", "FROM", "START"):
        cursor.unexpected(*_NAMES)
    return step, unit


def _number(cursor: Cursor) -> int:
    at = cursor.at
    text = cursor.literal("a step")
    if not text.isdecimal() or int(text) < 1:
        cursor.fail(at, f"the step is {text}, and must be an integer of at least 1", "Write such a number.")
    return int(text)


def _value(cursor: Cursor) -> str:
    cursor.expect("(")
    value = cursor.literal("a value in quotes")
    if cursor.takes(","):
        cursor.unsupported("steps are of one column", "Write each PARTITION.")
    cursor.expect(")")
    return value
