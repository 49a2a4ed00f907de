"""Members of a group for tests: made by DDL as a user makes them, filled from SQL, and the group's flag."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlparse

from pyspark.sql import SparkSession

NATIVE = ("parquet", "orc")


def database(spark: SparkSession, name: str, make: Callable[[SparkSession], None]) -> Iterator[str]:
    """For a module's fixture, by `yield from`: a database with what `make` puts into it, dropped afterwards."""
    spark.sql(f"CREATE DATABASE {name}")
    spark.sql(f"USE {name}")
    make(spark)
    spark.sql("USE default")
    yield name
    spark.sql(f"DROP DATABASE {name} CASCADE")


def create_member(
    spark: SparkSession,
    name: str,
    columns: str,
    keys: Sequence[str],
    buckets: int,
    provider: str = "delta",
    group: str = "g",
    partitioned: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
) -> None:
    """columns: as in DDL, `k INT, v BIGINT`. partitioned: names of columns that are among them."""
    by = f"PARTITIONED BY ({', '.join(partitioned)})" if partitioned else ""
    wanted = {"colocate_with": group, **(properties or {})}
    spark.sql(
        f"CREATE TABLE {name} ({columns}) USING {provider} {by} CLUSTERED BY ({', '.join(keys)}) INTO {buckets} "
        f"BUCKETS TBLPROPERTIES ({', '.join(f'{key!r} = {value!r}' for key, value in wanted.items())})"
    )


def fill(spark: SparkSession, name: str, query: str, columns: Sequence[str]) -> None:
    """Appends the rows of `query`, whose columns come in the order of `columns`."""
    spark.sql(f"INSERT INTO {name} ({', '.join(columns)}) {query}")


def folder(spark: SparkSession, table: str) -> Path:
    """Where a table's files lie, whatever its format."""
    for row in spark.sql(f"DESCRIBE EXTENDED {table}").collect():
        if row["col_name"] == "Location":
            return Path(unquote(urlparse(row["data_type"]).path))
    raise AssertionError(f"{table} has no location")


def set_stable(spark: SparkSession, group: str, stable: bool) -> None:
    spark.sql(f"CALL system.set_group_stable(group => '{group}', stable => {str(stable).lower()})").collect()


@contextmanager
def unstable(spark: SparkSession, group: str) -> Iterator[None]:
    """The operator's flag is off within the block. group: the full name, `db.g`."""
    set_stable(spark, group, False)
    try:
        yield
    finally:
        set_stable(spark, group, True)


@contextmanager
def switched_off(spark: SparkSession) -> Iterator[None]:
    spark.sql("SET disable_colocate_join = true")
    try:
        yield
    finally:
        spark.sql("SET disable_colocate_join = false")
