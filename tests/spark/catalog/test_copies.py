"""Copies of members, by LIKE and CLONE, join the group as any CREATE does; errors have a condition and an SQLSTATE."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.spark.native import bucketed, group_of, groups
from tests.tiers.params import some


@pytest.fixture(scope="module")
def copied(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("CREATE DATABASE copied")
    spark.sql("CREATE DATABASE copied_elsewhere")
    for format in ("delta", "parquet"):
        spark.sql(f"CREATE TABLE copied.{format} {bucketed('(k INT)', 4, 'g', format)}")
    yield spark
    spark.sql("DROP DATABASE copied CASCADE")
    spark.sql("DROP DATABASE copied_elsewhere CASCADE")


@pytest.fixture(autouse=True)
def _only_the_sources_stay(copied: SparkSession) -> Iterator[None]:
    yield
    for table in ("copied.t", "copied_elsewhere.t", "copied_elsewhere.held", "copied.first", "copied.second"):
        copied.sql(f"DROP TABLE IF EXISTS {table} PURGE")


COPIES = {
    "like": "CREATE TABLE {t} LIKE copied.delta",
    "native like": "CREATE TABLE {t} LIKE copied.parquet",
    "clone": "CREATE TABLE {t} SHALLOW CLONE copied.delta",
    "replace by clone": "CREATE OR REPLACE TABLE {t} SHALLOW CLONE copied.delta VERSION AS OF 0",
}


@pytest.mark.parametrize("name", some(COPIES, 2))
def test_a_copy_joins_the_group_of_its_database(copied: SparkSession, name: str) -> None:
    for database in ("copied", "copied_elsewhere"):
        copied.sql(COPIES[name].format(t=f"{database}.t"))
        assert group_of(copied, database, "t") == f"{database}.g"
        copied.sql(f"DROP TABLE {database}.t PURGE")


@pytest.mark.parametrize("source", ["delta", "parquet"])
def test_like_may_name_another_group_or_none(copied: SparkSession, source: str) -> None:
    like = f"CREATE TABLE copied.t LIKE copied.{source} TBLPROPERTIES ('colocate_with'='{{}}')"
    copied.sql(like.format("other"))
    assert groups(copied, "copied")["copied.other"] == 1
    copied.sql("DROP TABLE copied.t PURGE")
    copied.sql(like.format(""))
    assert group_of(copied, "copied", "t") is None
    copied.sql("DROP TABLE copied.t")


@pytest.mark.parametrize("name", some(COPIES, 2))
def test_a_copy_that_does_not_fit_is_refused_and_leaves_nothing(copied: SparkSession, name: str) -> None:
    copied.sql(f"CREATE TABLE copied_elsewhere.held {bucketed('(k INT)', 8, 'g')}")
    with pytest.raises(AnalysisException, match=r"bucket counts differ \(table: 4, group: 8\)") as refused:
        copied.sql(COPIES[name].format(t="copied_elsewhere.t"))
    assert (refused.value.getCondition(), refused.value.getSqlState()) == ("BUCKETS_DIFFER", "42616")
    assert not copied.catalog.tableExists("copied_elsewhere.t")
    assert groups(copied, "copied_elsewhere") == {"copied_elsewhere.g": 1}
    copied.sql("DROP TABLE copied_elsewhere.held PURGE")


def test_a_group_with_a_copy_left_is_not_free_for_another_layout(copied: SparkSession) -> None:
    copied.sql(f"CREATE TABLE copied.first {bucketed('(k INT)', 4, 'h', 'delta')}")
    copied.sql("CREATE TABLE copied.second SHALLOW CLONE copied.first")
    copied.sql("DROP TABLE copied.first PURGE")
    with pytest.raises(AnalysisException, match="it has 1 tables"):
        copied.sql("CALL system.purge_group(group => 'copied.h')")
    with pytest.raises(AnalysisException, match="bucket counts differ"):
        copied.sql(f"CREATE TABLE copied.first {bucketed('(k INT)', 8, 'h', 'delta')}")
    copied.sql("DROP TABLE copied.second PURGE")


@pytest.mark.parametrize("handler", some(["SQLEXCEPTION", "SQLSTATE '42616'", "BUCKETS_DIFFER"], 2))
def test_a_script_handles_a_refusal(copied: SparkSession, handler: str) -> None:
    copied.conf.set("spark.sql.scripting.enabled", "true")  # Spark 4.0 has scripts off
    declared = "DECLARE BUCKETS_DIFFER CONDITION FOR SQLSTATE '42616';" if handler == "BUCKETS_DIFFER" else ""
    script = f"""BEGIN {declared}
      DECLARE EXIT HANDLER FOR {handler} BEGIN SELECT 'handled' AS word; END;
      CREATE TABLE copied.refused {bucketed("(k INT)", 8, "g")}; END"""
    assert copied.sql(script).collect()[0].word == "handled"
