"""Runs a load: into a table with buckets and in DuckDB.

Where the two differ, also into a table without buckets while we are switched off.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.fuzz.drivers import SecondDriver
from tests.fuzz.engines import Duck, Result, Spark, failed
from tests.fuzz.forms import BY_FRAME, FORMS, TARGET, TWIN, Load, duck_statements, plain
from tests.soak.peer import PeerFailed
from tests.spark.members import switched_off
from tests.spark.native import misplaced_rows
from tests.spark.oracle import difference

FAILS = "a load fails, without buckets it does not"
OTHER_ROWS = "a load leaves other rows than without buckets"
OTHER_THAN_DUCK = "a load leaves other rows than on DuckDB"
MISPLACED = "a load puts rows into wrong buckets or range partitions"
TAKEN = "a load is taken that must be refused"
CHANGED = "a load that was refused changes the table"

_FIRST_ROWS = 12


@dataclass(frozen=True)
class Loaded:
    """What a load gave, and the rows of the tables after it.

    twin: of the table without buckets, which is not asked where ours holds DuckDB's rows. misplaced: rows that lie in
    another bucket than the hash of their keys, or in another range partition than that of their values. unchanged: is
    the table as it was, where the load was refused?
    """

    ours: Result
    twin: Result | None
    duck: Result
    misplaced: int
    unchanged: bool = True

    @property
    def kind(self) -> str | None:
        """What is wrong, if anything. A load that one engine does not take tells nothing; the coverage counts it."""
        if not self.unchanged:
            return CHANGED
        if self.ours.rows is None:
            rightly = self.ours.refused and (self.duck.refused or self.duck.rows is None)
            return FAILS if not rightly and self.twin and self.twin.rows is not None else None
        if self.duck.refused:
            return TAKEN
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
    """second: a driver that writes every other load that is a statement, if there is one."""

    spark: Spark
    duck: Duck
    second: SecondDriver | None = None

    def run(self, load: Load) -> Loaded:
        """Leaves the target for a join; `drop` takes it away."""
        with switched_off(self.spark.session):
            self._create(load, TARGET)
        ours, duck = self._caught(load, TARGET), self._ducks(load)
        misplaced = 0 if ours.rows is None else self._misplaced(load)
        twin = self._twin(load) if self._needs_twin(load, ours, duck) else None
        return Loaded(ours, twin, duck, misplaced, not ours.refused or self._is_unchanged(load))

    def _needs_twin(self, load: Load, ours: Result, duck: Result) -> bool:
        """Rows without a key model are others. So are those that a dynamic overwrite replaces without ranges."""
        if ours.rows is None:
            return not (ours.refused and duck.refused)
        by_ranges = load.table.ranges and FORMS[load.form].is_dynamic
        return ours.rows != duck.rows and not by_ranges and not load.table.model

    def _is_unchanged(self, load: Load) -> bool:
        """As before the load that was refused. A table that the load makes is not there then."""
        there = self.spark.session.catalog.tableExists(TARGET)
        if load.form == "CTAS" or not there:
            return not there and load.form == "CTAS"
        text = f"SELECT {', '.join(load.table.names)} FROM {TARGET}"
        self.duck.create(load.table)
        self.duck.insert(load.table, load.table.rows[:_FIRST_ROWS])
        return self.spark.off(text).rows == self.duck.run(text).rows

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
        form = FORMS[load.form]
        session = self._writer(load, name)
        for key, value in form.settings:
            session.conf.set(key, value)
        try:
            form.write(session, load, name)
        except (PySparkException, Py4JJavaError, PeerFailed) as error:
            return failed(error)
        finally:
            for key, _ in form.settings:
                session.conf.unset(key)
        if session is self.second:
            self.spark.session.sql(f"REFRESH TABLE {name}")
        return self.spark.off(f"SELECT {', '.join(load.table.names)} FROM {name}")

    def _writer(self, load: Load, name: str) -> Any:
        """What has the `sql` that writes."""
        if self.second is None or name != TARGET or load.form in BY_FRAME or not self.second.is_next():
            return self.spark.session
        if load.form != "CTAS":
            self.second.sql(f"REFRESH TABLE {name}")
        return self.second

    def _ducks(self, load: Load) -> Result:
        self.duck.create(load.table)
        self.duck.insert(load.table, load.table.rows[:_FIRST_ROWS])
        if load.is_refused:
            return Result(None, "the table's key model has no such statement", refused=True)
        return self.duck.attempt(*duck_statements(load)) or self.duck.run(
            f"SELECT {', '.join(load.table.names)} FROM {TARGET}"
        )

    def _misplaced(self, load: Load) -> int:
        table, keys = load.table, ", ".join(load.table.keys)
        if table.provider != "delta":
            return misplaced_rows(self.spark.session, TARGET, keys, table.buckets)
        number = table.ranges.buckets_of(table.buckets) if table.ranges else table.buckets
        wrong = [f"NOT (_colocate_bucket <=> pmod(hash({keys}), {number}))"] if keys else []
        if table.ranges:
            wrong.append(f"NOT (_colocate_range <=> {table.ranges.name_of()})")
        return self.spark.session.table(TARGET).where(" OR ".join(wrong)).count()


def shrunk(load: Load, differs: Callable[[Load], bool]) -> Load:
    """Takes clauses off the query, but no column, while the difference stays."""
    for query in load.query.smaller():
        smaller = Load(load.form, load.table, query)
        if len(query.select) == len(load.query.select) and differs(smaller):
            return shrunk(smaller, differs)
    return load
