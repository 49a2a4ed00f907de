"""The files of conf/: data that both languages load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parents[1]


def conf_path(name: str) -> Path:
    """A file of conf/: package data in the wheel, the folder of the repository in a checkout."""
    packed = _PACKAGE / "conf" / name
    return packed if packed.exists() else _PACKAGE.parents[1] / "conf" / name


def load(name: str) -> Any:
    """A file of conf/, parsed."""
    return json.loads(conf_path(name).read_text(encoding="utf-8"))
