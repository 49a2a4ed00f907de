"""Loads: a table is filled by random queries in every statement form, beside a plain twin and DuckDB's table."""

import random
from dataclasses import replace

from tests.fuzz.catalogue import Catalogue
from tests.fuzz.forms import FORMS, MAKING, TARGET, Load
from tests.fuzz.generate import CELLS, generate_rows
from tests.fuzz.keys import key_condition
from tests.fuzz.query import Join, Query, Source
from tests.fuzz.tables import Table

# How many loads of a table with range partitions have no row outside of them.
FITTING = 0.7


def fitting(tables: Catalogue, form: str) -> list[Table]:
    """The tables that this form can load, with buckets or range partitions.

    There may be none: a user's partitions, say, are drawn by chance.
    """
    return [table for table in tables.all if FORMS[form].fits(table) and (table.keys or table.ranges)]


def draw(rng: random.Random, tables: Catalogue, form: str) -> Load:
    """A load by this form of a table that can take it, from rows of a random join, the target's own now and then."""
    table = replace(rng.choice(fitting(tables, form)), name=TARGET)
    sources = _with(tables, table) if form != "CTAS" and rng.random() < 0.3 else tables
    load = Load(form, table, _query(rng, sources, table, form))
    return replace(load, where=key_condition(rng, table)) if table.model and rng.random() < 0.8 else load


def _query(rng: random.Random, tables: Catalogue, table: Table, form: str) -> Query:
    """Where the query makes the table, a column of nulls would make one of another type."""
    for _ in range(50):
        query = generate_rows(rng, tables, rng.choice(CELLS), table, FORMS[form].grouped)
        has_nulls = "CAST(NULL" in query.sql("spark")
        if (query.group or not FORMS[form].grouped) and not (has_nulls and form in MAKING):
            break
    query = _fitting(query, table) if table.ranges and rng.random() < FITTING else query
    return _once(query, table) if table.model and table.model.replaces else query


def _once(query: Query, table: Table) -> Query:
    """One row for each key: which of several is the last one, is not known of a query."""
    keys = table.model.keys if table.model else ()
    select = tuple(name if name in keys else f"min({name}) AS {name}" for name in table.names)
    return Query(Source(query, "u"), select, group=keys)


def _fitting(query: Query, table: Table) -> Query:
    """Only rows that some partition takes."""
    fits = f"{table.ranges.name_of('f.')} IS NOT NULL" if table.ranges else "true"
    return Query(Source(query, "f"), table.names, where=(fits,))


def _with(tables: Catalogue, target: Table) -> Catalogue:
    """The catalogue in which the target stands for a member of its format."""
    members = dict(tables.members)
    members[target.provider] = [target, members[target.provider][-1]]
    return replace(tables, members=members)


def join_of(rng: random.Random, tables: Catalogue, target: Table) -> Query:
    """The loaded table joined by its keys with another that has such keys, or with itself."""
    peers = [table for table in tables.all if all(table.type(r) == target.type(r) for r in ("k1", "k2"))]
    left, right = target, rng.choice([*peers, target])
    roles = [column.role for column in target.columns if column.name in target.keys] or ["k1"]
    on = tuple(f"a.{left.column(role)} = b.{right.column(role)}" for role in roles)
    select = tuple(f"a.{left.column(role)} AS a_{role}" for role in ("k1", "id", "v"))
    kind = rng.choice(("INNER", "LEFT", "FULL"))
    return Query(Source(left.name, "a"), (*select, "b.v AS b_v"), (Join(kind, Source(right.name, "b"), on),))
