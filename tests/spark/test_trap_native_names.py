"""Trap S1.4: a native file's name is evidence only in Spark's full pattern, with an id that the table has."""

from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from tests.spark.members import NATIVE, create_member, fill
from tests.spark.oracle import assert_no_exchange, compare

JOIN = "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture(autouse=True)
def _shuffling(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")


@pytest.fixture(params=NATIVE)
def members(spark: SparkSession, db: str, request: pytest.FixtureRequest) -> str:
    """t and u, native members of 4 buckets."""
    for name in ("t", "u"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, request.param)
        fill(spark, name, "SELECT cast(id % 17 AS INT), id FROM range(50)", ["k", "v"])
    return str(request.param)


def _folder(spark: SparkSession, table: str) -> Path:
    facts = spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
    return Path(unquote(urlparse(next(row[1] for row in facts if row[0] == "Location")).path))


def _drop_in(spark: SparkSession, provider: str, name: str) -> None:
    """A file of all keys, so that its rows belong to every bucket."""
    rows = pa.table({"k": pa.array(range(17), pa.int32()), "v": pa.array(range(1000, 1017), pa.int64())})
    write = pyarrow.parquet.write_table if provider == "parquet" else pyarrow.orc.write_table
    write(rows, str(_folder(spark, "t") / name.format(ext=provider)))
    spark.sql("REFRESH TABLE t")


@pytest.mark.parametrize("adaptive", ["true", "false"])
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
def test_a_dropped_in_file_loses_no_row(spark: SparkSession, members: str, name: str, adaptive: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    assert_no_exchange(spark, "SELECT t.k, count(*) FROM t JOIN u ON t.k = u.k GROUP BY t.k", _group(spark))
    _drop_in(spark, members, name)
    # Stock Spark itself is wrong on its bucketed scan here, so the flag is the switch: then nothing is read by bucket.
    pair = compare(spark, JOIN, _group(spark))
    assert pair.on.rows is not None
    assert pair.on.rows.total() == 198
    assert compare(spark, "SELECT k, count(*) FROM t GROUP BY k", _group(spark)).on.rows is not None


def test_the_reason_names_the_stray(spark: SparkSession, members: str) -> None:
    _drop_in(spark, members, "data_1.{ext}")
    explained = spark.sql(f"EXPLAIN {JOIN}").collect()[0][0]
    assert "STRAY" in explained or "stray" in explained
    assert "data_1" in explained


def _group(spark: SparkSession) -> str:
    return f"{spark.catalog.currentDatabase()}.g"
