"""Which hosts a writer asks HDFS for, by the path of the file that it creates."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

ROOT = "/warehouse/t"
NATIVE = "part-00000-01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("path", "hosts"),
    [
        ("hdfs://nn:8020/warehouse/t/_colocate_bucket=1/part-0.parquet", ["one"]),
        ("hdfs:/warehouse/t/day=2026-01-01/_colocate_bucket=2/part-0.parquet", ["two", "three"]),
        ("/warehouse/t/_change_data/_colocate_bucket=1/cdc-0.parquet", ["one"]),
        (f"/warehouse/t/_temporary/0/_temporary/attempt_1/{NATIVE}_00001.c000.snappy.parquet", ["one"]),
        (f"/warehouse/t/p=1/{NATIVE}_00002.c001.orc", ["two", "three"]),
        # Its bucket is the task's.
        ("/warehouse/t/ab/part-0.parquet", ["zero"]),
        # A bucket that the group does not have.
        ("/warehouse/t/_colocate_bucket=3/part-0.parquet", []),
        # Of another table, whose name begins alike.
        ("/warehouse/t2/_colocate_bucket=1/part-0.parquet", []),
        ("/tmp/file-of-a-function", []),
    ],
)
@pytest.mark.every(3)
def test_hosts_of_a_file(spark: SparkSession, path: str, hosts: list[str]) -> None:
    java: Any = spark.sparkContext._jvm
    hosts_of = java.org.apache.spark.sql.colocate.ops.hosts.HostsOfBuckets(ROOT, _sequence(java))
    found = hosts_of.of(java.org.apache.hadoop.fs.Path(path), java.scala.Some(0))
    assert [found.apply(index) for index in range(found.length())] == hosts


def test_without_a_task_of_a_member_there_are_none(spark: SparkSession) -> None:
    java: Any = spark.sparkContext._jvm
    task_hosts = java.org.apache.spark.sql.colocate.ops.hosts.TaskHosts
    assert task_hosts.of(java.org.apache.hadoop.fs.Path(f"{ROOT}/_colocate_bucket=1/part-0.parquet")).isEmpty()


def _sequence(java: Any) -> Any:
    """Bucket 0 on host zero, 1 on one, 2 on two and three."""
    to_scala = java.org.apache.spark.api.python.PythonUtils.toSeq
    return to_scala([to_scala(["zero"]), to_scala(["one"]), to_scala(["two", "three"])]).toIndexedSeq()
