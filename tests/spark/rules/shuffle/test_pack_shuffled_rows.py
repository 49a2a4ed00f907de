"""Rows cross the shuffle of a load in a form of our own: every type comes out as it went in, and takes fewer bytes."""

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from tests.spark.write.test_delta_write_layout import WIDE, written_plan

CLUSTERED = "CLUSTERED BY (id) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"

VALUES = {
    "flag": "id % 2 = 0",
    "tiny": "cast(id % 256 - 128 AS TINYINT)",
    "small": "cast(if(id % 2 = 0, 32767, -32768) AS SMALLINT)",
    "whole": "cast(if(id % 2 = 0, -2147483648, 2147483647) AS INT)",
    "near_zero": "id - 20",
    "long": "element_at(array(-9223372036854775808, 9223372036854775807, -1, 0, 255, 256), int(id % 6 + 1))",
    "real": "cast(id / 3 AS FLOAT)",
    "number": "element_at(array(17D, 1 / 3D, double('NaN'), -0D, double('-Infinity'), 1e-300), int(id % 6 + 1))",
    "price": "cast(id - 20.25 AS DECIMAL(12, 2))",
    "wide_price": "cast(id - 20 AS DECIMAL(38, 10)) * 1234567890123456789.5",
    "day": "date_add(date '1970-01-01', cast(id - 20 AS INT) * 1000)",
    "moment": "timestamp_micros((id - 20) * 1234567890123)",
    "local_moment": "cast(timestamp_micros((id - 20) * 987654321) AS TIMESTAMP_NTZ)",
    "text": "repeat('ä', cast(id AS INT))",
    "long_text": "repeat(cast(id AS STRING), if(id % 9 = 0, 100000, 33))",
    "bytes": "unhex(repeat('00FF', cast(id AS INT)))",
    "list": "transform(sequence(0, id), x -> nullif(x, 3))",
    "pair": "named_struct('a', id, 'b', cast(id AS STRING), 'c', cast(null AS INT))",
    "lookup": "map(id, 'one', id + 1, null)",
    "months": "make_ym_interval(0, cast(id - 20 AS INT))",
    "span": "make_dt_interval(cast(id - 20 AS INT))",
    "interval": "make_interval(0, cast(id AS INT), 0, cast(id - 20 AS INT))",
    "nothing": "null",
}
STORABLE = [name for name in VALUES if name not in ("months", "span", "interval", "nothing")]


def rows_of(spark: SparkSession, names: list[str]) -> DataFrame:
    """Each value, and each value or null: whether a field is null must not depend on what its neighbours hold."""
    plain = [f"{VALUES[name]} AS {name}" for name in names]
    nullable = [f"if(id % 3 = {at % 3}, null, {VALUES[name]}) AS {name}_or_null" for at, name in enumerate(names)]
    return spark.sql(f"SELECT id, {', '.join(plain + nullable)} FROM range(0, 41, 1, 3)")


def exchange(spark: SparkSession, rows: DataFrame, buckets: int, packed: bool) -> Any:
    """The physical plan of a shuffle of the rows, Spark's own or the same one packed."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    plain: Any = rows.repartition(buckets, "id")._jdf.queryExecution().executedPlan()
    jvm: Any = spark._jvm
    return jvm.org.apache.spark.sql.execution.colocate.shuffle.PackedExchangeExec.of(plain) if packed else plain


def shuffled(spark: SparkSession, rows: DataFrame, buckets: int, packed: bool) -> list[str]:
    """The bytes of each row behind a shuffle, sorted."""
    return sorted(row.toString() for row in exchange(spark, rows, buckets, packed).executeCollect())


@pytest.mark.parametrize("buckets", [3, 250], ids=["stream per bucket", "sorted by bucket"])
def test_each_type_comes_out_as_it_went_in(spark: SparkSession, buckets: int) -> None:
    """Above 200 buckets Spark's shuffle sorts serialized rows, and flushes after each."""
    rows = rows_of(spark, list(VALUES))
    plain = shuffled(spark, rows, buckets, packed=False)
    assert len(plain) == 41
    assert shuffled(spark, rows, buckets, packed=True) == plain


@pytest.mark.parametrize("columns", [1, 63, 64, 65, 129])
@pytest.mark.every(3)
def test_null_bits_of_several_words(spark: SparkSession, columns: int) -> None:
    values = ", ".join(f"if(id % {i + 2} = 0, null, '') AS c{i}" for i in range(columns - 1))
    rows = spark.sql(f"SELECT id {',' if values else ''} {values} FROM range(0, 100, 1, 2)")
    assert shuffled(spark, rows, 3, packed=True) == shuffled(spark, rows, 3, packed=False)


@pytest.mark.each_value
@pytest.mark.parametrize("aqe", ["true", "false"])
@pytest.mark.parametrize("form", ["delta", "parquet"])
def test_a_load_packs_its_rows(spark: SparkSession, db: str, form: str, aqe: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", aqe)
    rows = rows_of(spark, STORABLE)
    rows.createOrReplaceTempView("source")
    spark.sql(f"CREATE TABLE t USING {form} {CLUSTERED} AS SELECT * FROM source")
    hashed = "SELECT xxhash64(to_json(struct(*))) AS h, count(*) FROM {} GROUP BY h"
    assert sorted(spark.sql(hashed.format("t")).collect()) == sorted(spark.sql(hashed.format("source")).collect())
    assert "PackedExchange" in written_plan(spark)


def test_only_the_shuffle_of_the_write_is_packed(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) USING delta {CLUSTERED}")
    spark.sql(f"INSERT INTO t SELECT max(id), v FROM ({WIDE}) GROUP BY v")
    plan = written_plan(spark)
    assert 0 < plan.count("PackedExchange") == plan.count("Exchange") / 2


def test_packed_rows_take_less_than_half(spark: SparkSession, db: str) -> None:
    """Eight bytes for each field, most of them zero: what a row of numbers is."""
    columns = ", ".join(f"hash(id, {i}) & 255 AS c{i}" for i in range(20))
    numbers = spark.sql(f"SELECT id, {columns} FROM range(0, 20000, 1, 2)")
    plain, packed = (exchange(spark, numbers, 3, packed) for packed in (False, True))
    sizes = []
    for one in (plain, packed):
        one.executeCollect()
        sizes.append(one.metrics().apply("shuffleBytesWritten").value())
    assert packed.metrics().apply("dataSize").value() == plain.metrics().apply("dataSize").value()
    assert sizes[1] * 2 < sizes[0]


def test_a_block_that_is_cut_is_an_error_and_no_row(spark: SparkSession) -> None:
    """Rows whose bytes are missing must not be made up from what lies behind them."""
    jvm: Any = spark._jvm
    packing = jvm.org.apache.spark.sql.execution.colocate.shuffle
    rows = spark.range(300, 301).selectExpr("id", "'abc' AS t", "1.5D AS n", "repeat('x', 99) AS l")
    plan: Any = rows._jdf.queryExecution()
    types = jvm.java.util.ArrayList([field.dataType() for field in plan.analyzed().schema().fields()])
    form = packing.PackedForm.of(jvm.org.apache.spark.api.python.PythonUtils.toSeq(types))
    row = plan.executedPlan().executeCollect()[0]
    packer = packing.RowPacker(form)
    packer.add(row)
    written = jvm.java.io.ByteArrayOutputStream()
    packer.writeTo(jvm.java.io.DataOutputStream(written))
    block = written.toByteArray()[4:]

    def unpacked(size: int) -> str:
        unpacker = packing.RowUnpacker(form)
        unpacker.readFrom(jvm.java.io.DataInputStream(jvm.java.io.ByteArrayInputStream(block)), size)
        return str(unpacker.next().toString())

    assert unpacked(len(block)) == row.toString()
    for size in range(len(block)):
        with pytest.raises(Py4JJavaError, match="packed rows"):
            unpacked(size)
