"""Random queries for one cell of the plan space: join type x formats x operator."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.fuzz.catalogue import Catalogue
from tests.fuzz.query import Join, Query, Source
from tests.fuzz.tables import Table

JOINS = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")
FORMATS = tuple(itertools.combinations_with_replacement(("delta", "parquet", "orc"), 2))
OPERATORS = ("join", "aggregate", "window", "set", "subquery")
HIDING = ("LEFT SEMI", "LEFT ANTI")

# How often a query leaves what the layout serves: another key, another table, another way to compare.
NEAR_MISS = 0.5

# How often all rows are sorted. Both engines give a multiset to compare: what counts is how the rows come to the sort.
SORTED = 0.15


@dataclass(frozen=True)
class Cell:
    join: str
    formats: tuple[str, str]
    operator: str

    def __str__(self) -> str:
        return f"{self.join} {'-'.join(self.formats)} {self.operator}"


CELLS = tuple(Cell(*parts) for parts in itertools.product(JOINS, FORMATS, OPERATORS))


@dataclass(frozen=True)
class Side:
    """A source and the columns by which it can be named. keys: its join keys, in order."""

    source: Source
    table: Table

    @property
    def alias(self) -> str:
        return self.source.alias

    def column(self, role: str) -> str:
        return f"{self.alias}.{self.table.column(role)}"

    @property
    def key(self) -> str:
        return self.column("k1")


def generate(rng: random.Random, tables: Catalogue, cell: Cell, near_miss: float = NEAR_MISS) -> Query:
    return _Generator(rng, tables, cell, near_miss).query()


def generate_rows(rng: random.Random, tables: Catalogue, cell: Cell, target: Table, grouped: bool) -> Query:
    """A query of the cell whose columns are those of `target`, by their names. grouped: a key comes once."""
    return _Generator(rng, tables, cell, NEAR_MISS / 2).rows_for(target, grouped)


class _Generator:
    def __init__(self, rng: random.Random, tables: Catalogue, cell: Cell, near_miss: float) -> None:
        self.rng, self.tables, self.cell, self.near_miss = rng, tables, cell, near_miss

    def query(self) -> Query:
        first, second = self._pair()
        joined, visible = self._joins(first, second)
        build = {
            "join": self._plain,
            "aggregate": self._aggregate,
            "window": self._window,
            "set": self._set,
            "subquery": self._subquery,
        }[self.cell.operator]
        built = build(replace(joined, where=self._where(visible[0])), visible)
        return replace(built, order=self.rng.randint(1, 3)) if self._sometimes(SORTED) else built

    def rows_for(self, target: Table, grouped: bool) -> Query:
        first, second = self._pair()
        query, visible = self._joins(first, second)
        query = replace(query, where=self._where(visible[0]))
        if self.cell.operator == "subquery":
            query = replace(query, where=self._subquery(query, visible).where)
        columns = {column.role: self._like(target, column.role, visible) for column in target.columns}
        key = columns["k1"]
        if (grouped or self.cell.operator == "aggregate") and "NULL" not in key:
            least = {role: f"min({text})" for role, text in columns.items()} | {"k1": key, "id": "count(*)"}
            return replace(query, select=_as_in(target, least), group=(key,))
        if self.cell.operator == "window":
            columns["v"] = f"CAST(count(*) OVER (PARTITION BY {key}) AS INT)"
        query = replace(query, select=_as_in(target, columns), distinct=self._sometimes(0.15))
        return replace(query, more=(("UNION ALL", self._more_rows(target)),)) if self.cell.operator == "set" else query

    def _more_rows(self, target: Table) -> Query:
        other = self.rng.choice(self.tables.all)
        side = Side(Source(other.name, "u"), other)
        return Query(side.source, _as_in(target, {c.role: self._like(target, c.role, [side]) for c in target.columns}))

    def _like(self, target: Table, role: str, visible: Sequence[Side]) -> str:
        """A column of that role and type; null where there is none."""
        wanted = target.type(role)
        found = [side for side in visible if side.table.type(role) == wanted]
        if not found:
            return f"CAST(NULL AS {wanted.spark.removesuffix('_NTZ')})"
        if role == "k1" and len(visible) > 1 and found[0] is visible[0] and self._sometimes(0.7):
            return self._met(visible, filtered=False)
        return self.rng.choice(found).column(role)

    # --- FROM -------------------------------------------------------------------------------------------------------

    def _pair(self) -> tuple[Side, Side]:
        left, right = self.rng.sample(self.cell.formats, 2)
        first, second = self.rng.choice(self.tables.members[left]), self.rng.choice(self.tables.members[right])
        if left == right and first is second and self.rng.random() < 0.8:
            second = next(t for t in self.tables.members[right] if t is not first)
        if self._sometimes(self.near_miss):
            near = [*self.tables.pairs, *self.tables.others, self.tables.relaid]
            if self._sometimes(0.4):
                first, second = self.rng.choice(self.tables.pairs), self.rng.choice(self.tables.pairs)
            else:
                first, second = self.rng.sample([first, self.rng.choice(near)], 2)
        return Side(Source(first.name, "a"), first), Side(Source(second.name, "b"), second)

    def _joins(self, first: Side, second: Side) -> tuple[Query, list[Side]]:
        joins = [Join(self.cell.join, second.source, self._on(first, second))]
        visible = [first] if self.cell.join in HIDING else [first, second]
        if self.cell.join == "RIGHT":
            visible.reverse()
        for alias in "cde"[: self._number_of_more()]:
            table = self.rng.choice(self.tables.members[self.rng.choice(self.cell.formats)])
            side = Side(Source(table.name, alias), table)
            kind = self.rng.choice(("INNER", "INNER", "LEFT", "LEFT SEMI", "LEFT ANTI", self._another_join()))
            anchor = visible[0] if self._sometimes(0.75) else self.rng.choice(visible)
            key = self._met(visible, filtered=False) if anchor is visible[0] else anchor.key
            joins.append(Join(kind, side.source, (*self._on(anchor, side, key), f"{side.column('id')} % 3 = 0")))
            if kind not in HIDING:
                visible.append(side)
        return Query(first.source, (), tuple(joins)), visible

    def _another_join(self) -> str:
        """Rows that a later table preserves have no key of the first: an aggregate by that one is not on the layout."""
        by_first_key = not self.near_miss and self.cell.operator in ("aggregate", "window")
        return "LEFT" if by_first_key and self.cell.join in ("RIGHT", "FULL") else self.cell.join

    def _number_of_more(self) -> int:
        return self.rng.choices((0, 1, 2, 3), weights=(60, 25, 10, 5))[0]

    def _on(self, left: Side, right: Side, key: str | None = None) -> tuple[str, ...]:
        """Mostly equal keys; now and then null-safe ones, further columns, and a condition that is none.

        key: what stands for the key of `left`, if it is not the column.
        """
        equal = "IS NOT DISTINCT FROM" if self._sometimes(0.08) else "="
        conditions = [f"{key or left.key} {equal} {right.key}"]
        same_second = left.table.type("k2") == right.table.type("k2")
        if same_second and self._sometimes(0.7 if len(left.table.keys) > 1 else 0.1):
            conditions.append(f"{left.column('k2')} = {right.column('k2')}")
        if self._sometimes(0.1):
            conditions.append(f"{left.column('s')} = {right.column('s')}")
        if self._sometimes(self.near_miss / 6):
            conditions[0] = f"{left.column('v')} = {right.column('v')}"
        if self._sometimes(self.near_miss / 5) and left.table.type("k1").is_integer:
            conditions[0] = f"{left.key} = {right.key} + 1"
        self.rng.shuffle(conditions)
        if self._sometimes(0.3):
            v, w = left.column("v"), right.column("v")
            conditions.append(self.rng.choice((f"{v} < {w} + 4", f"{w} <> 3")))
        return tuple(conditions)

    def _where(self, side: Side) -> tuple[str, ...]:
        p = side.column("p")
        by_partition = (f"{p} <> 1", f"{p} IN (0, 2)", f"{p} = 2")
        choices = (
            f"{side.column('v')} < 8",
            f"{side.key} IS NOT NULL",
            f"{side.column('s')} IN ('s0', 's1', 's2')",
            *by_partition[:2],
        )
        if side.table.partition and self._sometimes(0.5):
            choices = by_partition
        picked = (self.rng.choice(choices),) if self._sometimes(0.4) else ()
        if side.table.ranges and self._sometimes(0.5):
            picked = (side.table.ranges.condition(self.rng, side.alias), *picked[:1])
        return (*picked, *self._key_literals(side)) if self._sometimes(0.15) else picked

    def _key_literals(self, side: Side) -> tuple[str, ...]:
        """`key = literal`, or IN: only the buckets concerned need to be read."""
        literal, position = side.table.type("k1").literal, side.table.names.index(side.table.column("k1"))
        present = [row[position] for row in side.table.rows if row[position] is not None]
        if literal is None or not present:
            return ()
        values = [literal(value) for value in self.rng.choices(present, k=self.rng.randint(1, 4))]
        return (f"{side.key} = {values[0]}" if len(values) == 1 else f"{side.key} IN ({', '.join(values)})",)

    # --- operators --------------------------------------------------------------------------------------------------

    def _plain(self, query: Query, visible: Sequence[Side]) -> Query:
        roles = [(side, role) for side in visible for role in ("k1", "id", "v", "s")]
        picked = self.rng.sample(roles, min(len(roles), self.rng.randint(2, 6)))
        return replace(query, select=_named([side.column(role) for side, role in picked]))

    def _aggregate(self, query: Query, visible: Sequence[Side]) -> Query:
        if self._sometimes(0.25) and self.cell.join not in HIDING:
            return self._aggregate_below(query, visible)
        if self._sometimes(0.15):
            return self._aggregate_twice(visible[0].table)
        keys = self._keys(query, visible)
        functions = self._functions(visible)
        having = ("count(*) > 1",) if self._sometimes(0.15) else ()
        if self._sometimes(0.1):
            return replace(query, select=_named(keys), distinct=True)
        if self._sometimes(0.2) and len(keys) > 1:
            sets = f"GROUPING SETS (({', '.join(keys)}), ({self.rng.choice(keys) if self.near_miss else keys[0]}))"
            return replace(query, select=_named([*keys, *functions]), group=(sets,))
        return replace(query, select=_named([*keys, *functions]), group=tuple(keys), having=having)

    def _aggregate_below(self, query: Query, visible: Sequence[Side]) -> Query:
        """The second table is aggregated by its key before it is joined."""
        join = query.joins[0]
        table = next(s.table for s in visible if s.alias == "b")
        key, inner = table.column("k1"), Source(str(join.source.relation), "i")
        grouped = Query(inner, (f"i.{key}", "count(*) AS id", "sum(i.v) AS v", "max(i.s) AS s"), group=(f"i.{key}",))
        on = tuple(text for text in join.on if not any(f"b.{c}" in text for c in (table.column("k2"), "p", "w")))
        joins = (replace(join, source=Source(grouped, "b"), on=on or (f"a.id = b.{key}",)),)
        roles = [s.column(r) for s in visible if s.alias in "ab" for r in ("k1", "id", "v")]
        where = tuple(text for text in query.where if text.startswith("a."))
        return replace(query, joins=joins, select=_named(roles), where=where)

    def _aggregate_twice(self, table: Table) -> Query:
        """The groups of one table, joined with the groups of the same: each use keeps what it needs of them."""
        key, inner = table.column("k1"), Source(table.name, "i")
        having = ("count(*) > 1", "sum(i.v) < 12", "max(i.s) > 's2'", "(count(*) > 2 OR sum(i.v) > 8)", "min(i.v) <> 3")
        columns = (f"i.{key}", "count(*) AS id", "sum(i.v) AS v", "max(i.s) AS s")
        once = tuple(self.rng.sample(having, self.rng.choice((0, 1, 1, 2))))
        again = once if self._sometimes(0.4) else tuple(self.rng.sample(having, self.rng.choice((0, 1, 1))))
        first, second = (Query(inner, columns, group=(f"i.{key}",), having=kept) for kept in (once, again))
        on = f"a.{key} = b.{key}" if self._sometimes(0.7) else self.rng.choice(("a.id = b.v", "a.v = b.v + 1"))
        sides = ("a",) if self.cell.join in HIDING else ("a", "b")
        select = [f"{side}.{column}" for side in sides for column in self.rng.sample((key, "id", "v", "s"), 3)]
        return Query(Source(first, "a"), _named(select), joins=(Join(self.cell.join, Source(second, "b"), (on,)),))

    def _keys(self, query: Query, visible: Sequence[Side]) -> list[str]:
        """What the joined rows are known to be bucketed by, as a rule; else something near it."""
        left = self._met(visible, bool(query.where))
        if self._sometimes(self.near_miss):
            left = self.rng.choice(visible).column(self.rng.choice(("k1", "k1", "k2", "s")))
        more = [self.rng.choice(visible).column(role) for role in ("s", "k2", "p") if self._sometimes(0.25)]
        return list(dict.fromkeys([left, *more]))

    def _met(self, visible: Sequence[Side], filtered: bool) -> str:
        """The key of the first join's rows: of a full outer join, as a rule, whichever side has one.

        filtered: by a condition on its first table, which makes a left join of it.
        """
        first, ordinary = visible[0], not self.near_miss
        if self.cell.join != "FULL" or (ordinary and filtered) or self._sometimes(self.near_miss):
            return first.key
        second = visible[1]
        same = first.table.type("k1") == second.table.type("k1")
        return f"coalesce({first.key}, {second.key})" if same else first.key

    def _functions(self, visible: Sequence[Side]) -> list[str]:
        side = self.rng.choice(visible)
        v, w, s, number = (side.column(role) for role in ("v", "w", "s", "id"))
        choices = (
            "count(*)", f"sum({v})", f"min({w})", f"max({s})", f"count(DISTINCT {v})", f"sum({w})", f"count({v})",
            f"count(*) FILTER (WHERE {v} < 5)", f"sum({number}) FILTER (WHERE {v} % 2 = 0)", f"count(DISTINCT {s})",
            f"min({number})",
        )  # fmt: skip
        return self.rng.sample(choices, self.rng.randint(1, 3))

    def _window(self, query: Query, visible: Sequence[Side]) -> Query:
        keys = ", ".join(self._keys(query, visible))
        order = ", ".join(f"{side.column('id')} NULLS FIRST" for side in visible)
        v = self.rng.choice(visible).column("v")
        functions = (
            f"row_number() OVER (PARTITION BY {keys} ORDER BY {order})",
            f"sum({v}) OVER (PARTITION BY {keys})",
            f"rank() OVER (PARTITION BY {keys} ORDER BY {v} NULLS FIRST)",
            f"lag({v}) OVER (PARTITION BY {keys} ORDER BY {order})",
            f"count(*) OVER (PARTITION BY {keys})",
        )
        columns = [side.column("id") for side in visible]
        return replace(query, select=_named([*columns, *self.rng.sample(functions, self.rng.randint(1, 2))]))

    def _set(self, query: Query, visible: Sequence[Side]) -> Query:
        if self._sometimes(0.35) and self.cell.join not in HIDING:
            return self._join_over_union(query, visible)
        roles = ["k1", *(role for role in ("s", "v") if self._sometimes(0.5))]
        operation = self.rng.choice(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
        peers = [t for ts in self.tables.members.values() for t in ts if t.type("k1") == visible[0].table.type("k1")]
        other = self.rng.choice(peers or [visible[0].table])
        side = Side(Source(other.name, "u"), other)
        second = Query(side.source, _named([side.column(role) for role in roles]))
        columns = [self._met(visible, bool(query.where)) if role == "k1" else visible[0].column(role) for role in roles]
        return replace(query, select=_named(columns), more=((operation, second),))

    def _join_over_union(self, query: Query, visible: Sequence[Side]) -> Query:
        """The first table becomes a UNION ALL of it and another member."""
        table = next(s.table for s in visible if s.alias == "a")
        roles = tuple(column.role for column in table.columns)
        peers = [t for ts in self.tables.members.values() for t in ts if t.type("k1") == table.type("k1")]
        peer = self.rng.choice(peers or [table])
        select = tuple(f"{peer.column(role)} AS {table.column(role)}" for role in roles)
        second = Query(Source(peer.name, "n"), select)
        union = Query(Source(table.name, "m"), table.names, more=(("UNION ALL", second),))
        return self._plain(replace(query, source=Source(union, "a")), visible)

    def _subquery(self, query: Query, visible: Sequence[Side]) -> Query:
        outer, table = visible[0], self.rng.choice(self.tables.members[self.rng.choice(self.cell.formats)])
        inner = Side(Source(table.name, "x"), table)
        matches = f"{inner.key} = {outer.key}"
        v, low = outer.column("v"), f"{inner.column('v')} < 6"
        condition = self.rng.choice(
            (
                f"EXISTS (SELECT 1 FROM {table.name} x WHERE {matches} AND {low})",
                f"NOT EXISTS (SELECT 1 FROM {table.name} x WHERE {matches} AND NOT {low})",
                f"{outer.key} IN (SELECT {inner.key} FROM {table.name} x WHERE {low})",
                f"({v} = 2 OR EXISTS (SELECT 1 FROM {table.name} x WHERE {matches} AND {low}))",
                f"{v} <= (SELECT max({inner.column('v')}) FROM {table.name} x WHERE {matches})",
                f"({v} > 7 OR {v} >= (SELECT count(*) FROM {table.name} x WHERE {matches}))",
            )
        )
        inner_query = replace(query, where=(*query.where, condition))
        return self._aggregate(inner_query, visible) if self._sometimes(0.2) else self._plain(inner_query, visible)

    def _sometimes(self, share: float) -> bool:
        return self.rng.random() < share


def _named(expressions: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{expression} AS c{index}" for index, expression in enumerate(expressions))


def _as_in(target: Table, by_role: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{by_role[column.role]} AS {column.name}" for column in target.columns)
