"""The two engines behind one face: run a text, get a multiset of rows, or the error."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.fuzz.keys import ORDER
from tests.fuzz.tables import Row, Table
from tests.spark.exchanges import untrue
from tests.spark.oracle import Rows, multiset

# More joined rows than this say nothing that fewer would not, and take long.
MOST_ROWS = 20_000

# Of a row without a partition: ours, and Delta's, where only Delta sees the rows; and of a key model's.
_REFUSALS = ("RANGE_NO_PARTITION", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "KEY_MODEL_CHANGE")


class Diverged(AssertionError):
    """A change left other rows in Spark's table than in DuckDB's, or only one of them refused it."""


@dataclass(frozen=True)
class Result:
    """rows: None when the text failed, error says how. served: of join, aggregate and window those on the layout.

    untrue: how the verdicts differ from the Exchanges, if they do. refused: it failed as a row fits no partition, or
    as the table's key model has no such statement.
    """

    rows: Rows | None
    error: str | None = None
    served: frozenset[str] = frozenset()
    untrue: str | None = None
    refused: bool = False


class Spark:
    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def run(self, sql: str) -> Result:
        try:
            df = self.session.sql(sql)
            rows = multiset(df.collect())
        except (PySparkException, Py4JJavaError) as error:
            return failed(error)
        verdicts = self.session._jvm.org.apache.spark.sql.colocate.explain.Verdicts
        found = json.loads(verdicts.json(df._jdf.queryExecution()))
        served = frozenset(_operator(verdict) for verdict in found if verdict["colocated"])
        return Result(rows, None, served, untrue(df))

    def off(self, sql: str) -> Result:
        self.session.conf.set("disable_colocate_join", "true")
        try:
            return self.run(sql)
        finally:
            self.session.conf.set("disable_colocate_join", "false")

    def insert(self, table: Table, rows: tuple[Row, ...]) -> None:
        self.session.createDataFrame(table.arrow(rows)).createOrReplaceTempView("fresh_rows")
        names = ", ".join(table.names)
        self.session.sql(f"INSERT INTO {table.name} ({names}) SELECT {names} FROM fresh_rows")


def failed(error: Exception) -> Result:
    """What a statement gave that raised this."""
    text = str(error).strip()
    refused = isinstance(error, duckdb.ConstraintException) or any(word in text for word in _REFUSALS)
    return Result(None, text.splitlines()[0][:300] if text else type(error).__name__, refused=refused)


def _operator(verdict: dict[str, Any]) -> str:
    """join, aggregate or window; of a verdict such as "Window by (k)" or "SortMergeJoin Inner on (a = b)"."""
    name = verdict["operator"].split()[0].lower()
    return "join" if name.endswith("join") else name


class Duck:
    """Shares no code with Spark; gets the rows by Arrow, and the changes as statements of its own."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET threads = 1")
        self._loads = 0

    def create(self, table: Table) -> None:
        columns = ", ".join(f"{column.name} {column.type.duck}" for column in table.columns)
        columns += f", {ORDER} BIGINT" if table.model else ""
        check = f", CHECK ({table.ranges.name_of()} IS NOT NULL)" if table.ranges else ""
        self._drop(table.name)
        self._connection.execute(f"CREATE OR REPLACE TABLE {table.stored} ({columns}{check})")
        if table.model:
            typed = [(column.name, column.type) for column in table.columns]
            self._connection.execute(f"CREATE VIEW {table.name} AS {table.model.view(typed, table.stored)}")

    def _drop(self, name: str) -> None:
        """A table, or the view of a key model's rows."""
        kind = self._connection.execute(
            "SELECT table_type FROM information_schema.tables WHERE table_name = ?", [name]
        ).fetchone()
        if kind:
            self._connection.execute(f"DROP {'VIEW' if kind[0] == 'VIEW' else 'TABLE'} {name}")

    def change_check(self, table: Table) -> None:
        """The table has other range partitions, and its rows."""
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE kept AS SELECT * FROM {table.stored}")
        self.create(table)
        self._connection.execute(f"INSERT INTO {table.stored} SELECT * FROM kept")

    def insert(self, table: Table, rows: tuple[Row, ...]) -> None:
        fresh = table.arrow(rows)
        # The zone of a TIMESTAMP is the session's, UTC on both sides.
        naive = [pa.timestamp("us") if pa.types.is_timestamp(f.type) else f.type for f in fresh.schema]
        typed = fresh.cast(pa.schema(list(zip(table.names, naive, strict=True))))
        self._connection.register("fresh_rows", typed)
        self._connection.execute(f"INSERT INTO {table.stored} SELECT *{self.load_order(table)} FROM fresh_rows")
        self._connection.unregister("fresh_rows")

    def load_order(self, table: Table) -> str:
        """One more column of a load of a table with a key model: its rows come after those of all loads before."""
        self._loads += 1
        return f", {self._loads * 1_000_000} + row_number() OVER () AS {ORDER}" if table.model else ""

    def execute(self, sql: str) -> None:
        self._connection.execute(sql)

    def attempt(self, *statements: str) -> Result | None:
        """All of the statements or none of them; how they failed, if they did."""

        def run() -> None:
            for statement in statements:
                self._connection.execute(statement)

        return self.tried(run)

    def tried(self, change: Callable[[], object]) -> Result | None:
        """As attempt."""
        self._connection.execute("BEGIN")
        try:
            change()
        except duckdb.Error as error:
            self._connection.execute("ROLLBACK")
            return failed(error)
        self._connection.execute("COMMIT")
        return None

    def count(self, sql: str) -> int:
        found: Any = self._connection.execute(sql).fetchone()
        return int(found[0])

    def run(self, sql: str) -> Result:
        try:
            return Result(multiset(self._connection.execute(sql).fetchmany(MOST_ROWS + 1)))
        except duckdb.Error as error:
            return failed(error)
