"""Doris' `ADMIN SHOW FRONTEND CONFIG LIKE 'pattern'`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spark_colocate.service import ConfigEntry


def matching_config(entries: Sequence[ConfigEntry], pattern: str = "%") -> list[ConfigEntry]:
    """The configurations whose key is like the pattern, in which % stands for any text and _ for a letter."""
    wanted = "".join({"%": ".*", "_": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return [entry for entry in entries if re.fullmatch(wanted, entry.key, re.IGNORECASE)]
