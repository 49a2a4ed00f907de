"""Runs cases: each query colocated, switched off, and on DuckDB. A difference is shrunk and told with its seed."""

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from pyspark.sql import SparkSession

from tests.fuzz.catalogue import KEYED, Catalogue, catalogue
from tests.fuzz.coverage import Coverage
from tests.fuzz.drivers import SecondDriver
from tests.fuzz.engines import MOST_ROWS, Diverged, Duck, Result, Spark
from tests.fuzz.forms import FORMS, Load
from tests.fuzz.generate import CELLS, NEAR_MISS, Cell, generate
from tests.fuzz.loading import Loaded, Loading, shrunk
from tests.fuzz.loads import draw, fitting, join_of
from tests.fuzz.named import naming
from tests.fuzz.query import Query
from tests.fuzz.world import World
from tests.spark.oracle import difference

CASES_PER_WORLD = 100
MOST_LOADED = 5_000
CASES_PER_CHANGE = 6
CASES_PER_LOAD = 3
NEAR_MISS_EACH = 8
SHRINK_SECONDS = 60.0

# What Spark may broadcast is no proof of the layout: only visits that may leave it let it.
ORDINARY = {"spark.sql.autoBroadcastJoinThreshold": "-1"}

# Of a load: both ways to plan a join, equally often.
BROADCASTS = {"spark.sql.autoBroadcastJoinThreshold": ("-1", "-1", "10485760", "3000")}

# Values for each case, the likely ones repeated.
SETTINGS: dict[str, tuple[str, ...]] = {
    "spark.sql.adaptive.enabled": ("true", "false"),
    "spark.sql.autoBroadcastJoinThreshold": ("-1",) * 16 + ("10485760", "3000") * 2,
    "spark.sql.shuffle.partitions": ("2", "3", "5"),
    "spark.sql.ansi.enabled": ("true", "true", "false"),
    "spark.sql.codegen.wholeStage": ("false",) * 3 + ("true",),
    "spark.sql.parquet.enableVectorizedReader": ("true", "true", "false"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN",) * 3 + ("FALLBACK",),
    "spark.sql.requireAllClusterKeysForCoPartition": ("true", "false"),
    "spark.colocate.join.hashBytesPerTask": ("0", "1"),
    "spark.colocate.verify.onRead": ("new", "new", "always"),
    "spark.colocate.shuffle.bufferBytes": ("4194304", "4194304", "300", "0"),
    # No bucket is too small to be split; as it pays, each that can be, or none and all share few tasks.
    "spark.colocate.rules.excluded": ("",) * 4
    + ("SpreadJoins", "ReadSmallBucketsTogether", "SpreadJoins, ReadSmallBucketsTogether"),
    "spark.sql.files.openCostInBytes": ("1",),
    "spark.colocate.skew.targetTaskBytes": ("0", "1", "1", "1073741824"),
}


@dataclass(frozen=True)
class Difference:
    """kind: what differs from what. sql: the shrunk query, or the change."""

    kind: str
    seed: int
    world: int
    case: int
    settings: dict[str, str]
    log: list[str]
    sql: str
    text: str
    catalog: str = "in-memory"
    keyed: float = KEYED
    more: str = ""

    def __str__(self) -> str:
        sets = [f"SET {key} = {value}" for key, value in self.settings.items()]
        case = f"--seed {self.seed} --world {self.world} --case {self.case} --catalog {self.catalog}"
        again = f"./run fuzz {case} --key-models {self.keyed}{self.more}"
        return "\n".join([f"DIFFERENCE: {self.kind}", f"again: {again}", *self.log, *sets, self.sql, self.text])


@dataclass
class Fuzzer:
    """near_miss: how often a query leaves what the layout serves, at one of `near_miss_each` visits to its cell.

    fits: worlds of other tables are left out. damage_from: the share of a world's cases after which strays come.
    forms: statements that load tables, one form at every third case, at each where there are no queries; none for
    queries alone. queries: are there any? keyed: how many Delta tables have a key model. altered: how many changes are
    of properties. named: how many reads of a table with range partitions name some of them. second: makes every other
    change.
    """

    session: SparkSession
    seed: int
    say: Callable[[str], None] = print
    near_miss: float = NEAR_MISS
    near_miss_each: int = NEAR_MISS_EACH
    settings: dict[str, tuple[str, ...]] = field(default_factory=lambda: SETTINGS)
    fits: Callable[[Catalogue], bool] = lambda tables: True
    cases_per_world: int = CASES_PER_WORLD
    damage_from: float = 0.7
    forms: tuple[str, ...] = tuple(FORMS)
    queries: bool = True
    keyed: float = KEYED
    altered: float = 0.0
    named: float = 0.0
    second: SecondDriver | None = None

    def __post_init__(self) -> None:
        self.spark = Spark(self.session)
        self.coverage = Coverage()
        self.cells = random.Random(f"{self.seed} cells").sample(CELLS, len(CELLS))

    def run(self, seconds: float = math.inf, worlds: int | None = None) -> Difference | None:
        """Until the time is over, or after so many worlds, or until the first difference."""
        end = time.monotonic() + seconds
        for number in count() if worlds is None else range(worlds):
            if time.monotonic() >= end:
                return None
            if not self.fits(self._tables(number)):
                continue
            found = self.run_world(number, end)
            if found:
                catalog = str(self.session.conf.get("spark.sql.catalogImplementation"))
                return replace(found, catalog=catalog, keyed=self.keyed, more=self._more())
            self.say(f"world {number} of seed {self.seed}: {self.coverage.summary()}")
        return None

    def run_world(self, number: int, end: float, only: int | None = None) -> Difference | None:
        """only: run this case alone; the changes before it are made, the queries before it are not run."""
        world = World(self._tables(number), self.spark, Duck(), self.altered, self.second)
        settings = {key: values[0] for key, values in self.settings.items()}
        self._settings(settings)
        try:
            world.create()
            for case in range(self.cases_per_world if only is None else only + 1):
                if time.monotonic() > end:
                    return None
                run = only in (None, case)
                found = self._step(world, number, case, run)
                form = self._form(number, case)
                if form and run and not found:
                    found = self._load(world, number, case, form)
                if found:
                    return found
        except Diverged as error:  # while the world was made
            return self._diverged(world, number, 0, settings, error)
        finally:
            world.drop()
        return None

    def _more(self) -> str:
        """Further options of the command that runs a case again."""
        shares = {"--alter-properties": self.altered, "--named-partitions": self.named}
        found = "".join(f" {option} {share}" for option, share in shares.items() if share)
        return found + (" --drivers 2" if self.second else "")

    def _tables(self, number: int) -> Catalogue:
        return catalogue(random.Random(f"{self.seed} {number}"), self.keyed)

    def _step(self, world: World, number: int, case: int, run: bool) -> Difference | None:
        rng = random.Random(f"{self.seed} {number} {case}")
        settings = {key: rng.choice(values) for key, values in self.settings.items()}
        visit, index = divmod(number * self.cases_per_world + case, len(self.cells))
        near_miss = self.near_miss if (visit + index) % self.near_miss_each == 0 else 0.0
        settings |= {} if near_miss else ORDINARY
        self._settings(settings)
        if case % CASES_PER_CHANGE == CASES_PER_CHANGE - 1:
            try:
                world.change(rng, late=case > self.cases_per_world * self.damage_from)
            except Diverged as error:
                return self._diverged(world, number, case, settings, error)
        if not self.queries:
            return None
        cell = self.cells[index]
        found = self._query(world, cell, rng, near_miss)
        if not run or found is None:
            return None
        query, expected = found
        on = self.spark.run(query.sql("spark"))
        off = self.spark.off(query.sql("spark"))
        self.coverage.add(cell, on, expected)
        kind = _judge(on, off, expected)
        if kind is None:
            return None
        return self._told(kind, world, number, case, settings, query)

    def _diverged(self, world: World, number: int, case: int, settings: dict[str, str], error: Diverged) -> Difference:
        kind = "a change left other rows than on DuckDB"
        return Difference(kind, self.seed, number, case, settings, world.log, world.log[-1], str(error))

    def _form(self, number: int, case: int) -> str | None:
        """Of the load that follows this case, if one does."""
        visit, rest = divmod(number * self.cases_per_world + case, CASES_PER_LOAD if self.queries else 1)
        return self.forms[visit % len(self.forms)] if self.forms and not rest else None

    def _load(self, world: World, number: int, case: int, form: str) -> Difference | None:
        """A table is loaded by a random query, and the result is joined."""
        rng = random.Random(f"{self.seed} {number} {case} load")
        settings = {key: rng.choice(values) for key, values in (self.settings | BROADCASTS).items()}
        self._settings(settings)
        load, loading = self._drawn(rng, world, form), Loading(self.spark, world.duck, self.second)
        if load is None:
            return None
        found = Difference("", self.seed, number, case, settings, [], "", "")
        try:
            loaded = loading.run(load)
            if loaded.kind:
                return self._load_told(world, loading, load, loaded, found)
            return self._joined(rng, world, load, loaded, found)
        finally:
            loading.drop()

    def _drawn(self, rng: random.Random, world: World, form: str) -> Load | None:
        """A load of some rows, if a few trials find one, and not too many. What reads itself reads the first rows."""
        found = None
        for _ in range(8 if fitting(world.tables, form) else 0):
            load = draw(rng, world.tables, form)
            world.duck.create(load.table)
            world.duck.insert(load.table, load.table.rows)
            if any(world.duck.count(part.joined().sql("duck")) > MOST_LOADED for part in load.query.parts()):
                continue
            found = load
            if world.duck.run(load.sql("duck")).rows:
                break
        return found

    def _joined(
        self, rng: random.Random, world: World, load: Load, loaded: Loaded, found: Difference
    ) -> Difference | None:
        if loaded.duck.refused:
            self.coverage.add_load(
                load.form, rows=False, failed=False, unjudged=False, colocated=False, rightly_refused=True
            )
            return None
        query = join_of(rng, world.tables, load.table)
        refused = {"failed": loaded.ours.rows is None, "unjudged": loaded.duck.rows is None}
        if any(refused.values()) or world.duck.count(query.joined().sql("duck")) > MOST_ROWS:
            self.coverage.add_load(load.form, rows=bool(loaded.ours.rows), colocated=False, **refused)
            return None
        self._settings({**found.settings, **ORDINARY})
        sql = query.sql("spark")
        on, duck = self.spark.run(sql), world.duck.run(query.sql("duck"))
        off = on if on.rows is not None and on.rows == duck.rows else self.spark.off(sql)
        served = "join" in on.served
        self.coverage.add_load(load.form, rows=bool(loaded.ours.rows), colocated=served, **refused)
        kind = _judge(on, off, duck)
        if kind is None:
            return None
        text = f"{on.error or ''} {off.error or ''}\n{difference(on.rows, off.rows, '')}"
        return replace(found, kind=f"after a load: {kind}", log=self._log(world, load), sql=sql, text=text)

    def _load_told(self, world: World, loading: Loading, load: Load, loaded: Loaded, found: Difference) -> Difference:
        end, kind = time.monotonic() + SHRINK_SECONDS, loaded.kind or ""
        small = shrunk(load, lambda smaller: time.monotonic() < end and loading.run(smaller).kind == kind)
        text = loading.run(small).text
        return replace(found, kind=kind, log=self._log(world, small), sql=small.sql("spark"), text=text)

    def _log(self, world: World, load: Load) -> list[str]:
        read = [line for line in world.log if any(name in line for name in _tables(world, load.sql("spark")))]
        return [*read, load.table.ddl(), f"-- its first rows, then {load.form} of: {load.sql('spark')}"]

    def _query(self, world: World, cell: Cell, rng: random.Random, near_miss: float) -> tuple[Query, Result] | None:
        """A query of the cell with some rows, if a few trials find one, and not too many; with DuckDB's rows."""
        found = None
        for _ in range(8):
            query = naming(rng, generate(rng, world.tables, cell, near_miss), world.tables, self.named)
            if any(world.duck.count(part.joined().sql("duck")) > MOST_ROWS for part in query.parts()):
                continue
            found = query, world.duck.run(query.sql("duck"))
            if found[1].rows:
                break
        return found

    def _settings(self, settings: dict[str, str]) -> None:
        for key, value in settings.items():
            self.session.conf.set(key, value)

    def _told(
        self, kind: str, world: World, number: int, case: int, settings: dict[str, str], query: Query
    ) -> Difference:
        small = self._shrink(world, query, kind)
        sql = small.sql("spark")
        on, off, duck = self.spark.run(sql), self.spark.off(sql), world.duck.run(small.sql("duck"))
        first, second = (off, duck) if kind == WITH_DUCK else (on, off)
        told = f"{on.untrue or off.untrue or ''}{first.error or ''} {second.error or ''}"
        text = f"{told}\n{difference(first.rows, second.rows, '')}"
        log = [line for line in world.log if any(name in line for name in _tables(world, sql))]
        return Difference(kind, self.seed, number, case, settings, log, sql, text)

    def _shrink(self, world: World, query: Query, kind: str) -> Query:
        """Takes clauses off while the same kind of difference stays and no engine minds."""
        end = time.monotonic() + SHRINK_SECONDS

        def differs(candidate: Query) -> bool:
            off = self.spark.off(candidate.sql("spark"))
            if off.rows is None or time.monotonic() > end:
                return False
            if kind == VERDICTS:
                return bool(off.untrue or self.spark.run(candidate.sql("spark")).untrue)
            if kind == WITH_DUCK:
                duck = world.duck.run(candidate.sql("duck"))
                return duck.rows is not None and duck.rows != off.rows
            return self.spark.run(candidate.sql("spark")).rows != off.rows

        smaller = next((candidate for candidate in query.smaller() if differs(candidate)), None)
        while smaller is not None and time.monotonic() < end:
            query = smaller
            smaller = next((candidate for candidate in query.smaller() if differs(candidate)), None)
        return query


WITH_OFF = "colocated and switched off"
WITH_DUCK = "Spark and DuckDB"
ERRORS = "colocated fails, switched off does not"
VERDICTS = "the verdicts and the Exchanges"


def _judge(on: Result, off: Result, duck: Result) -> str | None:
    if on.rows is None and off.rows is not None:
        return ERRORS
    if on.rows != off.rows:
        return WITH_OFF
    if on.untrue or off.untrue:
        return VERDICTS
    if off.rows is None or duck.rows is None:
        # A text that one engine does not take tells nothing; the coverage counts it.
        return None
    return WITH_DUCK if off.rows != duck.rows else None


def _tables(world: World, sql: str) -> list[str]:
    words: set[Any] = set(sql.replace("(", " ").replace(")", " ").split())
    return [table.name for table in world.tables.all if table.name in words]
