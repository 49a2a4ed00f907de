"""Keys that are no single long are hashed to one in our own hash join; equal hashes make no pair."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare
from tests.tiers.params import rest_slow

OWN = "BucketHashJoinExec"
MASK = (1 << 64) - 1
PRIME1, PRIME2, PRIME5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x27D4EB2F165667C5
SEED = 42

COLUMNS = {
    "t": ("STRING", "if(id % 9 = 0, NULL, concat('text ', id % 70))"),
    "a": ("BIGINT", "if(id % 7 = 0, NULL, id % 5)"),
    "b": ("BIGINT", "id % 3"),
    "x": ("DOUBLE", "element_at(array(0.0D, -0.0D, double('NaN'), 1.5D, NULL), int(id % 5 + 1))"),
    "f": ("FLOAT", "element_at(array(float('-0.0'), float('NaN'), 0.0F), int(id % 3 + 1))"),
    "d": ("DECIMAL(20, 3)", "cast(id % 4 AS DECIMAL(20, 3)) / 8"),
    "day": ("DATE", "date_add(DATE'2020-02-28', int(id % 3))"),
    "at": ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ'2020-02-28 23:59:59.999999'"),
    "bin": ("BINARY", "if(id % 11 = 0, NULL, cast(concat('x', id % 2) AS BINARY))"),
    "yes": ("BOOLEAN", "id % 2 = 0"),
    "v": ("BIGINT", "id"),
}
KEYS = ["t", "t a b", "t x", "t f d", "t day at", "t bin yes"]
JOINS = {
    "inner": "SELECT s.v, b.v FROM h_s s JOIN h_b b ON {on}",
    "condition": "SELECT s.v, b.v FROM h_s s JOIN h_b b ON {on} AND s.v % 5 < b.v % 7",
    "left": "SELECT s.v, b.v FROM h_s s LEFT JOIN h_b b ON {on}",
    "kept": "SELECT s.v, b.v FROM h_s s RIGHT JOIN h_b b ON {on} AND s.v > 20",
    "full": "SELECT s.v, b.v FROM h_s s FULL JOIN h_b b ON {on}",
    "semi": "SELECT s.v, 0 FROM h_s s LEFT SEMI JOIN h_b b ON {on}",
    "anti": "SELECT s.v, 0 FROM h_s s LEFT ANTI JOIN h_b b ON {on} AND b.v % 3 > 0",
    "exists": "SELECT s.v, 0 FROM h_s s WHERE s.v % 11 = 0 OR EXISTS (SELECT 1 FROM h_b b WHERE {on})",
}


def make_tables(spark: SparkSession) -> None:
    """h_b and h_s, with twice as many rows, by t; one_b and one_s by (a, b), with two rows of one hash."""
    for table, rows in (("h_b", 150), ("h_s", 300)):
        create_member(spark, table, ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items()), ["t"], 2)
        made = ", ".join(value for _, value in COLUMNS.values())
        fill(spark, table, f"SELECT {made} FROM range({rows})", list(COLUMNS))
    for table, pairs in (("one_b", [(1, 5)]), ("one_s", [(2, same_hash(1, 5, 2)), (3, 5)])):
        create_member(spark, table, "a BIGINT, b BIGINT", ["a", "b"], 1, group="pairs")
        fill(spark, table, f"SELECT * FROM VALUES {', '.join(f'({a}L, {b}L)' for a, b in pairs)}", ["a", "b"])


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "hashed", make_tables)


@pytest.mark.parametrize("keys", rest_slow(KEYS, "t", "t f d", "t bin yes"))
def test_every_join_by_such_keys_gives_the_rows_of_stock_spark(session: SparkSession, keys: str) -> None:
    on = " AND ".join(f"s.{key} {'<=>' if key == 'bin' else '='} b.{key}" for key in keys.split())
    parts = (f"SELECT '{name}', * FROM ({sql.format(on=on)}) AS t(v, w)" for name, sql in JOINS.items())
    pair = compare(session, " UNION ALL ".join(parts))
    assert pair.on.exchanges == 0
    assert pair.on.kinds.count(OWN) == len(JOINS)
    assert {row[0] for row in pair.on.rows} == set(JOINS)


@pytest.mark.parametrize(
    ("join", "rows"), [("JOIN", 0), ("LEFT JOIN", 2), ("FULL JOIN", 3), ("LEFT SEMI JOIN", 0), ("LEFT ANTI JOIN", 2)]
)
@pytest.mark.every(2)
def test_equal_hashes_of_different_keys_make_no_pair(session: SparkSession, join: str, rows: int) -> None:
    hashes = session.sql("SELECT xxhash64(a, b) FROM one_b UNION ALL SELECT xxhash64(a, b) FROM one_s WHERE a = 2")
    assert len({row[0] for row in hashes.collect()}) == 1
    pair = compare(session, f"SELECT * FROM one_s s {join} one_b b ON s.a = b.a AND s.b = b.b")
    assert pair.on.kinds.count(OWN) == 1
    assert len(pair.on.rows) == rows


def same_hash(a: int, b: int, other: int) -> int:
    """A b for which xxhash64(other, b) is xxhash64(a, b): every step of the hash of eight bytes can be undone."""
    mixed = _key(b) ^ _start(_hash(a, SEED)) ^ _start(_hash(other, SEED))
    turned = mixed * pow(PRIME1, -1, 1 << 64) & MASK
    found = _turn(turned, 64 - 31) * pow(PRIME2, -1, 1 << 64) & MASK
    return found - (1 << 64) if found >> 63 else found


def _start(seed: int) -> int:
    return (seed + PRIME5 + 8) & MASK


def _key(value: int) -> int:
    return _turn(value * PRIME2 & MASK, 31) * PRIME1 & MASK


def _turn(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & MASK


def _hash(value: int, seed: int) -> int:
    """XXH64 of eight bytes."""
    found = _start(seed) ^ _key(value)
    found = (_turn(found, 27) * PRIME1 + 0x85EBCA77C2B2AE63) & MASK
    found = (found ^ found >> 33) * PRIME2 & MASK
    found = (found ^ found >> 29) * 0x165667B19E3779F9 & MASK
    return found ^ found >> 32
