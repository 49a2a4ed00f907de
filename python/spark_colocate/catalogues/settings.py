"""The settings in conf/settings.json, and the values of those that the control plane needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from spark_colocate.catalogues import conf
from spark_colocate.errors import Code, RequestError

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Setting:
    """One entry of conf/settings.json. The JVM registers it with Spark, which checks values when they are set.

    type: string, boolean, choice (of `allowed`), or a number from `min` to `max`: integer, double, bytes, duration.
    """

    key: str
    type: str
    default: str
    since: str
    doc: str
    allowed: tuple[str, ...] = ()
    min: str | None = None
    max: str | None = None
    static: bool = False
    """One value for an application, set before its session starts."""

    @property
    def values(self) -> str:
        """The values that are taken, in words; empty where every text is."""
        if self.type == "boolean":
            return "true or false"
        if self.allowed:
            return " or ".join(self.allowed)
        least = f"at least {self.min}" if self.min is not None else ""
        return f"{self.min} to {self.max}" if self.max is not None else least


@dataclass(frozen=True, slots=True)
class Settings:
    """The values that the control plane itself needs; a request carries those of its session, units resolved."""

    replication: int
    recycle_seconds: int
    doctor_min_age: int
    doctor_verify_age: int
    """Ages in seconds."""

    @staticmethod
    def of(values: Mapping[str, Any]) -> Settings:
        """The given values, else the defaults of the catalogue."""
        return Settings(
            replication=_number(values, "spark.colocate.replication"),
            recycle_seconds=_seconds(values, "spark.colocate.recycle.period"),
            doctor_min_age=_seconds(values, "spark.colocate.doctor.minAge"),
            doctor_verify_age=_seconds(values, "spark.colocate.doctor.verifyAge"),
        )


@cache
def catalogue() -> dict[str, Setting]:
    """All settings by key."""
    entries = conf.load("settings.json")["settings"]
    return {e["key"]: Setting(**{**e, "allowed": tuple(e.get("allowed", ()))}) for e in entries}


def default(key: str) -> str:
    """The default of a setting. An unknown key is a programming error."""
    return catalogue()[key].default


def default_seconds(key: str) -> int:
    """The default of a duration."""
    return _seconds({}, key)


def _number(values: Mapping[str, Any], key: str) -> int:
    text = str(values.get(key, default(key))).strip()
    if text.isdecimal():
        return int(text)
    raise _invalid(key, text, "an integer, not negative")


def _seconds(values: Mapping[str, Any], key: str) -> int:
    """A duration: seconds, or a number with one of Spark's units."""
    text = str(values.get(key, default(key))).strip()
    found = re.fullmatch(r"(\d+) ?([a-z]*)", text)
    if found and found[2] in _SECONDS:
        return int(found[1]) * _SECONDS[found[2]]
    raise _invalid(key, text, "a number of seconds, or with a unit, as 30s, 5min or 1d")


def _invalid(key: str, text: str, allowed: str) -> RequestError:
    return RequestError(
        Code.SETTING_INVALID,
        f"Cannot use '{text}' for {key}: it must be {allowed}.",
        f"Write SET {key}={default(key)}, or another value.",
    )
