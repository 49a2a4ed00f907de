"""Queries that differ in nothing that a layout depends on, taken together: most are run again and again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from spark_colocate.workload.plans import Node, exchanged, joined, scanned

_ID = re.compile(r"#(\d+)L?")
_PLAN_ID = re.compile(r"\[plan_id=\d+\]")


@dataclass(frozen=True)
class Shape:
    """plan: of one of the queries, with the metrics of all of them added. times: how many queries."""

    plan: Node
    times: int

    @cached_property
    def tables(self) -> frozenset[str]:
        return frozenset(read[0] for node in self.plan.walk() if (read := scanned(node)))


def shapes(plans: Iterable[Node]) -> list[Shape]:
    found: dict[tuple[str, ...], Shape] = {}
    for plan in plans:
        key = _key(plan)
        held = found.get(key)
        found[key] = Shape(_added(held.plan, plan), held.times + 1) if held else Shape(plan, 1)
    return list(found.values())


def _key(plan: Node) -> tuple[str, ...]:
    """What each operator does with columns, which are numbered in the order in which they come up."""
    numbers: dict[str, str] = {}
    parts = (f"{len(node.children)} {_PLAN_ID.sub('', _text(node))}" for node in plan.walk())
    return tuple(_ID.sub(lambda one: numbers.setdefault(one[1], f"#{len(numbers)}"), part) for part in parts)


def _text(node: Node) -> str:
    """Without constants, which change from day to day."""
    if scanned(node):
        return node.text.partition("]")[0] + node.metadata.get("ReadSchema", "")
    if node.name == "Project" or joined(node) or exchanged(node) is not None:
        return node.text
    return node.name


def _added(one: Node, other: Node) -> Node:
    metrics = {name: one.metrics.get(name, 0) + value for name, value in other.metrics.items()}
    if scanned(one):  # the size of a table is that of its largest scan
        metrics["size of files read"] = max(node.metrics.get("size of files read", 0) for node in (one, other))
    children = tuple(map(_added, one.children, other.children))
    return Node(one.name, one.text, children, metrics, one.metadata)
