"""The arrows between the packages of a tree: which package imports which, and which of that the list allows."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("allowed.toml")

Arrow = tuple[str, str]  # the package that imports, the package that is imported


@dataclass(frozen=True, order=True)
class Import:
    """One use of another package: who, whom, and where it is written."""

    place: str  # file:line, from the root of the repository
    source: str
    target: str
    text: str

    @property
    def arrow(self) -> Arrow:
        return self.source, self.target

    def __str__(self) -> str:
        return f"{self.place}: {self.source} must not import {self.target}: {self.text}"


@dataclass(frozen=True)
class Allowed:
    """The arrows of one language.

    areas: folders that only their own packages may import
    """

    arrows: frozenset[Arrow]
    areas: frozenset[str] = frozenset()

    @classmethod
    def read(cls, language: str, path: Path = LIST) -> "Allowed":
        lists = tomllib.loads(path.read_text())[language]
        arrows = frozenset((source, target) for source, targets in lists["arrows"].items() for target in targets)
        return cls(arrows, frozenset(lists.get("areas", [])))

    def leads_into_area(self, arrow: Arrow) -> bool:
        source, area = (package.split(".")[0] for package in arrow)
        return area in self.areas and source != area


def faults(imports: Iterable[Import], allowed: Allowed) -> list[str]:
    """What is wrong, a line each: an import that the list has not, an arrow of the list without an import, a circle."""
    imports = sorted(imports)
    drawn = {used.arrow for used in imports}
    into_areas = filter(allowed.leads_into_area, sorted(allowed.arrows))
    left = sorted(allowed.arrows - drawn)
    return [
        *(str(used) for used in imports if used.arrow not in allowed.arrows),
        *(f"{LIST.name}: no import is left of {_shown(arrow)}, take it out" for arrow in left),
        *(f"{LIST.name}: a circle: {' '.join(circle)}" for circle in circles(allowed.arrows)),
        *(f"{LIST.name}: {_shown(arrow)} leads into an area" for arrow in into_areas),
    ]


def _shown(arrow: Arrow) -> str:
    return " -> ".join(arrow)


def circles(arrows: Iterable[Arrow]) -> list[tuple[str, ...]]:
    """The largest sets of packages in which each reaches each other: the strongly connected components."""
    targets = defaultdict(set)
    for source, target in arrows:
        targets[source].add(target)
    reached = {package: _reached(package, targets) for package in list(targets)}
    found = {
        tuple(sorted(other for other in seen if package in reached.get(other, ())))
        for package, seen in reached.items()
        if package in seen
    }
    return sorted(found)


def _reached(package: str, targets: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = list(targets[package])
    while ahead:
        at = ahead.pop()
        if at not in seen:
            seen.add(at)
            ahead.extend(targets.get(at, ()))
    return seen
