"""The arrows between the packages of a tree: which package imports which, and which of that the list allows."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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

    to_go: those that still close a circle; it may only shrink
    areas: folders that only their own packages and those of `wiring` may import
    into_areas: the arrows into an area that are still there; it may only shrink
    """

    arrows: frozenset[Arrow]
    to_go: frozenset[Arrow]
    areas: frozenset[str] = frozenset()
    wiring: frozenset[str] = frozenset()
    into_areas: frozenset[Arrow] = frozenset()

    @classmethod
    def read(cls, language: str, path: Path = LIST) -> "Allowed":
        lists = tomllib.loads(path.read_text())[language]
        return cls(
            _pairs(lists["arrows"]),
            _pairs(lists.get("to_go", {})),
            frozenset(lists.get("areas", [])),
            frozenset(lists.get("wiring", [])),
            _pairs(lists.get("into_areas", {})),
        )

    def leads_into_area(self, arrow: Arrow) -> bool:
        source, target = arrow
        area = target.split(".")[0]
        return area in self.areas and source.split(".")[0] != area and source not in self.wiring


def _pairs(lists: Mapping[str, list[str]]) -> frozenset[Arrow]:
    return frozenset((source, target) for source, targets in lists.items() for target in targets)


def faults(imports: Iterable[Import], allowed: Allowed) -> list[str]:
    """What is wrong, a line each: an import that the list has not, an arrow of the list without an import, a circle."""
    imports = sorted(imports)
    drawn = {used.arrow for used in imports}
    kept = allowed.arrows | allowed.into_areas
    known = kept | allowed.to_go
    return [
        *(str(used) for used in imports if used.arrow not in known),
        *(f"{LIST.name}: no import is left of {' -> '.join(arrow)}, take it out" for arrow in sorted(known - drawn)),
        *(f"{LIST.name}: a circle: {' '.join(circle)}" for circle in circles(kept)),
        *(f"{LIST.name}: {' -> '.join(arrow)} closes no circle" for arrow in sorted(_closing_none(allowed))),
        *(f"{LIST.name}: {' -> '.join(arrow)} {fault}" for arrow, fault in sorted(_misplaced(allowed))),
    ]


def _misplaced(allowed: Allowed) -> Iterator[tuple[Arrow, str]]:
    yield from ((arrow, "leads into an area") for arrow in allowed.arrows if allowed.leads_into_area(arrow))
    yield from ((arrow, "leads into no area") for arrow in allowed.into_areas if not allowed.leads_into_area(arrow))


def _closing_none(allowed: Allowed) -> Iterator[Arrow]:
    inside = [set(circle) for circle in circles(allowed.arrows | allowed.into_areas | allowed.to_go)]
    return (arrow for arrow in allowed.to_go if not any(circle.issuperset(arrow) for circle in inside))


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
