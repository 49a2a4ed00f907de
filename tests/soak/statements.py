"""Random queries and changes, in words that Spark and DuckDB both understand."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.soak.tables import KEYS, TABLES, Table, of

JOINS = (
    "SELECT count(*), sum(a.v), sum(b.v) FROM {a} a JOIN {b} b ON a.k = b.k WHERE a.k >= {low}",
    "SELECT a.k, count(*), sum(a.v + b.v) FROM {a} a JOIN {b} b ON a.k = b.k GROUP BY a.k",
    "SELECT count(*), sum(a.v), count(b.v) FROM {a} a LEFT JOIN {b} b ON a.k = b.k AND b.v % 3 = 1",
    "SELECT a.k, count(b.v) FROM {a} a FULL JOIN {b} b ON a.k = b.k GROUP BY a.k",
    "SELECT a.k, a.v FROM {a} a WHERE EXISTS (SELECT 1 FROM {b} b WHERE b.k = a.k AND b.v % 2 = 0)",
    "SELECT a.k, a.v FROM {a} a WHERE NOT EXISTS (SELECT 1 FROM {b} b WHERE b.k = a.k)",
    "SELECT a.k, a.n, b.s FROM (SELECT k, count(*) AS n FROM {a} GROUP BY k) a "
    "JOIN (SELECT k, sum(v) AS s FROM {b} GROUP BY k) b ON a.k = b.k",
)
ONE = (
    "SELECT k, count(*), sum(v), max(v) FROM {a} GROUP BY k",
    "SELECT count(*), sum(n) FROM (SELECT k, v % 7 AS r, count(*) AS n FROM {a} GROUP BY k, v % 7) t",
    "SELECT k, v, sum(v) OVER (PARTITION BY k) FROM {a} WHERE v % 5 = 0",
    "SELECT k, v FROM {a}",
)
SERVED = (*JOINS, *ONE[:3])
POINT = ("SELECT k, v FROM {a} WHERE k = {key}", "SELECT count(*), sum(v) FROM {a} WHERE k IN ({key}, {low}, 7)")


@dataclass(frozen=True)
class Query:
    """served: the layout serves it, so some table should be read by its buckets."""

    text: str
    tables: tuple[Table, ...]
    served: bool = True

    @property
    def reads_native(self) -> bool:
        return any(table.is_native for table in self.tables)


@dataclass(frozen=True)
class Change:
    """spark: one statement. duck: the statements with the same effect. sources: tables that it reads."""

    kind: str
    table: Table
    spark: str
    duck: tuple[str, ...]
    sources: tuple[Table, ...] = ()


def query(draw: random.Random) -> Query:
    shape = draw.choice((*JOINS, *ONE, *POINT, *POINT))
    a = draw.choice(TABLES)
    b = draw.choice([table for table in of(a.group) if table != a])
    text = shape.format(a=a.name, b=b.name, key=draw.randrange(KEYS), low=draw.randrange(KEYS))
    return Query(text, (a, b) if "{b}" in shape else (a,), shape in SERVED)


def of_version(table: Table, version: int) -> str:
    """A query with the sum of all rows of a Delta table, for each key, as they were once."""
    return f"SELECT a.k, count(*), sum(a.v) FROM {table.name} VERSION AS OF {version} a GROUP BY a.k"


def change(draw: random.Random, rows: int, calm: bool) -> Change:
    """rows: about as many as the largest table has. calm: nothing may replace the files of a native table."""
    table = draw.choice(TABLES)
    forms = [_insert, _insert_from]
    if not table.is_native:
        forms += [_merge, _merge, _update, _update_key, _delete, _overwrite]
    elif not calm:
        forms.append(_overwrite)
    if rows > 2500 and (not table.is_native or not calm):
        forms = [_overwrite]
    return draw.choice(forms)(draw, table)


def rows(draw: random.Random, number: int) -> list[tuple[int | None, int]]:
    return [(None if draw.random() < 0.02 else draw.randrange(KEYS), draw.randrange(10**6)) for _ in range(number)]


def values(rows: Sequence[tuple[int | None, int]]) -> str:
    return ", ".join(f"({'NULL' if k is None else k}, {v})" for k, v in rows)


def _insert(draw: random.Random, table: Table) -> Change:
    text = f"INSERT INTO {table.name} VALUES {values(rows(draw, draw.randint(1, 80)))}"
    return Change("insert", table, text, (text,))


def _other(draw: random.Random, table: Table) -> Table:
    return draw.choice([other for other in TABLES if other != table])


def _load(draw: random.Random, table: Table) -> tuple[str, tuple[Table, ...]]:
    """A join of members, one row for each key."""
    a, b = draw.sample([other for other in TABLES if other != table], 2)
    m = draw.randint(2, 5)
    text = (
        f"SELECT a.k, max(a.v + b.v) % 1000000 AS v FROM {a.name} a JOIN {b.name} b ON a.k = b.k "
        f"WHERE a.k % {m} = {draw.randrange(m)} GROUP BY a.k"
    )
    return text, (a, b)


def _insert_from(draw: random.Random, table: Table) -> Change:
    select, sources = _load(draw, table)
    text = f"INSERT INTO {table.name} {select}"
    return Change("insert from a join", table, text, (text,), sources)


def _overwrite(draw: random.Random, table: Table) -> Change:
    source = _other(draw, table)
    select = f"SELECT k, max(v) AS v FROM {source.name} WHERE k % 7 <> {draw.randrange(7)} GROUP BY k"
    duck = (f"DELETE FROM {table.name}", f"INSERT INTO {table.name} {select}")
    return Change("overwrite", table, f"INSERT OVERWRITE {table.name} {select}", duck, (source,))


def _merge(draw: random.Random, table: Table) -> Change:
    source, m = _other(draw, table), draw.randint(2, 6)
    text = (
        f"MERGE INTO {table.name} t USING (SELECT k, max(v) AS v FROM {source.name} "
        f"WHERE k % {m} = {draw.randrange(m)} GROUP BY k) s ON t.k = s.k "
        "WHEN MATCHED AND t.v % 3 = 0 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET v = (t.v + s.v) % 1000000 "
        "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
    )
    return Change("merge", table, text, (text,), (source,))


def _update(draw: random.Random, table: Table) -> Change:
    m = draw.randint(2, 9)
    text = f"UPDATE {table.name} SET v = (v + {draw.randrange(1000)}) % 1000000 WHERE k % {m} = {draw.randrange(m)}"
    return Change("update", table, text, (text,))


def _update_key(draw: random.Random, table: Table) -> Change:
    text = f"UPDATE {table.name} SET k = {draw.randrange(KEYS)} WHERE k = {draw.randrange(KEYS)}"
    return Change("update of keys", table, text, (text,))


def _delete(draw: random.Random, table: Table) -> Change:
    m = draw.randint(2, 6)
    text = f"DELETE FROM {table.name} WHERE k % {m} = {draw.randrange(m)} AND v % 3 = {draw.randrange(3)}"
    return Change("delete", table, text, (text,))
