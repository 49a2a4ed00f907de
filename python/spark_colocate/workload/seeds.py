"""The tables and keys that are worth a trial: those by which some query joins, or shuffles a table alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from spark_colocate.workload.plans import Node, attribute, exchanged, joined, renamed, scanned

Seed = tuple[tuple[str, tuple[str, ...]], ...]
"""Tables, by name, with their keys, that would lie in one group."""

Origin = tuple[str, str]
"""A table and its column."""


def seeds(plans: Iterable[Node]) -> Iterator[Seed]:
    """Of each join its two tables by all its keys and by each one; of each Exchange its table by the same."""
    for plan in plans:
        origins = _origins(plan)
        for node in plan.walk():
            sides = [_of_table(keys, origins) for keys in joined(node) or ()]
            if len(sides) == 2:
                yield from _pairs(*sides)
            keys = exchanged(node)
            if keys is not None:
                yield from _alone(_of_table(keys, origins))


def _origins(plan: Node) -> dict[int, Origin]:
    """Of each column of a plan that is one of a table: which one."""
    found: dict[int, Origin] = {}
    for node in plan.walk():
        if read := scanned(node):
            found |= {column.id: (read[0], column.name) for column in read[1]}
    for node in reversed(list(plan.walk())):  # what is below comes first
        found |= {new: found[old] for new, old in renamed(node).items() if old in found}
    return found


def _of_table(keys: Sequence[str], origins: Mapping[int, Origin]) -> list[Origin | None]:
    return [origins.get(one.id) if one else None for one in map(attribute, keys)]


def _pairs(left: list[Origin | None], right: list[Origin | None]) -> Iterator[Seed]:
    known = [(a, b) for a, b in zip(left, right, strict=False) if a and b and a[0] != b[0]]
    for choice in (known, *([pair] for pair in known)):
        tables = {(a[0], b[0]) for a, b in choice}
        if len(tables) == 1:
            (one, other) = tables.pop()
            yield ((one, tuple(a[1] for a, _ in choice)), (other, tuple(b[1] for _, b in choice)))


def _alone(keys: list[Origin | None]) -> Iterator[Seed]:
    for table in dict.fromkeys(one[0] for one in keys if one):
        columns = tuple(dict.fromkeys(one[1] for one in keys if one and one[0] == table))
        for choice in dict.fromkeys((columns, *((column,) for column in columns))):
            yield ((table, choice),)
