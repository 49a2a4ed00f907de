"""conf/ as Python sees it: settings, reasons and rules are data that both languages load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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
            replication=int(_value(values, "spark.colocate.replication")),
            recycle_seconds=int(_value(values, "spark.colocate.recycle.seconds")),
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


def _value(values: Mapping[str, str], key: str) -> str:
    return values.get(key, default(key)).strip()
