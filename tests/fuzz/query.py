"""A query as a tree of clauses, so that it can be written for two engines and be shrunk clause by clause."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, Union

T = TypeVar("T")
Engine = Literal["spark", "duck"]

# What the two engines spell differently; all the rest of a query is the same text.
_JOINS = {"duck": {"LEFT SEMI": "SEMI", "LEFT ANTI": "ANTI"}, "spark": {}}


@dataclass(frozen=True)
class Source:
    """A table's name, or a query in parentheses.

    partitions: of the table only these range partitions. rows: the condition that is true of their rows.
    """

    relation: Union[str, "Query"]
    alias: str
    partitions: tuple[str, ...] = ()
    rows: str = ""

    def sql(self, engine: Engine) -> str:
        if self.partitions and engine == "spark":
            return f"{self.relation} PARTITION ({', '.join(self.partitions)}) {self.alias}"
        if self.partitions:
            return f"(SELECT * FROM {self.relation} WHERE {self.rows}) {self.alias}"
        relation = self.relation if isinstance(self.relation, str) else f"({self.relation.sql(engine)})"
        return f"{relation} {self.alias}"


@dataclass(frozen=True)
class Join:
    kind: str
    source: Source
    on: tuple[str, ...]

    def sql(self, engine: Engine) -> str:
        kind = _JOINS[engine].get(self.kind, self.kind)
        return f"{kind} JOIN {self.source.sql(engine)} ON {' AND '.join(self.on)}"


@dataclass(frozen=True)
class Query:
    """select, where, group, having: SQL texts. more: set operations with further queries, left to right.

    order: by so many of the first output columns is all of it sorted.
    """

    source: Source
    select: tuple[str, ...]
    joins: tuple[Join, ...] = ()
    where: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    having: tuple[str, ...] = ()
    distinct: bool = False
    more: tuple[tuple[str, "Query"], ...] = ()
    order: int = 0

    def sql(self, engine: Engine) -> str:
        select = ", ".join(self.select)
        parts = [f"SELECT {'DISTINCT ' * self.distinct}{select} FROM {self.source.sql(engine)}"]
        parts += [join.sql(engine) for join in self.joins]
        if self.where:
            parts.append(f"WHERE {' AND '.join(self.where)}")
        if self.group:
            parts.append(f"GROUP BY {', '.join(self.group)}")
        if self.having:
            parts.append(f"HAVING {' AND '.join(self.having)}")
        text = " ".join(parts)
        for operation, other in self.more:
            text = f"({text}) {operation} ({other.sql(engine)})"
        by = ", ".join(str(number + 1) for number in range(min(self.order, len(self.select))))
        return f"{text} ORDER BY {by}" if by else text

    def joined(self) -> "Query":
        """How many rows come out of FROM and WHERE: a bound for what an engine has to hold."""
        return replace(self, select=("count(*)",), group=(), having=(), distinct=False, more=(), order=0)

    def parts(self) -> Iterator["Query"]:
        """This query and those it is made of."""
        yield self
        for source in (self.source, *(join.source for join in self.joins)):
            if isinstance(source.relation, Query):
                yield from source.relation.parts()
        for _, other in self.more:
            yield from other.parts()

    def smaller(self) -> Iterator["Query"]:
        """Each query with one clause less, the biggest cuts first."""
        if self.order:
            yield replace(self, order=0)
        if self.more:
            yield from (other for _, other in self.more)
            yield replace(self, more=())
        for source in (self.source, *(join.source for join in self.joins)):
            if isinstance(source.relation, Query):
                yield source.relation
        for index in reversed(range(len(self.joins))):
            yield self._without_join(index)
        for name in ("having", "where"):
            clause = getattr(self, name)
            yield from (replace(self, **{name: _cut(clause, index)}) for index in range(len(clause)))
        if self.distinct:
            yield replace(self, distinct=False)
        if self.group:
            yield replace(self, group=(), having=(), select=self.group)
        if not self.more and len(self.select) > 1:
            yield from (replace(self, select=_cut(self.select, index)) for index in range(len(self.select)))
        for index, join in enumerate(self.joins):
            for cut in range(len(join.on) if len(join.on) > 1 else 0):
                yield self._with_join(index, replace(join, on=_cut(join.on, cut)))
        yield from self._smaller_inside()

    def _smaller_inside(self) -> Iterator["Query"]:
        if isinstance(self.source.relation, Query):
            for inner in self.source.relation.smaller():
                yield replace(self, source=replace(self.source, relation=inner))
        for index, join in enumerate(self.joins):
            if isinstance(join.source.relation, Query):
                for inner in join.source.relation.smaller():
                    yield self._with_join(index, replace(join, source=replace(join.source, relation=inner)))

    def _with_join(self, index: int, join: Join) -> "Query":
        return replace(self, joins=(*self.joins[:index], join, *self.joins[index + 1 :]))

    def _without_join(self, index: int) -> "Query":
        """The join goes with everything that names its alias."""
        prefix = f"{self.joins[index].source.alias}."
        joins = tuple(
            replace(join, on=kept)
            for join in _cut(self.joins, index)
            if (kept := tuple(text for text in join.on if prefix not in text))
        )
        select = tuple(text for text in self.select if prefix not in text) or ("1 AS one",)
        clauses = {
            name: tuple(text for text in getattr(self, name) if prefix not in text)
            for name in ("where", "group", "having")
        }
        return replace(self, joins=joins, select=select, **clauses)


def _cut(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return (*items[:index], *items[index + 1 :])
