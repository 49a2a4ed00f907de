"""The tables of the soak, and what DuckDB says their rows are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

DATABASE = "soak"
BUCKETS = 4
KEYS = 400
Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Table:
    """All have the columns k INT and v BIGINT, and are bucketed by k."""

    name: str
    provider: str
    group: str

    @property
    def is_native(self) -> bool:
        return self.provider != "delta"

    def ddl(self) -> str:
        return (
            f"CREATE TABLE {self.name} (k INT, v BIGINT) USING {self.provider} CLUSTERED BY (k) INTO {BUCKETS} BUCKETS "
            f"TBLPROPERTIES ('colocate_with' = '{self.group}')"
        )


TABLES = (
    Table("orders", "delta", "sales"),
    Table("lines", "delta", "sales"),
    Table("totals", "delta", "sales"),
    Table("clicks", "parquet", "web"),
    Table("views", "orc", "web"),
    Table("visits", "delta", "web"),
)
GROUPS = ("sales", "web")
OURS = f"group_name IN ({', '.join(repr(f'{DATABASE}.{group}') for group in GROUPS)})"
"""A condition on listed groups: suspensions have groups of their own."""


def of(group: str) -> list[Table]:
    return [table for table in TABLES if table.group == group]


class Model:
    """The same tables in DuckDB. Each thread takes a cursor of its own: what is not committed, others do not see."""

    def __init__(self) -> None:
        self._duck = duckdb.connect()
        for table in TABLES:
            self._duck.execute(f"CREATE TABLE {table.name} (k INT, v BIGINT)")

    def cursor(self) -> duckdb.DuckDBPyConnection:
        return self._duck.cursor()

    def rows(self, sql: str, cursor: duckdb.DuckDBPyConnection | None = None) -> Rows:
        return Counter((cursor or self.cursor()).execute(sql).fetchall())

    def add(self, table: Table, rows: Sequence[tuple[int, int]]) -> None:
        """Rows that came in a file."""
        self.cursor().executemany(f"INSERT INTO {table.name} VALUES (?, ?)", list(rows))
