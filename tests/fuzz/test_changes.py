"""Named partitions, properties and two drivers: what the fuzzer says of them, without Spark."""

import random
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from tests.fuzz.catalogue import Catalogue, catalogue
from tests.fuzz.drivers import SecondDriver
from tests.fuzz.engines import Diverged, Duck
from tests.fuzz.forms import BY_FRAME, FORMS
from tests.fuzz.generate import CELLS, generate
from tests.fuzz.named import naming, of_partitions
from tests.fuzz.property_changes import PropertyChange
from tests.fuzz.query import Query, Source
from tests.fuzz.tables import Table
from tests.fuzz.world import World
from tests.spark.oracle import multiset

RESERVED = {"key_model", "key_columns", "value_aggregates", "range_partition_by", "range_partitions"}


def tables(seed: str = "3") -> Catalogue:
    return catalogue(random.Random(seed), keyed=0.5)


def ranged() -> Table:
    return next(t for seed in range(99) for t in tables(f"{seed}").all if t.ranges and len(t.ranges.partitions) > 1)


class Session:
    """Takes every statement, or refuses those of properties."""

    def __init__(self, refuses: bool = False) -> None:
        self.refuses, self.ran = refuses, []  # type: ignore[var-annotated]

    def sql(self, text: str) -> list[Any]:
        self.ran.append(text)
        if self.refuses and "TBLPROPERTIES" in text and "'owner'" not in text:
            raise AnalysisException("[RESERVED_PROPERTY] refused")
        return []


def world(session: Session, second: Session | None = None) -> World:
    spark: Any = SimpleNamespace(session=session)
    peer: Any = second
    return World(tables(), spark, Duck(), altered=1, second=SecondDriver(peer) if second else None)


def test_named_partitions_are_the_same_rows_in_duckdb() -> None:
    table, duck = ranged(), Duck()
    assert table.ranges
    duck.create(table)
    duck.insert(table, table.rows)
    names = [partition.name for partition in table.ranges.partitions[:1]]
    query = Query(of_partitions(Source(table.name, "a"), table, names), tuple(f"a.{name}" for name in table.names))
    assert f"FROM {table.name} PARTITION ({names[0]}) a" in query.sql("spark")
    if not table.model:
        kept = [row for row in table.rows if table.ranges.find(table.ranged(row)) in names]
        assert duck.run(query.sql("duck")).rows == multiset(kept)


def test_queries_name_partitions_of_tables_that_have_some() -> None:
    drawn, found = tables(), 0
    has = {table.name: {p.name for p in table.ranges.partitions} for table in drawn.all if table.ranges}
    for cell in CELLS:
        query = generate(random.Random(str(cell)), drawn, cell)
        assert naming(random.Random(1), query, drawn, 0.0) is query
        text = naming(random.Random(1), query, drawn, 1.0).sql("spark")
        for table, names in re.findall(r"(\w+) PARTITION \(([^)]*)\)", text):
            found += 1
            assert set(names.split(", ")) <= has[table]
    assert found > 20


def test_each_alteration_is_of_reserved_properties_and_changes_some() -> None:
    made = world(Session())
    for seed in range(200):
        change = PropertyChange(made, random.Random(seed))
        text, has = change.statement(), change._properties()
        named = set(re.findall(r"'(\w+)'(?: =|[,)])", text)) & RESERVED
        assert named, text
        assert "UNSET" not in text or named <= has.keys()


def test_an_alteration_that_is_taken_is_a_difference() -> None:
    change = PropertyChange(world(Session()), random.Random(1))
    with pytest.raises(Diverged, match="not refused"):
        change.make()


def test_an_alteration_that_is_refused_is_as_it_should_be() -> None:
    made = world(Session(refuses=True))
    for seed in range(20):
        PropertyChange(made, random.Random(seed)).make()
    assert sum(line.startswith("-- refused") for line in made.log) > 10


def test_every_other_change_is_made_by_the_second_driver() -> None:
    first, second = Session(), Session()
    made = world(first, second)
    for number in range(4):
        made.run(f"UPDATE {number}")
    assert (first.ran, second.ran) == (["UPDATE 1", "UPDATE 3"], ["UPDATE 0", "UPDATE 2"])


def test_rows_of_the_second_driver_are_seen_by_the_first_one() -> None:
    first, second = Session(), Session()
    made = world(first, second)
    table = replace(made.tables.members["parquet"][0], name="q")
    made.duck.create(table)
    made.fill(table, table.rows[:2])
    assert first.ran == ["REFRESH TABLE q"]
    assert second.ran[0] == "REFRESH TABLE q" and second.ran[1].startswith("INSERT INTO q (")


def test_forms_are_statements_or_methods_of_a_frame() -> None:
    assert [form for form in FORMS if form not in BY_FRAME] == [form for form in FORMS if form[0].isupper()]
