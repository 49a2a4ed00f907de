"""Which Exchanges of a plan a layout of tables would remove: the proof table of docs/design.md, on plans of a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spark_colocate.workload.plans import Attribute, Node, attribute, exchanged, joined, renamed, scanned

Layout = Mapping[str, tuple[int, tuple[str, ...]]]
"""Of each table in it, by name: the number of its group, and its bucket keys."""

Placed = frozenset[tuple[int, tuple[int, ...]]]
"""How rows lie in tasks: by the buckets of a group, of the columns with these ids, in this order."""

NOWHERE: Placed = frozenset()

# The rows of their first child, in the same tasks, with columns of the same ids.
_KEEPING = (
    "Filter",
    "Sort",
    "ColumnarToRow",
    "Project",
    "HashAggregate",
    "ObjectHashAggregate",
    "SortAggregate",
    "Window",
    "LocalLimit",
    "Sample",
    "Generate",
)


def removed(plan: Node, layout: Layout) -> list[Node]:
    """The Exchanges of the plan that are not needed if tables lie as `layout` says."""
    found = _Removed(layout)
    found.placed(plan)
    return found.exchanges


@dataclass
class _Removed:
    layout: Layout

    def __post_init__(self) -> None:
        self.exchanges: list[Node] = []

    def placed(self, node: Node) -> Placed:
        """Where the rows of a node lie; on the way all Exchanges below it are decided on."""
        if read := scanned(node):
            return self._scan(*read)
        if sides := joined(node):
            if not node.name.startswith("Broadcast"):
                return self._join(node, *sides)
            return self._broadcast(node)
        keys = exchanged(node)
        if keys is not None:
            return self._exchange(node, keys)
        below = [self.placed(child) for child in node.children]
        if not below or not node.name.startswith(_KEEPING):
            return NOWHERE
        return _under_new_names(node, below[0])

    def _scan(self, table: str, columns: list[Attribute]) -> Placed:
        group, keys = self.layout.get(table, (0, ()))
        ids = {column.name: column.id for column in columns}
        return frozenset([(group, tuple(ids[key] for key in keys))]) if keys and ids.keys() >= set(keys) else NOWHERE

    def _exchange(self, node: Node, keys: list[str]) -> Placed:
        below = self.placed(node.children[0])
        ids = {one.id for one in map(attribute, keys) if one}
        serving = frozenset(one for one in below if ids.issuperset(one[1]))
        if serving:
            self.exchanges.append(node)
        return serving

    def _broadcast(self, node: Node) -> Placed:
        """The rows of the side that is not broadcast."""
        sides = [self.placed(child) for child in node.children[:2]]
        for more in node.children[2:]:
            self.placed(more)
        return sides["BuildLeft" in node.text]

    def _join(self, node: Node, left: list[str], right: list[str]) -> Placed:
        sides = [self.placed(child) for child in node.children[:2]]
        for more in node.children[2:]:
            self.placed(more)
        tops = [_top(child) for child in node.children[:2]]
        by_place = [_by_place(side, keys) for side, keys in zip(sides, (left, right), strict=True)]
        shared = by_place[0].keys() & by_place[1].keys()
        if shared:
            return _of_join(
                node.text, *(frozenset(one for place in shared for one in side[place]) for side in by_place)
            )
        side = self._leading(tops)
        if side is None:
            return NOWHERE
        other = {place: one.id for place, one in enumerate(map(attribute, (left, right)[1 - side])) if one}
        led = frozenset((group, tuple(other[place] for place in places))
            for group, places in by_place[side] if other.keys() >= set(places))  # fmt: skip
        leading = frozenset(one for found in by_place[side].values() for one in found)
        return _of_join(node.text, *((leading, led) if side == 0 else (led, leading)))

    def _leading(self, tops: list[Node | None]) -> int | None:
        """The side to which the other one is shuffled, by the Exchange that it has; None if both are shuffled anew.

        Of two whose rows lie by different layouts, that which would write more."""
        gone = [side for side, top in enumerate(tops) if any(top is one for one in self.exchanges)]
        if not gone:
            return None
        leading = max(gone, key=lambda side: written(_known(tops[side])))
        if tops[1 - leading] is None:  # its rows lie by an Exchange that is further below
            self._stays(_known(tops[leading]))
            return None
        if len(gone) == 2:
            self._stays(_known(tops[1 - leading]))
        return leading

    def _stays(self, exchange: Node) -> None:
        self.exchanges = [one for one in self.exchanges if one is not exchange]


def _known(top: Node | None) -> Node:
    assert top is not None
    return top


def written(exchange: Node) -> int:
    """The bytes that the tasks wrote for it."""
    return exchange.metrics.get("shuffle bytes written", 0)


def _top(side: Node) -> Node | None:
    """The Exchange whose rows a side of a join is."""
    while exchanged(side) is None:
        if len(side.children) != 1 or side.name not in ("Sort", "Project", "Filter"):
            return None
        side = side.children[0]
    return side


def _by_place(side: Placed, keys: list[str]) -> dict[tuple[int, tuple[int, ...]], list[tuple[int, tuple[int, ...]]]]:
    """Of rows that lie by keys of a join: group and places of these keys among those of the join."""
    places = {one.id: place for place, one in enumerate(map(attribute, keys)) if one}
    found: dict[tuple[int, tuple[int, ...]], list[tuple[int, tuple[int, ...]]]] = {}
    for group, ids in side:
        if places.keys() >= set(ids):
            found.setdefault((group, tuple(places[one] for one in ids)), []).append((group, ids))
    return found


def _of_join(text: str, left: Placed, right: Placed) -> Placed:
    """A side that may be extended with nulls proves nothing of its keys."""
    if "FullOuter" in text:
        return NOWHERE
    if any(kind in text for kind in ("LeftOuter", "LeftSemi", "LeftAnti", "ExistenceJoin", "LeftSingle")):
        return left
    return right if "RightOuter" in text else left | right


def _under_new_names(node: Node, placed: Placed) -> Placed:
    """A column may be there under its own name and under others."""
    names: dict[int, list[int]] = {}
    for new, old in renamed(node).items():
        names.setdefault(old, []).append(new)
    found = set(placed)
    for group, ids in placed:
        for old in ids:
            for new in names.get(old, ()):
                found.add((group, tuple(new if one == old else one for one in ids)))
    return frozenset(found)
