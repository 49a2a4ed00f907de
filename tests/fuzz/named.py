"""FROM t PARTITION (p1, p2): a table of which only some range partitions are read."""

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.fuzz.catalogue import Catalogue
from tests.fuzz.query import Query, Source
from tests.fuzz.tables import Table


def naming(rng: random.Random, query: Query, tables: Catalogue, share: float) -> Query:
    """The query, in which so many of the reads of tables with range partitions name one or more of these."""
    ranged = {table.name: table for table in tables.all if table.ranges}

    def named(source: Source) -> Source:
        if isinstance(source.relation, Query):
            return replace(source, relation=naming(rng, source.relation, tables, share))
        table = ranged.get(source.relation)
        return of_partitions(source, table, _some(rng, table)) if table and rng.random() < share else source

    if not share:
        return query
    joins = tuple(replace(join, source=named(join.source)) for join in query.joins)
    more = tuple((operation, naming(rng, other, tables, share)) for operation, other in query.more)
    return replace(query, source=named(query.source), joins=joins, more=more)


def of_partitions(source: Source, table: Table, names: Sequence[str]) -> Source:
    """The same source, with the rows of these partitions."""
    assert table.ranges
    listed = ", ".join(f"'{name}'" for name in names)
    return replace(source, partitions=tuple(names), rows=f"{table.ranges.name_of()} IN ({listed})")


def _some(rng: random.Random, table: Table) -> list[str]:
    names = [partition.name for partition in table.ranges.partitions] if table.ranges else []
    return rng.sample(names, rng.randint(1, min(2, len(names))))
