"""What differs when members are read as batches, under whole-stage code; most differential tests read rows."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, fill, switched_off
from tests.spark.oracle import assert_no_exchange, compare
from tests.spark.versions import UNIONS_KEEP_PARTITIONING
from tests.tiers.params import rest_slow


@UNIONS_KEEP_PARTITIONING
@pytest.mark.parametrize("provider", rest_slow(["delta", "parquet", "orc"], "delta", "parquet"))
def test_union_all_and_dynamic_pruning_of_members(spark: SparkSession, db: str, provider: str) -> None:
    """Spark sets the tasks of a union of batches side by side, and yet promises the partitioning of its children."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT, p INT", ["k"], 4, provider, partitioned=["p"])
        fill(spark, name, "SELECT cast(id % 13 AS INT), id, cast(id % 3 AS INT) FROM range(60)", ["k", "v", "p"])
    union = "(SELECT k, v, p FROM a UNION ALL SELECT k, v, p FROM b)"
    spark.range(3).selectExpr("cast(id AS INT) AS p", "id AS w").write.saveAsTable("days")
    for adaptive in ("true", "false"):
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        assert_no_exchange(spark, f"SELECT k, count(*), sum(v) FROM {union} GROUP BY k", f"{db}.g")
        assert_no_exchange(spark, f"SELECT a.k, u.v FROM a JOIN {union} u ON a.k = u.k AND a.p = u.p", f"{db}.g")
        dynamic = "SELECT /*+ MERGE(a, b), BROADCAST(days) */ a.k, a.v, b.v, w FROM a JOIN days ON a.p = days.p "
        pair = compare(spark, dynamic + "JOIN b ON a.k = b.k WHERE days.w = 1", f"{db}.g")
        assert pair.on.rows
        assert pair.on.colocated


@pytest.mark.parametrize("provider", rest_slow(["parquet", "orc"], "orc"))
def test_union_of_native_members_where_we_are_switched_off(spark: SparkSession, db: str, provider: str) -> None:
    """Spark's own bucketed scans have the same fault: a join fails, an aggregate returns a key once for each table."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, provider)
        fill(spark, name, "SELECT cast(id % 13 AS INT), id FROM range(60)", ["k", "v"])
    union = "(SELECT k, v FROM a UNION ALL SELECT k, v FROM b)"
    for adaptive in ("true", "false"):
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        with switched_off(spark):
            assert len(spark.sql(f"SELECT k, sum(v) FROM {union} GROUP BY k").collect()) == 13
            assert spark.sql(f"SELECT count(*) FROM {union} u FULL JOIN a ON u.k = a.k").first()[0] == 560
