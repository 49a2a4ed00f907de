"""REPLACE in merged files: the last row in the order of loads, without the numbers of rows; the rows stay the same."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.delta_log import rewrite_last
from tests.spark.members import create_member, folder
from tests.spark.merges import MERGED, hashed
from tests.spark.oracle import multiset
from tests.spark.plans import kind, nodes
from tests.tiers.params import rest_slow

NUMBER = "_tmp_metadata_row_index"


def read(spark: SparkSession, sql: str, by_load: bool = True) -> Counter[Any]:
    """The rows of a query that merges files: in the order of loads, or with the numbers of rows."""
    frame = spark.sql(sql)
    rows = multiset(frame.collect())
    merges = [node for node in nodes(frame) if kind(node) == MERGED]
    assert merges
    for merge in merges:
        assert merge.byLoad() == by_load
        assert (NUMBER in merge.scan().requiredSchema().toString()) != by_load
    assert rows == hashed(spark, sql)
    return rows


def unique(spark: SparkSession, **properties: str) -> None:
    """t, with a row for k = 0 to 49 of the loads a and b."""
    model = {"key_model": "unique", "key_columns": "k", **properties}
    create_member(spark, "t", "k INT, v STRING", ["k"], 2, properties=model)
    spark.sql("INSERT INTO t SELECT id, 'a' FROM range(50)")
    spark.sql("INSERT INTO t SELECT id, 'b' FROM range(20)")


def loaded(**last: range) -> Counter[Any]:
    """The rows of t after more loads, by the value of each."""
    rows = {k: value for value, keys in ({"a": range(50), "b": range(20)} | last).items() for k in keys}
    return Counter(rows.items())


@pytest.mark.parametrize("keys", rest_slow(["k", "k, t", "t, k"], "t, k"))
def test_the_last_load_replaces(spark: SparkSession, db: str, keys: str) -> None:
    functions = '{"r": "REPLACE", "n": "REPLACE_IF_NOT_NULL", "s": "SUM", "x": "REPLACE", "m": "REPLACE_IF_NOT_NULL"}'
    columns = "k INT, t STRING, r INT, n INT, s BIGINT, x STRUCT<a: INT, b: STRING>, m MAP<STRING, INT>"
    if keys == "k":
        functions = functions.replace("{", '{"t": "MAX", ')
    model = {"key_model": "aggregate", "key_columns": keys, "value_aggregates": functions}
    create_member(spark, "t", columns, ["k"], 2, properties=model)
    expected: dict[int, tuple[Any, ...]] = {}
    for load, (first, last) in enumerate([(0, 90), (3, 40), (20, 5000), (0, 7), (1, 300), (2, 60)]):
        spark.sql(
            f"INSERT INTO t SELECT id, 'text ' || id, if(id % 7 = {load}, null, {load}), if(id % 2 = {load % 2}, null, "
            f"{load}), {load}, struct({load}, 'x'), if(id % 3 = 0, null, map('m', {load})) FROM range({first}, {last})"
        )
        for k in range(first, last):
            _, _, _, n, s, _, m = expected.get(k, (None,) * 4 + (0, None, None))
            expected[k] = (
                k,
                f"text {k}",
                None if k % 7 == load else load,
                n if k % 2 == load % 2 else load,
                s + load,
                (load, "x"),
                m if k % 3 == 0 else load,
            )
    rows = read(spark, "SELECT k, t, r, n, s, x, m['m'] FROM t")
    assert rows == Counter(expected.values())
    read(spark, "SELECT k, r FROM t WHERE k > 30")
    read(spark, "SELECT x.k, y.r FROM t x JOIN t y ON x.k = y.k AND x.r = y.n")


def test_without_generated_code(spark: SparkSession, db: str) -> None:
    unique(spark)
    spark.conf.set("spark.sql.codegen.hugeMethodLimit", "1")
    assert read(spark, "SELECT * FROM t") == loaded()


def change_last_files(spark: SparkSession, change: Callable[[dict[str, Any]], None]) -> None:
    """In the log, as if the last commit had added them like that."""

    def changed(line: str) -> str:
        action = json.loads(line)
        if "add" in action:
            change(action["add"])
        return json.dumps(action) + "\n"

    rewrite_last(spark, "t", lambda log: "".join(map(changed, log.splitlines())))


def as_if_committed_later(file: dict[str, Any]) -> None:
    file["baseRowId"] += 1000


def test_a_compaction_comes_before_loads(spark: SparkSession, db: str) -> None:
    """Also before one that commits while the compaction writes, and so has the lower numbers."""
    unique(spark)
    spark.sql("CALL system.compact(table => 't')")
    change_last_files(spark, as_if_committed_later)
    spark.sql("INSERT INTO t SELECT id, 'c' FROM range(10)")
    assert read(spark, "SELECT * FROM t") == loaded(c=range(10))
    spark.sql("INSERT INTO t SELECT id, 'd' FROM range(5, 15)")
    assert read(spark, "SELECT * FROM t") == loaded(c=range(10), d=range(5, 15))


def test_moved_rows_of_a_repair_have_kept_their_numbers(spark: SparkSession, db: str) -> None:
    unique(spark)
    spark.sql("CALL system.compact(table => 't')")

    def as_by_a_repair(file: dict[str, Any]) -> None:
        as_if_committed_later(file)
        del file["tags"]["colocate.compacted"]

    change_last_files(spark, as_by_a_repair)
    spark.sql("INSERT INTO t SELECT id, 'c' FROM range(10)")
    assert read(spark, "SELECT * FROM t", by_load=False) == loaded(c=range(10))


def test_two_compactions_in_a_bucket_have_no_order(spark: SparkSession, db: str) -> None:
    """The second one has moved rows of another bucket there."""
    unique(spark)
    spark.sql("CALL system.compact(table => 't')")
    spark.sql("INSERT INTO t SELECT id, 'c' FROM range(10)")
    change_last_files(spark, lambda file: file["tags"].update({"colocate.compacted": "another"}))
    assert read(spark, "SELECT * FROM t", by_load=False) == loaded(c=range(10))


def test_with_rows_of_another_writer(spark: SparkSession, db: str) -> None:
    unique(spark)
    by_path = spark.range(5).selectExpr("CAST(id AS INT) AS k", "'c' AS v")
    by_path.write.format("delta").mode("append").save(str(folder(spark, "t")))
    spark.sql("INSERT INTO t SELECT id, 'd' FROM range(4, 1000)")
    assert read(spark, "SELECT * FROM t", by_load=False) == loaded(c=range(5), d=range(4, 1000))


@pytest.mark.parametrize("vectors", rest_slow(["true", "false"], "true"))
def test_after_rows_were_deleted(spark: SparkSession, db: str, vectors: str) -> None:
    unique(spark, **{"delta.enableDeletionVectors": vectors})
    spark.sql("DELETE FROM t WHERE k < 5")
    spark.sql("INSERT INTO t SELECT id, 'c' FROM range(4, 5000)")
    expected = loaded(c=range(4, 5000))
    for k in range(4):
        del expected[k, "b"]
    assert read(spark, "SELECT * FROM t", by_load=False) == expected


def test_updates_overwrites_and_earlier_versions(spark: SparkSession, db: str) -> None:
    unique(spark)
    spark.sql("UPDATE t SET v = 'c' WHERE k % 10 = 1")
    changed = loaded(c=range(1, 50, 10))
    assert read(spark, "SELECT * FROM t") == changed
    assert read(spark, "SELECT * FROM t VERSION AS OF 2") == loaded()
    spark.sql("INSERT OVERWRITE t SELECT id, 'd' FROM range(3)")
    spark.sql("INSERT INTO t VALUES (1, 'e')")
    assert read(spark, "SELECT * FROM t") == Counter([(0, "d"), (1, "e"), (2, "d")])
    spark.sql("RESTORE t TO VERSION AS OF 3")
    assert multiset(spark.sql("SELECT * FROM t").collect()) == changed
    spark.sql("INSERT INTO t VALUES (1, 'f')")
    assert dict(spark.sql("SELECT * FROM t").collect())[1] == "f"
