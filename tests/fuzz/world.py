"""One world: random tables in both engines, and the changes that happen to them between queries."""

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlparse

import pyarrow.parquet
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.fuzz.catalogue import Catalogue, Maker
from tests.fuzz.drivers import SecondDriver
from tests.fuzz.engines import Diverged, Duck, Result, Spark, failed
from tests.fuzz.key_changes import KeyChange
from tests.fuzz.property_changes import PropertyChange
from tests.fuzz.range_changes import RangeChange
from tests.fuzz.tables import Row, Table
from tests.soak.peer import PeerFailed
from tests.spark.oracle import difference

FAILURES = (PySparkException, Py4JJavaError, PeerFailed)

# How many INSERTs into a table with range partitions have no row outside of them.
FITTING = 0.75


class World:
    """log: every statement that made the present state, as a user would type it.

    altered: how many changes are of properties. second: a driver that makes every other change, if there is one.
    """

    def __init__(
        self, tables: Catalogue, spark: Spark, duck: Duck, altered: float = 0, second: SecondDriver | None = None
    ) -> None:
        self.tables, self.spark, self.duck, self.altered, self.second = tables, spark, duck, altered, second
        self.log: list[str] = []
        self._ids = 1000

    def create(self) -> None:
        session = self.spark.session
        session.sql("DROP DATABASE IF EXISTS fuzz CASCADE")
        session.sql("CREATE DATABASE fuzz")
        session.sql("USE fuzz")
        if self.second:
            self.second.sql("USE fuzz")
        for table in self.tables.all:
            self._make(table)

    def drop(self) -> None:
        self.spark.session.sql("USE default")
        self.spark.session.sql("DROP DATABASE IF EXISTS fuzz CASCADE")

    def change(self, rng: random.Random, late: bool) -> None:
        """One random change of one table, in both engines. late: the world is near its end, so damage is allowed."""
        changes: list[Callable[[random.Random], Table]] = [
            self._insert, self._update, self._update_key, self._delete, self._merge, self._merge, self._relayout,
        ]  # fmt: skip
        if any(table.ranges for table in self.tables.all):
            changes += [self._insert_ranged, *[lambda rng: RangeChange(self, rng).make()] * 3]
        keyed = sum(table.model is not None for table in self.tables.all)
        changes += [lambda rng: KeyChange(self, rng).make()] * (3 * keyed)
        if self.altered and rng.random() < self.altered:
            changes = [lambda rng: PropertyChange(self, rng).make()]
        table = (self._stray if late and rng.random() < 0.5 else rng.choice(changes))(rng)
        self._compare(table)

    def _make(self, table: Table) -> None:
        self.run(table.ddl())
        self.duck.create(table)
        # Two commits, so that a bucket has more than one file.
        middle = len(table.rows) * 2 // 3 if table.name in ("d0", "q0") else len(table.rows)
        for rows in (table.rows[:middle], table.rows[middle:]):
            if rows:
                self.fill(table, rows)

    def fill(self, table: Table, rows: tuple[Row, ...]) -> None:
        """All of the rows, or none where one belongs to no range partition."""
        self._alike(
            f"-- {len(rows)} rows into {table.name}",
            lambda: self._insert_rows(table, rows), self.duck.tried(lambda: self.duck.insert(table, rows)),
        )  # fmt: skip

    def loaded(self, sql: str, table: Table, rows: tuple[Row, ...]) -> None:
        """A statement that loads these rows."""
        duck = self.duck.tried(lambda: self.duck.insert(table, rows))
        self._alike(sql, lambda: self._sql(sql), duck)

    def _insert_rows(self, table: Table, rows: tuple[Row, ...]) -> None:
        if self.second and self.second.is_next():
            self.second.insert(table, rows)
            self.spark.session.sql(f"REFRESH TABLE {table.name}")
        else:
            self.spark.insert(table, rows)

    def _sql(self, sql: str) -> None:
        if self.second and self.second.is_next():
            self.second.sql(sql)
        else:
            self.spark.session.sql(sql)

    def run(self, sql: str) -> None:
        """In Spark alone."""
        self.log.append(sql)
        try:
            self._sql(sql)
        except FAILURES as error:
            raise Diverged(f"Spark fails: {sql}\n{error}") from error

    def both(self, sql: str, duck: str | None = None) -> None:
        """duck: what the statement is in DuckDB, where it is another one."""
        self._alike(sql, lambda: self._sql(sql), self.duck.attempt(duck or sql))

    def _alike(self, text: str, change: Callable[[], object], duck: Result | None) -> None:
        """Both engines make the change, or both refuse it as a row would be in no range partition."""
        self.log.append(text)
        ours: Result | None = None
        try:
            change()
        except FAILURES as error:
            ours = failed(error)
            if not ours.refused:
                raise Diverged(f"Spark fails: {text}\n{error}") from error
        if duck and not duck.refused:
            raise AssertionError(f"DuckDB cannot run: {text}\n{duck.error}")
        if (ours is None) != (duck is None):
            said = f"Spark: {ours.error if ours else 'done'}\nDuckDB: {duck.error if duck else 'done'}"
            raise Diverged(f"only one engine refuses: {text}\n{said}")
        if ours:
            self.log[-1] = f"-- refused, as a row is of no range partition: {text}"

    def _delta(self, rng: random.Random) -> Table:
        """KeyChange changes those that have a key model."""
        return rng.choice([table for table in self.tables.all if table.provider == "delta" and not table.model])

    def _insert(self, rng: random.Random) -> Table:
        return self._insert_into(rng, rng.choice(self.tables.all))

    def _insert_ranged(self, rng: random.Random) -> Table:
        return self._insert_into(rng, rng.choice([table for table in self.tables.all if table.ranges]))

    def _insert_into(self, rng: random.Random, table: Table) -> Table:
        rows = self.rows(rng, table, rng.randint(3, 15))
        rows = table.fitting(rows) if rng.random() < FITTING else rows
        if rows:
            self.fill(table, rows)
        return table

    def rows(self, rng: random.Random, table: Table, count: int) -> tuple[Row, ...]:
        return table.shaped(Maker(rng, table.type("k1"), table.type("k2"), 12).rows(count, self.next_ids()))

    def next_ids(self) -> int:
        """The first of a thousand ids that no row has."""
        self._ids += 1000
        return self._ids

    def _update(self, rng: random.Random) -> Table:
        table = self._delta(rng)
        self.both(f"UPDATE {table.name} SET v = (v + 1) % 10 WHERE id % 5 = {rng.randrange(5)}")
        return table

    def _update_key(self, rng: random.Random) -> Table:
        """Rows move to other buckets."""
        table = self._delta(rng)
        value = table.column("k2") if table.type("k1") == table.type("k2") else "NULL"
        self.both(f"UPDATE {table.name} SET {table.column('k1')} = {value} WHERE id % 7 = {rng.randrange(7)}")
        return table

    def _delete(self, rng: random.Random) -> Table:
        table = self._delta(rng)
        self.both(f"DELETE FROM {table.name} WHERE id % 9 = {rng.randrange(9)}")
        return table

    def _merge(self, rng: random.Random) -> Table:
        target = self._delta(rng)
        peers = [t for t in self.tables.all if t.type("k1") == target.type("k1")]
        source, key = rng.choice(peers), target.column("k1")
        grouped = f"SELECT {source.column('k1')} AS k, max(v) AS v, min(id) AS id FROM {source.name} GROUP BY 1"
        update = "THEN UPDATE SET v = s.v"
        matched = rng.choice((update, "AND t.v > 7 THEN DELETE", f"AND t.v < 5 {update}"))
        insert = f"WHEN NOT MATCHED THEN INSERT ({key}, id, v) VALUES (s.k, s.id + {self.next_ids()}, s.v)"
        self.both(
            f"MERGE INTO {target.name} AS t USING ({grouped}) AS s ON t.{key} = s.k WHEN MATCHED {matched} "
            + (insert if rng.random() < 0.6 else "")
        )
        return target

    def _relayout(self, rng: random.Random) -> Table:
        """The same name, another bucket count."""
        old = self.tables.relaid
        table = replace(old, buckets=old.buckets + rng.choice((1, 2, 3)), rows=old.fitting(self.rows(rng, old, 40)))
        self.tables = replace(self.tables, relaid=table)
        self.run(table.ddl().replace("CREATE TABLE", "CREATE OR REPLACE TABLE", 1))
        self.duck.create(table)
        self.fill(table, table.rows)
        return table

    def _stray(self, rng: random.Random) -> Table:
        """A file that no writer of ours made, with a name from which stock Spark would read a bucket."""
        table = self.tables.members[rng.choice(("parquet", "orc"))][0]
        rows = self.rows(rng, table, rng.randint(5, 12))
        session = self.spark.session
        facts = session.sql(f"DESCRIBE TABLE EXTENDED {table.name}").collect()
        location = next(row[1] for row in facts if row[0] == "Location")
        file = Path(unquote(urlparse(location).path)) / f"data_{rng.randrange(table.buckets)}.{table.provider}"
        if not file.exists():
            self.log.append(f"-- {len(rows)} rows in a file {file.name} put into the folder of {table.name}")
            self._write_file(table, rows, file)
            self.duck.insert(table, rows)
            session.sql(f"REFRESH TABLE {table.name}")
        return table

    def _write_file(self, table: Table, rows: tuple[Row, ...], file: Path) -> None:
        if table.provider == "parquet":
            pyarrow.parquet.write_table(table.arrow(rows), file)
            return
        # Spark does not read another writer's ORC file where a column has no zone.
        with TemporaryDirectory() as folder:
            session = self.spark.session
            schema = session.table(table.name).select(*table.names).schema
            fresh = session.createDataFrame(table.arrow(rows)).to(schema)
            fresh.coalesce(1).write.format(table.provider).mode("overwrite").save(folder)
            (written,) = Path(folder).glob(f"part-*.{table.provider}")
            shutil.move(written, file)

    def _compare(self, table: Table) -> None:
        names = ", ".join(table.names)
        lies_in, belongs_to = ("_colocate_range", table.ranges.name_of()) if table.ranges else ("0", "0")
        ours = self.spark.off(f"SELECT {names}, {lies_in} FROM {table.name}")
        theirs = self.duck.run(f"SELECT {names}, {belongs_to} FROM {table.name}")
        if ours.rows != theirs.rows:
            error = ours.error or theirs.error or difference(ours.rows, theirs.rows, "")
            raise Diverged(f"{table.name} differs from DuckDB's after: {self.log[-1]}\n{error}")
