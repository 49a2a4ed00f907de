"""Doris' configurations of the frontend that concern groups. They hold for every session of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spark_colocate.errors import Code, RequestError
from spark_colocate.service.base.requests import OperationContext
from spark_colocate.store.protocol import Transaction


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A configuration, which is true or false, with what it is for."""

    key: str
    value: str
    comment: str


_KNOWN = (
    ConfigEntry(
        "disable_colocate_balance",
        "false",
        "Whether buckets are not moved to hosts with fewer of them, as when a host is added.",
    ),
    ConfigEntry(
        "disable_colocate_relocate",
        "false",
        "Whether the buckets of a lost host are not moved to others.",
    ),
)
_OF_SESSION = "disable_colocate_join"


def entries(held: Mapping[str, str]) -> list[ConfigEntry]:
    """All configurations, with the values that were set."""
    return [ConfigEntry(one.key, held.get(one.key, one.value), one.comment) for one in _KNOWN]


def checked(key: str, value: str) -> tuple[str, str]:
    """The key and the value as they are kept. Raises RequestError for others."""
    key, value = key.strip().lower(), value.strip().lower()
    if key not in {one.key for one in _KNOWN}:
        known = ", ".join(one.key for one in _KNOWN)
        cure = f"Write SET {key} = {value}: it belongs to a session." if key == _OF_SESSION else "Set one of these."
        raise RequestError(Code.SETTING_UNKNOWN, f"There is no configuration {key} ({known}).", cure)
    if value not in ("true", "false"):
        raise RequestError(
            Code.SETTING_INVALID, f"Cannot use '{value}' for {key}: it must be true or false.", "Write one of these."
        )
    return key, value


def store(tx: Transaction, key: str, value: str, context: OperationContext) -> None:
    """Writes nothing if the value is set already."""
    if tx.config().get(key) != value:
        tx.put_config(key, value)
        context.log(tx, "set_config", key, value)
