"""PROPERTIES ("key" = "value"): which of them are kept, refused or left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spark_colocate.catalogues import conf
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.variables import fits
from spark_colocate.errors import Code
from spark_colocate.support.nearest import nearest

GROUP = "colocate_with"
REPLICATION = "replication_num"
_ALLOCATION = "replication_allocation"
_SYNCED = "is_being_synced"

_DYNAMIC = "dynamic_partition."

# Properties of Spark's own table formats go on as they are.
_OF_SPARK = ("delta.", "parquet.", "orc.", "write.")


@dataclass(frozen=True, slots=True)
class Property:
    """One pair, with the places of its key and of its value in the text."""

    key: str
    value: str
    at: int
    value_at: int


@dataclass(frozen=True, slots=True)
class TableProperties:
    """The properties that become TBLPROPERTIES, and the warnings for the user."""

    kept: dict[str, str]
    warnings: tuple[str, ...]


def property_list(cursor: Cursor) -> list[Property]:
    """Reads pairs in parentheses."""
    cursor.expect("(")
    found: list[Property] = []
    while True:
        at = cursor.at
        key = cursor.string("the name of a property")
        cursor.expect("=")
        value_at = cursor.at
        found.append(Property(key, cursor.string("a value"), at, value_at))
        if any(other.key.lower() == key.lower() for other in found[:-1]):
            cursor.fail(at, f"the property {key} is given twice", "Give each property once.", Code.DORIS_TABLE)
        if cursor.takes(")"):
            return found
        if not cursor.takes(","):
            cursor.unexpected("','", "')'")


def table_properties(cursor: Cursor, given: Sequence[Property]) -> TableProperties:
    """The properties that a table keeps; one warning names those that have no meaning here."""
    kept: dict[str, str] = {}
    ignored: list[str] = []
    synced = False
    given = [one for one in given if not _is_off(one, given)]
    for one in given:
        key = one.key.strip().lower()
        if key == GROUP:
            kept[GROUP] = one.value
        elif key in (REPLICATION, _ALLOCATION):
            kept[REPLICATION] = _replication(cursor, one)
        elif key == _SYNCED:
            synced = one.value.strip().lower() == "true"
        elif key.startswith(_OF_SPARK):
            kept[one.key] = one.value
        else:
            _check(cursor, one)
            ignored.append(one.key)
    warnings = [_ignored(ignored)] if ignored else []
    if synced and kept.pop(GROUP, ""):
        warnings.append(f"{_SYNCED} = true: the table is a copy of another cluster's, so it joins no group.")
    return TableProperties(kept, tuple(warnings))


def _is_off(one: Property, given: Sequence[Property]) -> bool:
    """dynamic_partition.* beside "dynamic_partition.enable" = "false"."""
    key = one.key.strip().lower()
    return key.startswith(_DYNAMIC) and any(
        other.key.strip().lower() == f"{_DYNAMIC}enable" and other.value.strip().lower() == "false" for other in given
    )


def _check(cursor: Cursor, one: Property) -> None:
    """Only what changes no row, and not how long one lives, is left out: conf/doris_properties.json lists it."""
    key, value = one.key.strip().lower(), one.value.strip().lower()
    refused = next((entry for entry in _file()["refused"] if fits(entry["name"], key)), None)
    if refused and value not in refused.get("harmless", ()):
        cursor.unsupported(f"the property {one.key}: {refused['why']}", refused["cure"], one.at)
    if not refused and not any(fits(name, key) for name in _file()["leftOut"]):
        near = nearest(key, [*(entry["name"] for entry in _file()["done"]), *_file()["leftOut"]], count=1)[0]
        cure = f"Did you mean {near}? Leave it out if it changes no row."
        cursor.unsupported(f"{one.key} is not a known property of Doris or StarRocks", cure, one.at)


@cache
def _file() -> dict[str, Any]:
    loaded: dict[str, Any] = conf.load("doris_properties.json")
    return loaded


def _ignored(keys: list[str]) -> str:
    return f"Without a meaning in Spark, and left out: {', '.join(keys)}."


def _replication(cursor: Cursor, one: Property) -> str:
    """An integer of at least 1; of an allocation by tags, their sum."""
    number = one.value.strip()
    if one.key.strip().lower() == _ALLOCATION:
        counts = [re.fullmatch(r"\s*[\w.]+\s*:\s*(\d+)\s*", part) for part in one.value.split(",")]
        number = str(sum(int(count[1]) for count in counts if count)) if all(counts) else ""
    if not re.fullmatch(r"\d{1,9}", number) or int(number) < 1:
        cursor.fail(
            one.value_at,
            f"the value of {one.key} is '{one.value}', and it must be an integer of at least 1",
            "Write a number from 1.",
            Code.REPLICATION_INVALID,
        )
    return number
