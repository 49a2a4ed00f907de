"""DDL on native tables: membership follows the table through every statement."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, partitioning

from tests.spark.native import bucketed, files_per_bucket, group_of, groups, misplaced_rows, properties

FORMATS = ("parquet", "orc")


def rows(spark: SparkSession, n: int = 200) -> DataFrame:
    return spark.range(0, n, 1, 3).selectExpr("CAST(id AS INT) AS k", "string(id) AS v", "CAST(id % 2 AS INT) AS p")


def by_sql(spark: SparkSession, format: str) -> None:
    rows(spark).createOrReplaceTempView("source")
    spark.sql(f"CREATE TABLE t {bucketed('', 4, 'g', format)} AS SELECT * FROM source")


def by_create_and_insert(spark: SparkSession, format: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT, v STRING, p INT)', 4, 'g', format)}")
    rows(spark).write.insertInto("t")


def by_save_as_table(spark: SparkSession, format: str) -> None:
    rows(spark).write.format(format).bucketBy(4, "k").option("colocate_with", "g").saveAsTable("t")


def by_write_to(spark: SparkSession, format: str) -> None:
    made = rows(spark).writeTo("t").using(format).tableProperty("colocate_with", "g")
    made.partitionedBy(partitioning.bucket(4, col("k"))).create()


@pytest.mark.each_value
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("way", [by_sql, by_create_and_insert, by_save_as_table, by_write_to])
def test_every_way_of_creating_a_member_gives_the_same_table(
    spark: SparkSession, db: str, way: Callable[[SparkSession, str], None], format: str
) -> None:
    way(spark, format)
    assert group_of(spark, db, "t") == f"{db}.g"
    assert properties(spark, "t") == {"colocate_with": "g"}
    assert set(files_per_bucket(spark, "t").values()) == {1}
    assert len(files_per_bucket(spark, "t")) == 4
    assert misplaced_rows(spark, "t", "k", 4) == 0
    assert spark.table("t").count() == 200


def test_an_external_table_is_a_member_at_its_location(spark: SparkSession, db: str, tmp_path: Path) -> None:
    rows(spark).createOrReplaceTempView("source")
    spark.sql(f"CREATE TABLE t {bucketed('', 4, 'g', more=f'''LOCATION '{tmp_path}/t' ''')} AS SELECT * FROM source")
    found = spark.sql(f"SELECT location, files FROM system.colocation_tables WHERE db = '{db}'").collect()
    assert [(Path(row.location.removeprefix("file:")), row.files) for row in found] == [(tmp_path / "t", 4)]


def test_a_failed_query_leaves_an_external_location_as_it_was(spark: SparkSession, db: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for location in (empty, tmp_path / "new"):
        with pytest.raises(Exception, match="the query fails"):
            spark.sql(
                f"CREATE TABLE t {bucketed('', 4, 'g', more=f'''LOCATION '{location}' ''')} "
                "AS SELECT id AS k, CAST(raise_error('the query fails') AS STRING) AS v FROM range(10)"
            )
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    assert list(empty.iterdir()) == []
    assert groups(spark, db) == {}


def test_the_key_of_the_property_may_be_in_any_case(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE t (k INT) USING parquet CLUSTERED BY (k) INTO 2 BUCKETS TBLPROPERTIES ('Colocate_With'='g')"
    )
    assert properties(spark, "t") == {"colocate_with": "g"}
    assert group_of(spark, db, "t") == f"{db}.g"


def test_an_empty_group_is_no_group(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 2, '')}")
    assert properties(spark, "t") == {}
    assert groups(spark, db) == {}


def test_create_if_not_exists_of_a_table_that_exists_changes_nothing(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 2, 'g')}")
    spark.sql(f"CREATE TABLE IF NOT EXISTS t {bucketed('(k INT)', 8, 'other')}")
    assert groups(spark, db) == {f"{db}.g": 1}


def test_a_table_joins_moves_and_leaves_by_its_property(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE t (k INT) USING parquet CLUSTERED BY (k) INTO 2 BUCKETS TBLPROPERTIES ('x'='1')")
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('colocate_with'='g', 'y'='2')")
    assert group_of(spark, db, "t") == f"{db}.g"
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('colocate_with'='h')")
    assert groups(spark, db) == {f"{db}.h": 1}
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('colocate_with'='')")
    assert group_of(spark, db, "t") is None
    assert properties(spark, "t") == {"x": "1", "y": "2"}


def test_unset_leaves_the_group(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 2, 'g')}")
    spark.sql("ALTER TABLE t UNSET TBLPROPERTIES ('colocate_with')")
    assert group_of(spark, db, "t") is None
    assert properties(spark, "t") == {}


def test_replication_of_a_member_is_changed_for_the_group_only(spark: SparkSession, db: str) -> None:
    for table in ("a", "b"):
        spark.sql(f"CREATE TABLE {table} {bucketed('(k INT)', 2, 'g')}")
    with pytest.raises(Exception, match=r"CALL system\.set_replication"):
        spark.sql("ALTER TABLE a SET TBLPROPERTIES ('replication_num'='2')")
    spark.sql("CALL system.set_replication('g', 2)")
    assert [properties(spark, table)["replication_num"] for table in ("a", "b")] == ["2", "2"]
    assert spark.sql("SHOW PROC '/colocation_group'").where("GroupName LIKE '%g' AND ReplicationNum = 2").count() == 1


def test_a_rename_keeps_the_membership(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 2, 'g')}")
    spark.sql("ALTER TABLE t RENAME TO u")
    assert (group_of(spark, db, "t"), group_of(spark, db, "u")) == (None, f"{db}.g")


def test_the_last_drop_leaves_the_group_recoverable(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 2, 'g')}")
    spark.sql("DROP TABLE t")
    recycled = spark.sql(f"SELECT recycled_until FROM system.colocation_groups WHERE db = '{db}'").collect()
    assert [row.recycled_until is not None for row in recycled] == [True]
    spark.sql("CALL system.purge_group('g')")
    assert groups(spark, db) == {}


def test_dropping_the_database_ends_its_groups(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE DATABASE {db}_other")
    spark.sql(f"CREATE TABLE {db}_other.t {bucketed('(k INT)', 2, 'g')}")
    spark.sql(f"DROP DATABASE {db}_other CASCADE")
    assert groups(spark, f"{db}_other") == {}


def test_a_group_belongs_to_its_database_unless_it_is_global(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE DATABASE {db}_other")
    spark.sql(f"CREATE TABLE a {bucketed('(k INT)', 2, 'g')}")
    spark.sql(f"CREATE TABLE {db}_other.a {bucketed('(k INT)', 8, 'g')}")
    everywhere = f"__global__{db}"
    for name in ("b", f"{db}_other.b"):
        spark.sql(f"CREATE TABLE {name} {bucketed('(k INT)', 2, everywhere)}")
    assert (groups(spark)[f"{db}.g"], groups(spark)[f"{db}_other.g"], groups(spark)[everywhere]) == (1, 1, 2)
    spark.sql(f"DROP DATABASE {db}_other CASCADE")
    assert groups(spark)[everywhere] == 1


def test_create_like_takes_the_buckets_and_the_group(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 2, 'g')}")
    spark.sql("CREATE TABLE copy LIKE t")
    spark.sql("CREATE TABLE other LIKE t TBLPROPERTIES ('colocate_with'='h')")
    spark.sql("CREATE TABLE alone LIKE t TBLPROPERTIES ('colocate_with'='')")
    found = [group_of(spark, db, table) for table in ("copy", "other", "alone")]
    assert found == [f"{db}.g", f"{db}.h", None]
    assert "CLUSTERED BY (k)" in spark.sql("SHOW CREATE TABLE alone").collect()[0][0]


def test_an_overwrite_keeps_changes_or_ends_the_membership(spark: SparkSession, db: str) -> None:
    by_save_as_table(spark, "parquet")
    writer = rows(spark, 50).write.format("parquet").mode("overwrite")
    writer.bucketBy(4, "k").option("colocate_with", "h").saveAsTable("t")
    assert (group_of(spark, db, "t"), spark.table("t").count()) == (f"{db}.h", 50)
    rows(spark, 20).write.format("parquet").mode("overwrite").saveAsTable("t")
    assert (group_of(spark, db, "t"), spark.table("t").count()) == (None, 20)


def test_an_overwrite_from_itself_is_refused_and_keeps_the_table(spark: SparkSession, db: str) -> None:
    by_save_as_table(spark, "parquet")
    writer = spark.table("t").write.format("parquet").mode("overwrite").bucketBy(4, "k").option("colocate_with", "g")
    with pytest.raises(Exception, match=r"(?i)overwrite"):
        writer.saveAsTable("t")
    assert (group_of(spark, db, "t"), spark.table("t").count()) == (f"{db}.g", 200)


def test_a_refused_overwrite_keeps_the_table(spark: SparkSession, db: str) -> None:
    by_save_as_table(spark, "parquet")
    spark.sql(f"CREATE TABLE u {bucketed('(k INT)', 4, 'g')}")
    for table in ("t", "new"):
        writer = rows(spark, 50).write.format("parquet").mode("overwrite").bucketBy(8, "k").option("colocate_with", "g")
        with pytest.raises(AnalysisException, match=r"bucket counts differ \(table: 8, group: 4\)"):
            writer.saveAsTable(table)
    assert (group_of(spark, db, "t"), spark.table("t").count()) == (f"{db}.g", 200)
    assert groups(spark)[f"{db}.g"] == 2


def test_an_overwrite_of_no_table_makes_a_member(spark: SparkSession, db: str) -> None:
    writer = rows(spark, 50).write.format("parquet").mode("overwrite")
    writer.bucketBy(4, "k").option("colocate_with", "g").saveAsTable("t")
    assert (group_of(spark, db, "t"), spark.table("t").count()) == (f"{db}.g", 50)
    rows(spark, 20).write.format("parquet").mode("overwrite").option("colocate_with", "").saveAsTable("t")
    assert (group_of(spark, db, "t"), properties(spark, "t")) == (None, {})


def test_an_append_by_save_as_table_keeps_the_layout(spark: SparkSession, db: str) -> None:
    by_save_as_table(spark, "parquet")
    rows(spark, 50).write.format("parquet").mode("append").bucketBy(4, "k").saveAsTable("t")
    assert set(files_per_bucket(spark, "t").values()) == {2}
    assert spark.table("t").count() == 250


def test_the_catalogs_own_calls_are_followed(spark: SparkSession, db: str) -> None:
    """A session of the same application that goes round our statements: the registry hears of it."""
    for table in ("a", "b", "c"):
        spark.sql(f"CREATE TABLE {table} {bucketed('(k INT)', 2, 'g')}")
    catalog = spark._jsparkSession.sharedState().externalCatalog()
    catalog.dropTable(db, "a", False, False)
    catalog.renameTable(db, "b", "renamed")
    assert [group_of(spark, db, t) for t in ("a", "b", "renamed", "c")] == [None, None, f"{db}.g", f"{db}.g"]


def test_a_member_is_converted_to_delta_only_after_it_left_its_group(spark: SparkSession, db: str) -> None:
    rows(spark).createOrReplaceTempView("source")
    spark.sql(f"CREATE TABLE t {bucketed('', 4, 'g')} AS SELECT * FROM source")
    for name in ("t", f"{db}.T", f"spark_catalog.{db}.t"):
        with pytest.raises(AnalysisException, match=r"Cannot convert .*t to Delta: it is in group") as refused:
            spark.sql(f"CONVERT TO DELTA {name}")
        assert refused.value.getCondition() == "CONVERT_OF_MEMBER"
    assert group_of(spark, db, "t") == f"{db}.g" and misplaced_rows(spark, "t", "k", 4) == 0
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('colocate_with'='')")
    spark.sql("CONVERT TO DELTA t")
    assert group_of(spark, db, "t") is None and spark.table("t").count() == 200


def test_a_new_location_is_told_to_the_registry(spark: SparkSession, db: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE t {bucketed('(k INT)', 2, 'g')}")
    spark.sql(f"ALTER TABLE t SET LOCATION '{tmp_path}/elsewhere'")
    found = spark.sql(f"SELECT location FROM system.colocation_tables WHERE db = '{db}'").collect()
    assert [row.location.removeprefix("file:") for row in found] == [f"{tmp_path}/elsewhere"]


def test_explain_shows_the_statement_inside_and_makes_nothing(spark: SparkSession, db: str) -> None:
    plan = spark.sql(f"EXPLAIN CREATE TABLE t {bucketed('', 4, 'g')} AS SELECT 1 AS k").collect()[0][0]
    assert "Execute CreateInGroup" in plan
    assert "CreateDataSourceTableAsSelectCommand" in plan
    assert groups(spark, db) == {}
    assert not spark.catalog.tableExists("t")
