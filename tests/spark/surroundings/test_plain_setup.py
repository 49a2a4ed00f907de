"""The plain way: our package is not imported, only Spark settings are given. Each test is a driver of its own."""

import json
from pathlib import Path

from spark_colocate.session import DELTA_EXTENSION, EXTENSION

from tests.spark.sessions import Ran, plain_options, run_bare, run_spark_sql

PLAIN = """
import json, sys
import pyspark
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]")
for key, value in json.loads(sys.argv[2]).items():
    builder.config(key, value)
spark = builder.getOrCreate()
"""
DELTA_TABLE = "CREATE TABLE t (k INT) USING delta; INSERT INTO t VALUES (1), (2); SELECT count(*) AS found FROM t;"
NATIVE_TABLE = "CREATE TABLE t (k INT) USING parquet; INSERT INTO t VALUES (1), (2); SELECT count(*) AS found FROM t;"


def run_plain(sql: str, folder: Path, options: dict[str, str]) -> Ran:
    code = PLAIN + f"for statement in {sql!r}.split(';')[:-1]:\n    df = spark.sql(statement)\nprint(df.collect())"
    return run_bare(code, folder, json.dumps(options))


def test_pyspark_with_settings_alone(tmp_path: Path) -> None:
    ran = run_plain(DELTA_TABLE, tmp_path, plain_options(tmp_path)).ok()
    assert "Row(found=2)" in ran.out


def test_spark_sql_with_settings_alone(tmp_path: Path) -> None:
    ran = run_spark_sql(DELTA_TABLE, tmp_path).ok()
    assert ran.out.split() == ["2"]


def test_without_delta_on_the_class_path_native_tables_work(tmp_path: Path) -> None:
    ran = run_plain(NATIVE_TABLE, tmp_path, plain_options(tmp_path, delta=False)).ok()
    assert "Row(found=2)" in ran.out


def test_the_other_order_of_extensions_still_starts(tmp_path: Path) -> None:
    options = plain_options(tmp_path) | {"spark.sql.extensions": f"{DELTA_EXTENSION},{EXTENSION}"}
    ran = run_plain(DELTA_TABLE, tmp_path, options).ok()
    assert "Row(found=2)" in ran.out
