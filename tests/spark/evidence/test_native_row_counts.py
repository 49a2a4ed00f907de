"""Native members join as Delta members do: the rows of their files are known by the footers, whoever wrote them."""

import os
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.spark.members import database
from tests.spark.native import bucketed, files
from tests.spark.oracle import compare
from tests.spark.plans import nodes
from tests.spark.strays import drop_in, forget
from tests.tiers.params import rest_slow
from tools.plans import kind, walk

FORMATS = ("parquet", "orc", "delta")
ROWS = {"big": 3000, "small": 60}
JOINS = ("JOIN", "LEFT JOIN", "FULL JOIN", "LEFT SEMI JOIN")


def make_tables(spark: SparkSession) -> None:
    """big_<format> and small_<format>: members of one group with a row for each k."""
    for format in FORMATS:
        for name, rows in ROWS.items():
            spark.sql(f"CREATE TABLE {name}_{format} {bucketed('(k INT, v BIGINT)', 4, 'g', format)}")
            spark.sql(f"INSERT INTO {name}_{format} SELECT cast(id AS INT), id FROM range({rows})")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "native_rows", make_tables)


@pytest.fixture(autouse=True)
def _no_broadcasts(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")


def joined(spark: SparkSession, sql: str) -> tuple[str, str]:
    """The query's one join, and the table below its build side."""
    (join,) = [node for node in nodes(spark.sql(sql)) if kind(node).endswith("JoinExec")]
    if kind(join) == "SortMergeJoinExec":
        return "merge", ""
    assert kind(join) != "BroadcastHashJoinExec"
    side = join.left() if str(join.buildSide()) == "BuildLeft" else join.right()
    (table,) = [str(node.nodeName()) for node in walk(side) if "Scan" in str(node.nodeName())]
    return "hash", table.rsplit(".", 1)[-1].rsplit("_", 1)[0]


def of(format: str, join: str = "JOIN") -> str:
    columns = "b.v" if "SEMI" in join else "b.v, s.v"
    return f"SELECT {columns} FROM big_{format} b {join} small_{format} s ON b.k = s.k"


@pytest.mark.each_value
@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("format", rest_slow(["parquet", "orc"], "orc"))
def test_a_native_join_hashes_what_its_delta_twin_hashes(session: SparkSession, format: str, join: str) -> None:
    assert compare(session, of(format, join)).on.rows
    assert joined(session, of(format, join)) == joined(session, of("delta", join)) == ("hash", "small")


@pytest.mark.parametrize("verify", ["new", "never"])
def test_files_that_no_manifest_knows_are_counted(spark: SparkSession, db: str, verify: str) -> None:
    make_tables(spark)
    for name in ROWS:
        forget(spark, f"{name}_parquet")
    spark.conf.set("spark.colocate.verify.onRead", verify)
    assert joined(spark, of("parquet")) == ("hash", "small")
    assert compare(spark, of("parquet")).on.rows


def test_an_append_and_an_overwrite_are_counted(spark: SparkSession, db: str) -> None:
    make_tables(spark)
    assert joined(spark, of("parquet")) == ("hash", "small")
    spark.sql("INSERT INTO small_parquet SELECT cast(id AS INT), id FROM range(9000)")
    assert joined(spark, of("parquet")) == ("hash", "big")
    spark.sql("INSERT OVERWRITE small_parquet SELECT cast(id AS INT), id FROM range(20)")
    assert joined(spark, of("parquet")) == ("hash", "small")


def test_a_file_that_was_replaced_under_its_name_is_counted_again(spark: SparkSession, db: str) -> None:
    make_tables(spark)
    spark.sql(f"CREATE TABLE more {bucketed('(k INT, v BIGINT)', 4, 'g')}")
    spark.sql("INSERT INTO more SELECT cast(id AS INT), id FROM range(9000)")
    assert joined(spark, of("parquet")) == ("hash", "small")
    old, new = (sorted(files(spark, t), key=lambda f: f.name.split("_")[-1]) for t in ("small_parquet", "more"))
    for one, other in zip(old, new, strict=True):
        (one.parent / f".{one.name}.crc").unlink(missing_ok=True)
        os.replace(other, one)
    spark.sql("REFRESH TABLE small_parquet")
    assert joined(spark, of("parquet")) == ("hash", "big")
    assert compare(spark, of("parquet")).on.rows


def test_rows_of_strays_may_be_in_any_bucket(spark: SparkSession, db: str) -> None:
    make_tables(spark)
    keys = pa.array(range(200), pa.int32())
    drop_in(spark, "small_parquet", "dropped.parquet", {"k": keys, "v": keys.cast(pa.int64())})
    spark.conf.set("spark.colocate.strays.maxShare", "1")
    spark.sql("REFRESH TABLE small_parquet")
    assert joined(spark, of("parquet"))[0] == "hash"
    assert compare(spark, of("parquet")).on.rows
    spark.conf.set("spark.colocate.join.hashBytesPerTask", 100 * 200)
    assert joined(spark, of("parquet")) == ("merge", "")


@pytest.mark.parametrize("format", rest_slow(["parquet", "orc"], "orc"))
def test_a_join_that_is_mostly_pairs_stays_a_merge_join(spark: SparkSession, db: str, format: str) -> None:
    """100 rows of each of 15 keys, some keys null; how many values a key can have is in the footers."""
    for name in ("many", "lots"):
        spark.sql(f"CREATE TABLE {name} {bucketed('(k BIGINT, v BIGINT)', 4, 'g', format)}")
        spark.sql(f"INSERT INTO {name} SELECT nullif(id % 15, 3), id FROM range(1500)")
    spark.sql(f"CREATE TABLE once {bucketed('(k BIGINT, v BIGINT)', 4, 'g', format)}")
    spark.sql("INSERT INTO once SELECT id, id FROM range(60)")
    pairs = "SELECT count(*), sum(m.v * 7 + l.v) FROM many m JOIN lots l ON m.k = l.k"
    assert joined(spark, pairs) == ("merge", "")
    assert compare(spark, pairs).on.rows
    assert joined(spark, pairs.replace("lots", "once"))[0] == "hash"
