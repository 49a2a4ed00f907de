"""Runs a load: into a table with buckets and in DuckDB.

Where the two differ, also into a table without buckets while we are switched off.
"""

from collections.abc import Callable
from dataclasses import dataclass

import duckdb
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.fuzz.engines import Duck, Result, Spark
from tests.fuzz.loads import FORMS, TARGET, TWIN, Load, duck_statements, plain
from tests.spark.members import switched_off
from tests.spark.native import misplaced_rows
from tests.spark.oracle import difference

FAILS = "a load fails, without buckets it does not"
OTHER_ROWS = "a load leaves other rows than without buckets"
OTHER_THAN_DUCK = "a load leaves other rows than on DuckDB"
MISPLACED = "a load puts rows into wrong buckets"

_FIRST_ROWS = 12


@dataclass(frozen=True)
class Loaded:
    """What the tables hold after a load. misplaced: rows that lie in another bucket than the hash of their keys.

    twin: the table without buckets, which is not asked where ours holds DuckDB's rows.
    """

    ours: Result
    twin: Result | None
    duck: Result
    misplaced: int

    @property
    def kind(self) -> str | None:
        """What is wrong, if anything. A load that one engine does not take tells nothing; the coverage counts it."""
        if self.ours.rows is None:
            return FAILS if self.twin and self.twin.rows is not None else None
        if self.twin and self.ours.rows != self.twin.rows:
            return OTHER_ROWS
        if self.misplaced:
            return MISPLACED
        return OTHER_THAN_DUCK if self.duck.rows not in (None, self.ours.rows) else None

    @property
    def text(self) -> str:
        other = self.twin if self.twin and self.kind != OTHER_THAN_DUCK else self.duck
        errors = f"{self.ours.error or ''} {other.error or ''}"
        return f"{errors}\n{self.misplaced} misplaced; {difference(self.ours.rows, other.rows, '')}"


@dataclass(frozen=True)
class Loading:
    spark: Spark
    duck: Duck

    def run(self, load: Load) -> Loaded:
        """Leaves the target for a join; `drop` takes it away."""
        with switched_off(self.spark.session):
            self._create(load, TARGET)
        ours, duck = self._caught(load, TARGET), self._ducks(load)
        agreed = ours.rows is not None and ours.rows == duck.rows
        misplaced = 0 if ours.rows is None else self._misplaced(load)
        return Loaded(ours, None if agreed else self._twin(load), duck, misplaced)

    def drop(self) -> None:
        for name in (TARGET, TWIN):
            self.spark.session.sql(f"DROP TABLE IF EXISTS {name}")

    def _twin(self, load: Load) -> Result:
        with switched_off(self.spark.session):
            self._create(load, TWIN)
            return self._caught(load, TWIN)

    def _create(self, load: Load, name: str) -> None:
        table = load.table if name == TARGET else plain(load.table)
        self.spark.session.sql(f"DROP TABLE IF EXISTS {name}")
        if load.form != "CTAS":
            self.spark.session.sql(table.ddl())
            self.spark.insert(table, load.table.rows[:_FIRST_ROWS])

    def _caught(self, load: Load, name: str) -> Result:
        session, form = self.spark.session, FORMS[load.form]
        for key, value in form.settings:
            session.conf.set(key, value)
        try:
            form.write(session, load, name)
        except (PySparkException, Py4JJavaError) as error:
            return Result(None, str(error).strip().splitlines()[0][:300])
        finally:
            for key, _ in form.settings:
                session.conf.unset(key)
        return self.spark.off(f"SELECT {', '.join(load.table.names)} FROM {name}")

    def _ducks(self, load: Load) -> Result:
        self.duck.create(load.table)
        self.duck.insert(load.table, load.table.rows[:_FIRST_ROWS])
        try:
            for statement in duck_statements(load):
                self.duck.execute(statement)
        except duckdb.Error as error:
            return Result(None, str(error).strip().splitlines()[0][:300])
        return self.duck.run(f"SELECT {', '.join(load.table.names)} FROM {TARGET}")

    def _misplaced(self, load: Load) -> int:
        table, keys = load.table, ", ".join(load.table.keys)
        if table.provider != "delta":
            return misplaced_rows(self.spark.session, TARGET, keys, table.buckets)
        wrong = f"NOT (_colocate_bucket <=> pmod(hash({keys}), {table.buckets}))"
        return self.spark.session.table(TARGET).where(wrong).count()


def shrunk(load: Load, differs: Callable[[Load], bool]) -> Load:
    """Takes clauses off the query, but no column, while the difference stays."""
    for query in load.query.smaller():
        smaller = Load(load.form, load.table, query)
        if len(query.select) == len(load.query.select) and differs(smaller):
            return shrunk(smaller, differs)
    return load
