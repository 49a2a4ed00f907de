"""Bad input as data: one table declaration, told through every face, and what must be as it was afterwards."""

import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, partitioning
from spark_colocate.catalogues import conf

DATABASE = "bad_input"
FORMATS = ("parquet", "delta")
FACES = ("CREATE TABLE", "CREATE TABLE AS SELECT", "saveAsTable", "writeTo")
_BUCKETED = "USING parquet CLUSTERED BY {} INTO 4 BUCKETS TBLPROPERTIES ('colocate_with'='{}')"

PARENTS = (
    f"CREATE TABLE {DATABASE}.parent (k INT, v STRING) " + _BUCKETED.format("(k)", "g"),
    f"CREATE TABLE {DATABASE}.pair (k INT, v STRING) " + _BUCKETED.format("(k, v)", "two"),
)


@dataclass(frozen=True)
class Declared:
    """A table as a user declares it; the default fits the group g, whose parent is clustered by an INT into 4."""

    columns: str = "k INT, v STRING"
    keys: tuple[str, ...] = ("k",)
    buckets: int = 4
    group: str = "g"
    properties: dict[str, str] = field(default_factory=dict)
    formats: tuple[str, ...] = FORMATS
    faces: tuple[str, ...] = FACES
    clause: str = ""

    def told_by(self, face: str) -> bool:
        if face == "writeTo" and len(self.keys) > 1:
            return False  # Spark's bucket transform takes one column there
        return face in self.faces

    def sql(self, format: str, query: str = "") -> str:
        cluster = self.clause or (
            f"CLUSTERED BY ({', '.join(self.keys)}) INTO {self.buckets} BUCKETS" if self.keys else ""
        )
        properties = ", ".join(f"'{key}'='{value}'" for key, value in self._all().items())
        columns = "" if query else f"({self.columns}) "
        return f"CREATE TABLE {DATABASE}.t {columns}USING {format} {cluster} TBLPROPERTIES ({properties})" + (
            f" AS {query}" if query else ""
        )

    def tell(self, spark: SparkSession, face: str, format: str) -> None:
        if face == "CREATE TABLE":
            spark.sql(self.sql(format))
            return
        rows = self._rows(spark)
        if face == "CREATE TABLE AS SELECT":
            rows.createOrReplaceTempView("bad_input_source")
            spark.sql(self.sql(format, "SELECT * FROM bad_input_source"))
        elif face == "saveAsTable":
            writer = rows.write.format(format).options(**self._all())
            (writer.bucketBy(self.buckets, *self.keys) if self.keys else writer).saveAsTable(f"{DATABASE}.t")
        else:
            made = rows.writeTo(f"{DATABASE}.t").using(format)
            for key, value in self._all().items():
                made = made.tableProperty(key, value)
            if self.keys:
                made = made.partitionedBy(partitioning.bucket(self.buckets, col(self.keys[0])))
            made.create()

    def _rows(self, spark: SparkSession) -> DataFrame:
        return spark.createDataFrame([], self.columns)

    def _all(self) -> dict[str, str]:
        return {"colocate_with": self.group, **self.properties}


def message(statement: Callable[[], Any]) -> str:
    """The first line of the error that the statement raises: headline and cure, without Spark's plan below it."""
    try:
        statement()
    except PySparkException as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        return _bare(lines[0].strip())
    return "no error"


def _bare(line: str) -> str:
    """An error of ours without its condition and SQLSTATE; Spark's and Delta's errors stay whole."""
    codes = "|".join(entry["code"] for entry in conf.load("errors.json")["errors"])
    return re.sub(rf"^\[(?:{codes})\] (.*) SQLSTATE: [0-9A-Z]{{5}}$", r"\1", line)


@dataclass(frozen=True)
class World:
    """All that a refused statement must leave as it was."""

    store: dict[str, list[tuple[Any, ...]]]
    tables: list[str]
    files: list[str]

    @staticmethod
    def of(spark: SparkSession, database: str = DATABASE) -> "World":
        warehouse = Path(str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:"))
        folder = warehouse / f"{database}.db"
        return World(
            store_dump(warehouse / "_colocate" / "store.sqlite"),
            _tables(spark, database),
            sorted(str(path.relative_to(warehouse)) for path in folder.rglob("*")),
        )


def store_dump(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the store, without counters that go on by themselves and tickets of statements that have ended."""
    if not path.exists():
        return {}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        dump = {name: sorted(store.execute(f"SELECT {_columns(store, name)} FROM {name}")) for name in names}
        dump["colocate_catalogs"] = sorted(store.execute("SELECT identity, next_id FROM colocate_catalogs"))
        dump["colocate_tickets"] = sorted(store.execute("SELECT intent FROM colocate_tickets WHERE NOT committed"))
    return dump


def _columns(store: sqlite3.Connection, table: str) -> str:
    """But for the beats, which drivers count up while they live."""
    return ", ".join(name for _, name, *_ in store.execute(f"PRAGMA table_info({table})") if name != "beats")


def _tables(spark: SparkSession, database: str) -> list[str]:
    """The catalog's entries in full, as Spark prints them."""
    assert spark._jsparkSession is not None
    catalog = spark._jsparkSession.sharedState().externalCatalog()
    names = str(catalog.listTables(database).mkString(",")).split(",")
    return [str(catalog.getTable(database, name).toString()) for name in sorted(filter(None, names))]
