"""Some cases of the fuzzer, the same in each run, and its own parts: the same seed gives the same queries."""

import random
import sys
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from tests.fuzz.catalogue import Maker, catalogue
from tests.fuzz.engines import Duck
from tests.fuzz.forms import FORMS, duck_statements
from tests.fuzz.generate import CELLS, generate
from tests.fuzz.loads import draw, fitting
from tests.fuzz.runner import CASES_PER_LOAD, Fuzzer
from tests.spark.oracle import multiset

SEED = 20261121
CASES = 30  # about a minute


def test_a_minute_finds_no_difference(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    say = partial(print, file=sys.stderr)
    fuzzer = Fuzzer(spark, SEED, say=say, cases_per_world=CASES)
    found = fuzzer.run(worlds=1)
    assert found is None, f"\n{found}"
    assert fuzzer.coverage.judged >= CASES / 2, fuzzer.coverage.summary()
    assert fuzzer.coverage.loads >= fuzzer.coverage.judged / (2 * CASES_PER_LOAD), fuzzer.coverage.summary()
    assert not fuzzer.coverage.shortfalls(), "\n".join(fuzzer.coverage.shortfalls())


def test_a_seed_decides_tables_and_queries() -> None:
    def texts(seed: str) -> list[str]:
        tables = catalogue(random.Random(seed))
        queries = [generate(random.Random(f"{seed} {n}"), tables, cell).sql("spark") for n, cell in enumerate(CELLS)]
        return [*(table.ddl() for table in tables.all), *(str(table.rows) for table in tables.all), *queries]

    assert texts("1") == texts("1")
    assert texts("1") != texts("2")


def test_every_cell_can_be_generated_and_shrunk() -> None:
    tables = catalogue(random.Random("3"))
    for cell in CELLS:
        query = generate(random.Random(str(cell)), tables, cell)
        assert all(smaller.sql("duck") for smaller in query.smaller())


def test_the_engines_find_the_partition_of_a_row_where_its_numbers_say() -> None:
    duck = Duck()
    for seed in range(40):
        for table in (t for t in catalogue(random.Random(f"ranges {seed}")).all if t.ranges):
            rows = table.shaped(Maker(random.Random(seed), table.type("k1"), table.type("k2"), 12).rows(30))
            duck.create(table.with_ranges(None))
            duck.insert(table, rows)
            found = duck.run(f"SELECT {', '.join(table.names)}, {table.ranges.name_of()} FROM {table.stored}").rows
            assert found == multiset([(*row, table.ranges.find(table.ranged(row))) for row in rows])


def test_every_form_of_a_load_can_be_drawn() -> None:
    tables = catalogue(random.Random("3"))
    for form in FORMS:
        load = draw(random.Random(form), tables, form)
        assert len(load.query.select) == len(load.table.columns)
        assert duck_statements(load)


def test_a_form_that_no_table_can_take_is_left_out(spark: SparkSession) -> None:
    some = catalogue(random.Random("1"))
    none = replace(some, members={}, pairs=[], others=[], relaid=replace(some.relaid, keys=(), ranges=None))
    assert all(fitting(none, form) == [] for form in FORMS)
    assert Fuzzer(spark, SEED)._drawn(random.Random(1), SimpleNamespace(tables=none), next(iter(FORMS))) is None
