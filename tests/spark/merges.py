"""Queries of tables with a key model, with and without the rule MergeSortedFiles."""

from collections import Counter
from typing import Any

from pyspark.sql import SparkSession

from tests.spark.oracle import multiset
from tests.spark.plans import kinds

MERGED = "MergeFilesExec"
EXCLUDED = "spark.colocate.rules.excluded"


def hashed(spark: SparkSession, sql: str) -> Counter[Any]:
    """The rows of a query that uses a hash table of the keys."""
    spark.conf.set(EXCLUDED, "MergeSortedFiles")
    try:
        frame = spark.sql(sql)
        assert MERGED not in kinds(frame)
        return multiset(frame.collect())
    finally:
        spark.conf.set(EXCLUDED, "")
