"""The values that bound range partitions: how they are read, compared, and written as SQL. No store, clock or JVM.

A value is what a column of the type holds, or the limit below or above all values. A row's NULL counts as MIN_VALUE.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from enum import Enum
from zoneinfo import ZoneInfo

from spark_colocate.errors import Code, ColocateError, LayoutError


class Limit(Enum):
    """MINVALUE and MAXVALUE: below and above every value of a column."""

    MIN = 0
    MAX = 2


Value = int | date | datetime | Limit
Bound = tuple[Value, ...]
"""One value for each range column."""

INTEGERS = {"tinyint": (8, "Y"), "smallint": (16, "S"), "int": (32, ""), "bigint": (64, "L")}
"""Bits of the type, and the suffix of its literals in Spark."""

TYPES = ("date", "timestamp", "timestamp_ntz", *INTEGERS)
_EXAMPLES = {"date": "'2017-01-31'", "timestamp": "'2017-01-31 00:00:00'", "timestamp_ntz": "'2017-01-31 00:00:00'"}
_LIMITS = {"MINVALUE": Limit.MIN, "MIN_VALUE": Limit.MIN, "MAXVALUE": Limit.MAX, "MAX_VALUE": Limit.MAX}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?(?P<zone>Z|[+-]\d{2}:\d{2})?")
_DIGITS = re.compile(r"(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?")
_SHORT = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_MIDNIGHT = re.compile(r"[ T]00:00(?::00(?:\.0{1,6})?)?$")
_INTEGER = re.compile(r"[+-]?\d+")
_OFFSET = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d{2}))?")


def order(bound: Sequence[Value]) -> tuple[tuple[int, int | float | date], ...]:
    """What two bounds are compared by: value by value from the left, limits outside all values."""
    return tuple((v.value, 0) if isinstance(v, Limit) else (1, v) for v in bound)


def parse(text: str, kind: str, zone: tzinfo = UTC) -> Value | ColocateError:
    """The value that `text` stands for in a column of type `kind`; a TIMESTAMP without an offset is in `zone`."""
    plain = text.strip()
    if plain.upper() in _LIMITS:
        return _LIMITS[plain.upper()]
    try:
        value = _integer(plain, kind) if kind in INTEGERS else _moment(plain, kind, zone)
    except (ValueError, OverflowError):
        value = None
    return _wrong(text, kind) if value is None else value


def least(text: str, kind: str) -> bool:
    """Whether a lower bound is the least value of its type in Doris, where rows with NULL go in, too."""
    plain = text.strip()
    if kind in INTEGERS:
        return _INTEGER.fullmatch(plain) is not None and int(plain) == -(1 << INTEGERS[kind][0] - 1)
    return re.fullmatch(r"0000-01-01(?: 00:00:00(?:\.0{1,6})?)?", plain) is not None


def _integer(text: str, kind: str) -> int | None:
    bits, _ = INTEGERS[kind]
    value = int(text) if _INTEGER.fullmatch(text) else None
    return value if value is not None and -(1 << bits - 1) <= value < 1 << bits - 1 else None


def _moment(text: str, kind: str, zone: tzinfo) -> date | None:
    text = _as_iso(text)
    if kind == "date":
        bare = _MIDNIGHT.sub("", text)
        return date.fromisoformat(bare) if _DATE.fullmatch(bare) else None
    found = _TIME.fullmatch(text)
    if found is None or (kind == "timestamp_ntz" and found["zone"]):
        return None
    value = datetime.fromisoformat(text)
    if kind == "timestamp_ntz":
        return value
    return (value if found["zone"] else value.replace(tzinfo=zone)).astimezone(UTC)


def _as_iso(text: str) -> str:
    """20170201, 20170201000000 and 2017-2-1, which Doris reads, too."""
    digits = _DIGITS.fullmatch(text)
    if digits:
        year, month, day, hour, minute, second = digits.groups(default="")
        return f"{year}-{month}-{day}" + (f" {hour}:{minute}:{second}" if hour else "")
    found = _SHORT.match(text)
    return f"{found[1]}-{found[2]:0>2}-{found[3]:0>2}{text[found.end() :]}" if found else text


def _wrong(text: str, kind: str) -> ColocateError:
    example = _EXAMPLES.get(kind, "'42'")
    return LayoutError(
        Code.RANGE_VALUE_INVALID,
        f"Cannot use '{text}' as a bound of a range: the column's type is {kind.upper()}.",
        f"Write a value such as {example}, or MAXVALUE.",
    )


def time_zone(name: str) -> tzinfo | ColocateError:
    """Spark's session time zone as Python's."""
    offset = _OFFSET.fullmatch(name)
    if offset:
        span = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(-span if offset[1] == "-" else span)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return LayoutError(
            Code.RANGE_VALUE_INVALID,
            f"Cannot read bounds of type TIMESTAMP in the time zone '{name}': Python does not know this zone.",
            "Write each bound with its offset, such as '2017-01-31 00:00:00+01:00'.",
        )


def fill(values: Sequence[Value], columns: int) -> Bound:
    """As long as the columns: MIN_VALUE is put for what is missing. After MAX_VALUE nothing else can count."""
    filled = (*values, *([Limit.MIN] * (columns - len(values))))
    cut = filled.index(Limit.MAX) if Limit.MAX in filled else columns
    return (*filled[:cut], *([Limit.MAX] * (columns - cut)))


def text_of(value: Value) -> str:
    """The value in Spark's form; limits as the words MINVALUE and MAXVALUE. `parse` reads it back."""
    if isinstance(value, Limit):
        return f"{value.name}VALUE"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").replace("+00:00", "Z")
    return str(value)


def shown(bound: Sequence[Value]) -> str:
    """The bound as the messages have it: `2017-02-01`, or `(2017-02-01, MIN_VALUE)`."""
    words = [f"{v.name}_VALUE" if isinstance(v, Limit) else text_of(v) for v in bound]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def literal(value: int | date | datetime, kind: str) -> str:
    """The value as a literal of Spark that means the same in every session, whatever its time zone."""
    if kind in INTEGERS:
        return f"{value}{INTEGERS[kind][1]}"
    word = {"date": "DATE", "timestamp": "TIMESTAMP_LTZ", "timestamp_ntz": "TIMESTAMP_NTZ"}[kind]
    return f"{word} '{text_of(value)}'"


def at_least(columns: Sequence[str], types: Sequence[str], bound: Sequence[Value]) -> str:
    """SQL that is true for rows at or above `bound`; false or NULL for the others, as NULL is below all values."""
    if all(v is Limit.MIN for v in bound):
        return "true"
    column, value = f"`{columns[0]}`", bound[0]
    if value is Limit.MAX:
        return "false"
    rest = bound[1:]
    if isinstance(value, Limit):
        above = f"{column} IS NOT NULL"
        return above if not rest else _either(above, None, at_least(columns[1:], types[1:], rest))
    text = literal(value, types[0])
    if all(v is Limit.MIN for v in rest):
        return f"{column} >= {text}"
    return _either(f"{column} > {text}", f"{column} = {text}", at_least(columns[1:], types[1:], rest))


def _either(above: str, equal: str | None, rest: str) -> str:
    if rest == "false":
        return above
    return f"({above} OR {rest})" if equal is None else f"({above} OR ({equal} AND {rest}))"
