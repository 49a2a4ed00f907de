"""Runs in a process of its own: queries of a session without us, whose event log is kept."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.spark.sessions import plain_options
from tests.spark.workload.queries import QUERIES, TABLES

folder, packed = Path(sys.argv[1]), sys.argv[2]
OPTIONS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": f"file:{folder / 'logs'}",
    "spark.eventLog.compress": packed,
    "spark.eventLog.rolling.enabled": packed,
}
(folder / "logs").mkdir()
builder = SparkSession.builder.master("local[2]").appName("stock")
for key, value in {**plain_options(folder), **OPTIONS}.items():
    builder.config(key, value)
spark = builder.getOrCreate()
for table, (columns, rows, provider) in TABLES.items():
    spark.sql(f"CREATE TABLE {table} ({columns}) USING {provider}")
    spark.sql(f"INSERT INTO {table} {rows}")
for query in QUERIES:
    spark.sql(query).collect()
spark.stop()
