"""conf/ as Python sees it: settings, reasons and rules are data that both languages load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from spark_colocate.errors import Code, RequestError

_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Setting:
    """One entry of conf/settings.json."""

    key: str
    type: str
    default: str
    since: str
    doc: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The values that the control plane itself needs; a request carries those of its session."""

    replication: int
    recycle_seconds: int

    @staticmethod
    def of(values: Mapping[str, str]) -> Settings:
        """The given values, else the defaults of the catalogue."""
        return Settings(
            replication=_number(values, "spark.colocate.replication"),
            recycle_seconds=_number(values, "spark.colocate.recycle.seconds"),
        )


def conf_path(name: str) -> Path:
    """A file of conf/: package data in the wheel, the folder of the repository in a checkout."""
    packed = _PACKAGE / "conf" / name
    return packed if packed.exists() else _PACKAGE.parents[1] / "conf" / name


def load(name: str) -> Any:
    """A file of conf/, parsed."""
    return json.loads(conf_path(name).read_text(encoding="utf-8"))


@cache
def catalogue() -> dict[str, Setting]:
    """All settings by key."""
    return {entry["key"]: Setting(**entry) for entry in load("settings.json")["settings"]}


def default(key: str) -> str:
    """The default of a setting. An unknown key is a programming error."""
    return catalogue()[key].default


def _number(values: Mapping[str, str], key: str) -> int:
    text = values.get(key, default(key)).strip()
    if text.isdigit():
        return int(text)
    raise RequestError(
        Code.SETTING_INVALID,
        f"Cannot use '{text}' for {key}: it must be a whole number, not negative.",
        f"Write SET {key}={default(key)}, or another number.",
    )
