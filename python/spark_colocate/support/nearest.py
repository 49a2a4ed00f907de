"""The known name that is most like an unknown one."""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher
from heapq import nlargest


def nearest(text: str, names: Collection[str], count: int = 3) -> list[str]:
    """The names most like `text`, the best first: of `db.name` the part behind the dot counts more."""
    last_part = SequenceMatcher(b=_last(text), autojunk=False)
    whole = SequenceMatcher(b=text, autojunk=False)

    def likeness(name: str) -> tuple[float, float]:
        last_part.set_seq1(_last(name))
        whole.set_seq1(name)
        return last_part.ratio(), whole.ratio()

    return nlargest(count, sorted(names), key=likeness)


def _last(text: str) -> str:
    return text.rpartition(".")[2]
