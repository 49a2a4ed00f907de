"""Types of columns: conf/doris_types.json says what each is in Spark."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache

from spark_colocate.catalogues import conf
from spark_colocate.dialect import spark_text
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.errors import Code


@dataclass(frozen=True, slots=True)
class TypeEntry:
    """One type of Doris. `spark` is empty for a type that is refused, with the reason and the cure in `refused`.

    arguments: width (a number that is dropped), length, precision, nested, or none.
    """

    doris: str
    spark: str = ""
    arguments: str = ""
    without: str = ""
    note: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type as Spark spells it. bytes: what a value may take in Doris, as far as the type says so."""

    spark: str
    bytes: int = 0

    @property
    def word(self) -> str:
        return re.split(r"[(<]", self.spark, maxsplit=1)[0]


_BYTES = {
    "BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8, "FLOAT": 4, "DOUBLE": 8, "DATE": 4,
    "TIMESTAMP_NTZ": 8, "DECIMAL": 16,
}  # fmt: skip
_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


@cache
def table() -> dict[str, TypeEntry]:
    """All types by their name in Doris."""
    return {entry["doris"]: TypeEntry(**entry) for entry in conf.load("doris_types.json")["types"]}


def column_type(cursor: Cursor) -> ColumnType:
    """Reads a type."""
    at, word = cursor.at, cursor.word()
    entry = table().get(word)
    if entry is None:
        cursor.unexpected("a type, as INT, BIGINT, DATE, DATETIME, DECIMAL(p,s) or VARCHAR(n)")
    cursor.takes(word)
    if not entry.spark:
        cursor.fail(at, f"the type {word} is refused", f"{_capital(entry.refused)}.", Code.DORIS_UNSUPPORTED)
    if entry.arguments == "nested":
        return ColumnType(_nested(cursor, word))
    spark, size = _arguments(cursor, entry, at)
    if cursor.word() == "UNSIGNED":
        cursor.fail(cursor.at, "there are no unsigned types", "Write the next larger type.", Code.DORIS_UNSUPPORTED)
    return ColumnType(spark, size or _BYTES.get(re.split(r"\(", spark)[0], 0))


def _arguments(cursor: Cursor, entry: TypeEntry, at: int) -> tuple[str, int]:
    """The type with its arguments, and the bytes that they stand for."""
    if entry.arguments == "precision":
        if not cursor.takes("("):
            cursor.fail(
                at, f"{entry.doris} has no precision", "Write DECIMAL(p,s): the default differs between versions."
            )
        return f"DECIMAL({_precision(cursor)})", 16
    length, base = None, entry.spark.split("(", 1)[0]
    if entry.arguments and cursor.takes("("):
        length = None if cursor.takes("*") else cursor.number("a number")
        cursor.expect(")")
    if entry.arguments != "length":
        return entry.spark, 0
    if length is None:
        return (entry.without or f"{base}(1)"), 0
    if length < 1:
        cursor.fail(at, f"{entry.doris}({length}) has no room", "Write a length of at least 1.")
    return f"{base}({length})", length


def _precision(cursor: Cursor) -> str:
    at = cursor.at
    precision = cursor.number("a precision")
    scale = cursor.number("a scale") if cursor.takes(",") else 0
    cursor.expect(")")
    if not 1 <= precision <= 38 or scale > precision:
        cursor.fail(
            at, f"DECIMAL({precision},{scale}) is out of range", "The precision is 1 to 38, the scale at most that."
        )
    return f"{precision},{scale}"


def _nested(cursor: Cursor, word: str) -> str:
    cursor.expect("<")
    if word == "STRUCT":
        parts = [_field(cursor)]
        while cursor.takes(","):
            parts.append(_field(cursor))
    else:
        parts = [column_type(cursor).spark]
        if word == "MAP":
            cursor.expect(",")
            parts.append(column_type(cursor).spark)
    if not cursor.takes(">"):
        cursor.unexpected("'>'")
    return f"{word}<{', '.join(parts)}>"


def _field(cursor: Cursor) -> str:
    name = cursor.name("the name of a field")
    cursor.takes(":")
    return f"{spark_text.name(name)}: {column_type(cursor).spark}"


# --- Values of a type ---


def literal(value: str, kind: ColumnType) -> str | None:
    """Spark's literal for a default or bound, which Doris writes as a string; None if it is not of the type."""
    convert = _LITERALS.get(kind.word)
    try:
        return convert(value, kind) if convert else None
    except (ValueError, InvalidOperation):
        return None


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _plain(value: str) -> str:
    """Python reads more as a number than Doris and Spark do."""
    return value if _NUMBER.fullmatch(value) else _wrong()


def _integer(value: str, kind: ColumnType) -> str:
    number, bits = int(_plain(value)), _INTEGERS[kind.word]
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise ValueError
    return str(number)


def _decimal(value: str, kind: ColumnType) -> str:
    precision, scale = (int(part) for part in re.findall(r"\d+", kind.spark))
    number = Decimal(_plain(value))
    exponent = number.as_tuple().exponent
    whole = number.adjusted() + 1 if number else 0
    if not isinstance(exponent, int) or -exponent > scale or whole > precision - scale:
        raise ValueError
    return f"CAST({spark_text.text(value)} AS {kind.spark})"


def _double(value: str, kind: ColumnType) -> str:
    return f"CAST({spark_text.text(_plain(value))} AS {kind.spark})"


def _boolean(value: str, _kind: ColumnType) -> str:
    return {"true": "true", "1": "true", "false": "false", "0": "false"}.get(value.lower()) or _wrong()


def _date(value: str, _kind: ColumnType) -> str:
    return f"DATE'{datetime.strptime(value, '%Y-%m-%d'):%Y-%m-%d}'"


def _datetime(value: str, _kind: ColumnType) -> str:
    moment = datetime.fromisoformat(value)
    return f"TIMESTAMP_NTZ'{moment.isoformat(' ')}'" if moment.tzinfo is None else _wrong()


def _text(value: str, kind: ColumnType) -> str:
    length = re.search(r"\d+", kind.spark)
    if length and len(value) > int(length[0]):
        raise ValueError
    return spark_text.text(value)


def _wrong() -> str:
    raise ValueError


_LITERALS: dict[str, Callable[[str, ColumnType], str]] = {
    **dict.fromkeys(_INTEGERS, _integer),
    "DECIMAL": _decimal,
    "FLOAT": _double,
    "DOUBLE": _double,
    "BOOLEAN": _boolean,
    "DATE": _date,
    "TIMESTAMP_NTZ": _datetime,
    "STRING": _text,
    "VARCHAR": _text,
    "CHAR": _text,
}


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
