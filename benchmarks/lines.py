"""Lines of Scala that would go with a rule: its own file, and each file that only such files use."""

import re
from functools import cache
from pathlib import Path

from benchmarks.data import ROOT

SOURCES = ROOT / "jvm-stubs" / "src"


def lines_of(rule: str) -> int:
    words = _words()
    with_it = {path for path in words if path.stem == rule} or {path for path in words if _defines(path, rule)}
    while more := {path for path in words if path not in with_it and _only_for(path, with_it, words)}:
        with_it |= more
    return sum(len(path.read_text().splitlines()) for path in with_it)


def _only_for(path: Path, rules: set[Path], words: dict[Path, set[str]]) -> bool:
    users = {other for other, used in words.items() if other != path and path.stem in used}
    return bool(users) and users <= rules


def _defines(path: Path, rule: str) -> bool:
    return re.search(rf"^(case class|object) {rule}\b", path.read_text(), re.MULTILINE) is not None


@cache
def _words() -> dict[Path, set[str]]:
    return {path: set(re.findall(r"\w+", path.read_text())) for path in SOURCES.rglob("*.scala")}
