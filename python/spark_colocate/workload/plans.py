"""Plans as Spark's listener events tell them (`SparkPlanInfo`): a tree of names and one-line texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_colocate.model import BUCKET_COLUMN

_WRAPPERS = ("WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan", "AQEShuffleRead", "CustomShuffleReader")
_STAGE = re.compile(r"\w*QueryStage\b")
_ATTRIBUTE = re.compile(r"(.+)#(\d+)L?")
_SCAN = re.compile(r"(?:File|Batch)?Scan (?:\w+ )?(?P<table>[\w`.-]+)\[")
_EXCHANGE = re.compile(r"Exchange hashpartitioning\((?P<keys>.*), \d+\), (?P<origin>\w+)")
_JOIN = re.compile(r"\w+Join(?:\(skew=true\))? \[(?P<rest>.*)")


@dataclass(frozen=True)
class Node:
    """An operator. metrics: of each name its value, or its values added; times in the unit that Spark keeps them in."""

    name: str
    text: str
    children: tuple[Node, ...] = ()
    metrics: Mapping[str, int] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()


def plan_of(info: Mapping[str, Any], values: Mapping[int, int]) -> Node:
    """The tree without operators that only run others. values: what the accumulators have counted."""
    children = tuple(plan_of(child, values) for child in info["children"])
    name = info["nodeName"]
    if len(children) == 1 and (name.startswith(_WRAPPERS) or _STAGE.match(name)):
        return children[0]
    metrics: dict[str, int] = {}
    for metric in info["metrics"]:
        metrics[metric["name"]] = metrics.get(metric["name"], 0) + values.get(metric["accumulatorId"], 0)
    return Node(name, info["simpleString"], children, metrics, info.get("metadata") or {})


@dataclass(frozen=True)
class Attribute:
    """A column of a plan. id: Spark's number, which no other column of the plan has."""

    name: str
    id: int


def attribute(text: str) -> Attribute | None:
    """None for what is more than a column, such as `(a#1 + 1)`."""
    found = _ATTRIBUTE.fullmatch(text.strip())
    return Attribute(found[1], int(found[2])) if found and _is_name(found[1]) else None


def _is_name(text: str) -> bool:
    return not any(sign in text for sign in "()#,") and " AS " not in text


def listed(text: str, brackets: tuple[str, str] = ("([", ")]")) -> list[str]:
    """What stands between the commas that are in no brackets. brackets: those that open, and those that close."""
    found, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in brackets[0]) - (sign in brackets[1])
        if sign == "," and depth == 0:
            found.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*found, text[start:]) if part.strip()]


def bracketed(text: str) -> str:
    """Up to the bracket that ends the list whose first one stands before the text."""
    depth = 1
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if depth == 0:
            return text[:place]
    return text


def scanned(node: Node) -> tuple[str, list[Attribute]] | None:
    """The table of a scan, and the columns that it reads; None for other operators and for paths."""
    found = _SCAN.match(node.text)
    if not found or node.children:
        return None
    read = map(attribute, listed(bracketed(node.text[found.end() :])))
    return found["table"].strip(), [one for one in read if one]


def is_bucketed(scan: Node) -> bool:
    """Does its table have buckets already, Spark's own or by colocation?"""
    return BUCKET_COLUMN in scan.text or "Bucketed: true" in scan.text


def exchanged(node: Node) -> list[str] | None:
    """The expressions whose hash an Exchange shuffles rows by. None for others, and for what users ask for."""
    found = _EXCHANGE.match(node.text)
    return listed(found["keys"]) if found and found["origin"] == "ENSURE_REQUIREMENTS" else None


def exchanges(plan: Node) -> list[Node]:
    """Those that Spark put in for an operator."""
    return [node for node in plan.walk() if exchanged(node) is not None]


def joined(node: Node) -> tuple[list[str], list[str]] | None:
    """The keys of both sides of a join, by their places; None for other operators."""
    found = _JOIN.match(node.text)
    if not found or len(node.children) < 2:
        return None
    left = bracketed(found["rest"])
    _, bracket, rest = found["rest"][len(left) + 1 :].partition("[")
    return (listed(left), listed(bracketed(rest))) if bracket else None


def renamed(node: Node) -> dict[int, int]:
    """Of a projection: the id of each column under another name, and the id of the column that it is."""
    if node.name != "Project":
        return {}
    found = {}
    for part in listed(bracketed(node.text.partition("[")[2])):
        was, alias, now = part.rpartition(" AS ")
        old, new = attribute(was), attribute(now)
        if alias and old and new:
            found[new.id] = old.id
    return found


def types(node: Node) -> dict[str, str]:
    """The types of the columns that a scan reads, by their names, as Spark writes them."""
    text = node.metadata.get("ReadSchema", "")
    inside = text[len("struct<") : -1] if text.startswith("struct<") and text.endswith(">") else ""
    named = (part.partition(":") for part in listed(inside, ("<(", ">)")))
    return {name: kind for name, _, kind in named}
