"""Trap S1.4: a native file's name is evidence only in Spark's full pattern, with an id that the table has."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from tests.spark.members import NATIVE, create_member, fill, folder
from tests.spark.oracle import assert_no_exchange, compare

JOIN = "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture(scope="module", params=NATIVE)
def tables(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """t and u, native members of 4 buckets."""
    spark.sql("CREATE DATABASE names")
    spark.sql("USE names")
    for name in ("t", "u"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, request.param)
        fill(spark, name, "SELECT cast(id % 17 AS INT), id FROM range(50)", ["k", "v"])
    spark.sql("USE default")
    yield str(request.param)
    spark.sql("DROP DATABASE names CASCADE")


@pytest.fixture
def drop_in(spark: SparkSession, tables: str) -> Iterator[Callable[[str], None]]:
    """Puts a file of all keys into the folder of t, so that its rows belong to every bucket; takes it away again."""
    spark.sql("USE names")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    rows = pa.table({"k": pa.array(range(17), pa.int32()), "v": pa.array(range(1000, 1017), pa.int64())})
    write = pyarrow.parquet.write_table if tables == "parquet" else pyarrow.orc.write_table
    dropped: list[Path] = []

    def drop(name: str) -> None:
        dropped.append(folder(spark, "t") / name.format(ext=tables))
        write(rows, str(dropped[-1]))
        spark.sql("REFRESH TABLE t")

    yield drop
    for file in dropped:
        file.unlink()
    spark.sql("REFRESH TABLE t")


@pytest.mark.each_value
@pytest.mark.parametrize(
    "name",
    [
        "data_1.{ext}",
        "orders_3.{ext}",
        "export_2024.{ext}",
        "000003_0",
        "part-00000.{ext}",
        f"part-00000-{UUID}.c000.{{ext}}",
        f"part-00000-{UUID}_00004.c000.{{ext}}",
        f"part-00000-{UUID}_00099.c000.snappy.{{ext}}",
        f"part-00000-{UUID}_1.c000.{{ext}}",
        f"copy-part-00000-{UUID}_00001.c000.{{ext}}",
    ],
)
@pytest.mark.every(3)
def test_a_dropped_in_file_loses_no_row(spark: SparkSession, drop_in: Callable[[str], None], name: str) -> None:
    drop_in(name)
    for adaptive in ("true", "false"):
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        # Stock Spark itself is wrong on its bucketed scan here, so with either switch nothing is read by bucket.
        for switch in ("names.g", None):
            pair = compare(spark, JOIN, switch)
            assert pair.on.rows is not None
            assert pair.on.rows.total() == 198
    assert compare(spark, "SELECT k, count(*) FROM t GROUP BY k", "names.g").on.rows


def test_without_a_stray_the_members_are_colocated(spark: SparkSession, drop_in: Callable[[str], None]) -> None:
    assert_no_exchange(spark, JOIN, "names.g")


def test_the_reason_names_the_stray(spark: SparkSession, drop_in: Callable[[str], None]) -> None:
    drop_in("data_1.{ext}")
    assert "data_1" in spark.sql(f"EXPLAIN {JOIN}").collect()[0][0]
