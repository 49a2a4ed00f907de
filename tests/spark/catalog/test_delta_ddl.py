"""DDL of Delta members: layout in the table, group in the registry, nothing left when a statement fails."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, partitioning

from tests.spark.delta_log import actions, commits

BUCKETS = "CLUSTERED BY (id) INTO 4 BUCKETS"
G = "TBLPROPERTIES ('colocate_with' = 'g')"


def members(spark: SparkSession, db: str) -> dict[str, str]:
    """Table -> group, as the registry lists them."""
    found = spark.sql("SELECT `table`, `group` FROM system.colocation_tables").where(f"db = '{db}'").collect()
    return {row["table"]: row["group"] for row in found}


def schema(spark: SparkSession, table: str) -> dict[str, str]:
    """Column -> generation expression of the newest snapshot, from the transaction log itself."""
    newest = [found for commit in commits(spark, table) for found in actions(commit, "metaData")][-1]
    fields = json.loads(newest["schemaString"])["fields"]
    return {f["name"]: f["metadata"].get("delta.generationExpression", "").replace("`", "") for f in fields}


def partitions(spark: SparkSession, table: str) -> list[str]:
    return list(spark.sql(f"DESCRIBE DETAIL {table}").first()["partitionColumns"])


def create(spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, v STRING) USING delta {BUCKETS} {G}")


def ctas(spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE t USING delta {BUCKETS} {G} AS SELECT id, 'x' AS v FROM range(9)")


def create_or_replace(spark: SparkSession) -> None:
    spark.sql(f"CREATE OR REPLACE TABLE t (id BIGINT, v STRING) USING delta {BUCKETS} {G}")


def rtas(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT 'old' AS other")
    spark.sql(f"CREATE OR REPLACE TABLE t USING delta {BUCKETS} {G} AS SELECT id, 'x' AS v FROM range(9)")


def if_not_exists(spark: SparkSession) -> None:
    statement = f"CREATE TABLE IF NOT EXISTS t (id BIGINT, v STRING) USING delta {BUCKETS} {G}"
    spark.sql(statement)
    spark.sql(statement)


def save_as_table(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id, 'x' AS v FROM range(9)")
    rows.write.format("delta").bucketBy(4, "id").option("colocate_with", "g").saveAsTable("t")


def save_as_table_overwrite(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id, 'x' AS v FROM range(9)")
    writer = rows.write.format("delta").mode("overwrite").bucketBy(4, "id").option("colocate_with", "g")
    writer.saveAsTable("t")
    writer.saveAsTable("t")


def write_to(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id, 'x' AS v FROM range(9)")
    writer = rows.writeTo("t").using("delta").tableProperty("colocate_with", "g")
    writer.partitionedBy(partitioning.bucket(4, col("id"))).create()


def write_to_replace(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id, 'x' AS v FROM range(9)")
    writer = rows.writeTo("t").using("delta").tableProperty("colocate_with", "g")
    writer.partitionedBy(partitioning.bucket(4, col("id"))).createOrReplace()
    writer.createOrReplace()


WAYS = [
    create, ctas, create_or_replace, rtas, if_not_exists, save_as_table, save_as_table_overwrite, write_to,
    write_to_replace,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_of_creating_makes_the_layout_and_the_group(
    spark: SparkSession, db: str, way: Callable[[SparkSession], None]
) -> None:
    way(spark)
    assert schema(spark, "t") == {"id": "", "v": "", "_colocate_bucket": "pmod(hash(id), 4)"}
    assert partitions(spark, "t") == ["_colocate_bucket"]
    assert members(spark, db) == {"t": f"{db}.g"}
    assert dict(spark.sql("SHOW TBLPROPERTIES t").collect())["colocate_with"] == "g"
    assert spark.table("t").columns == ["id", "v"]


def test_clustered_without_a_group_makes_the_layout_alone(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, d DATE) USING delta PARTITIONED BY (d) {BUCKETS}")
    assert partitions(spark, "t") == ["d", "_colocate_bucket"]
    assert members(spark, db) == {}


def test_an_external_table_joins_its_group(spark: SparkSession, db: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT) USING delta {BUCKETS} LOCATION '{tmp_path / 'files'}' {G}")
    assert members(spark, db) == {"t": f"{db}.g"}
    assert (tmp_path / "files" / "_delta_log").exists()


def test_a_group_of_another_database_is_another_group_unless_it_is_global(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE a (id BIGINT) USING delta {BUCKETS} TBLPROPERTIES ('colocate_with' = '__global__{db}')")
    spark.sql(f"CREATE TABLE b (id BIGINT) USING delta {BUCKETS} {G}")
    assert members(spark, db) == {"a": f"__global__{db}", "b": f"{db}.g"}


def test_a_table_joins_moves_and_leaves_by_its_property(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT) USING delta {BUCKETS}")
    for statement, group in {
        "SET TBLPROPERTIES ('colocate_with' = 'g')": f"{db}.g",
        "SET TBLPROPERTIES ('COLOCATE_WITH' = 'h')": f"{db}.h",
        "SET TBLPROPERTIES ('colocate_with' = '')": None,
        "SET TBLPROPERTIES ('colocate_with' = 'i')": f"{db}.i",
        "UNSET TBLPROPERTIES ('colocate_with')": None,
    }.items():
        spark.sql(f"ALTER TABLE t {statement}")
        assert members(spark, db).get("t") == group
        assert dict(spark.sql("SHOW TBLPROPERTIES t").collect()).get("colocate_with") == (
            group.split(".")[1] if group else None
        )


def test_a_layout_that_does_not_fit_is_refused_with_the_statement_that_rewrites_it(
    spark: SparkSession, db: str
) -> None:
    create(spark)
    spark.sql("CREATE TABLE wide (id BIGINT) USING delta CLUSTERED BY (id) INTO 8 BUCKETS")
    with pytest.raises(AnalysisException, match="bucket counts differ") as refused:
        spark.sql(f"ALTER TABLE wide SET {G}")
    cure = str(refused.value).split("Rewrite it with: ")[1].split(", or choose")[0]
    spark.sql(cure)
    assert members(spark, db) == {"t": f"{db}.g", "wide": f"{db}.g"}


def test_rename_and_drop_keep_the_registry_true(spark: SparkSession, db: str) -> None:
    create(spark)
    spark.sql("ALTER TABLE t RENAME TO u")
    assert members(spark, db) == {"u": f"{db}.g"}
    spark.sql("DROP TABLE u")
    assert members(spark, db) == {}


def test_replacing_a_member_without_the_group_leaves_it(spark: SparkSession, db: str) -> None:
    create(spark)
    spark.sql("CREATE OR REPLACE TABLE t USING delta AS SELECT 1 AS x")
    assert members(spark, db) == {}
    assert spark.table("t").columns == ["x"]


def test_the_only_member_may_be_replaced_with_another_layout(spark: SparkSession, db: str) -> None:
    create(spark)
    spark.sql(f"CREATE OR REPLACE TABLE t USING delta CLUSTERED BY (k) INTO 8 BUCKETS {G} AS SELECT 'a' AS k")
    assert members(spark, db) == {"t": f"{db}.g"}
    assert schema(spark, "t")["_colocate_bucket"] == "pmod(hash(k), 8)"


def test_an_overwrite_by_the_v1_writer_keeps_layout_group_and_properties(spark: SparkSession, db: str) -> None:
    ctas(spark)
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('mine' = '1')")
    spark.sql("SELECT id, 'new' AS v FROM range(5)").write.format("delta").mode("overwrite").saveAsTable("t")
    assert spark.table("t").count() == 5
    spark.sql("SELECT id, 'new' AS w FROM range(6)").write.format("delta").mode("overwrite").option(
        "overwriteSchema", "true"
    ).saveAsTable("t")
    assert spark.table("t").columns == ["id", "w"]
    assert partitions(spark, "t") == ["_colocate_bucket"]
    assert members(spark, db) == {"t": f"{db}.g"}
    assert dict(spark.sql("SHOW TBLPROPERTIES t").collect())["mine"] == "1"


def test_a_key_column_can_neither_be_renamed_nor_retyped_nor_dropped(spark: SparkSession, db: str) -> None:
    create(spark)
    for change in ["RENAME COLUMN id TO x", "ALTER COLUMN id TYPE STRING", "DROP COLUMN id"]:
        with pytest.raises(AnalysisException, match=r"Cannot change column id of .* it is a bucket key"):
            spark.sql(f"ALTER TABLE t {change}")
    with pytest.raises(AnalysisException, match="it holds the bucket id"):
        spark.sql("ALTER TABLE t RENAME COLUMN _colocate_bucket TO x")


def test_restore_takes_the_table_to_the_group_of_the_version(spark: SparkSession, db: str) -> None:
    create(spark)
    spark.sql(f"CREATE TABLE n (id BIGINT) USING delta {BUCKETS} {G}")
    spark.sql("INSERT INTO n SELECT id FROM range(20)")
    spark.sql("CREATE OR REPLACE TABLE n (id BIGINT) USING delta")
    assert members(spark, db) == {"t": f"{db}.g"}
    spark.sql("RESTORE TABLE n TO VERSION AS OF 1")
    assert members(spark, db) == {"t": f"{db}.g", "n": f"{db}.g"}
    assert spark.table("n").count() == 20 and partitions(spark, "n") == ["_colocate_bucket"]
    DeltaTable.forName(spark, "n").restoreToVersion(2)
    assert members(spark, db) == {"t": f"{db}.g"} and spark.table("n").count() == 0
    spark.sql("RESTORE TABLE n TO VERSION AS OF 1")
    spark.sql("ALTER TABLE n SET TBLPROPERTIES ('colocate_with' = 'h')")
    spark.sql("RESTORE TABLE n TO VERSION AS OF 1")
    assert members(spark, db) == {"t": f"{db}.g", "n": f"{db}.g"}


def test_restore_to_a_version_that_fits_no_more_leaves_the_group(spark: SparkSession, db: str) -> None:
    create(spark)
    spark.sql("INSERT INTO t VALUES (1, 'a')")
    for table in ("t", "u"):
        spark.sql(
            f"CREATE OR REPLACE TABLE {table} (id BIGINT) USING delta CLUSTERED BY (id) INTO 3 BUCKETS "
            "TBLPROPERTIES ('colocate_with' = 'three')"
        )
    spark.sql("CREATE TABLE g5 (id BIGINT) USING delta CLUSTERED BY (id) INTO 5 BUCKETS " + G)
    spark.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert members(spark, db) == {"u": f"{db}.three", "g5": f"{db}.g"}
    assert [tuple(row) for row in spark.table("t").collect()] == [(1, "a")]
    found = spark.sql(f"CALL system.doctor(db => '{db}')").collect()
    assert "TABLE_DOES_NOT_FIT" in {row.code for row in found if row.object == f"{db}.t"}


def test_the_cache_has_the_rows_of_the_version_that_was_restored(spark: SparkSession, db: str) -> None:
    create(spark)
    spark.sql("INSERT INTO t VALUES (1, 'a')")
    spark.sql("CACHE TABLE t")
    try:
        spark.sql("INSERT INTO t VALUES (2, 'b')")
        spark.sql("ALTER TABLE t ADD COLUMN w INT")
        assert spark.table("t").count() == 2
        spark.sql("RESTORE TABLE t TO VERSION AS OF 1")
        assert [tuple(row) for row in spark.sql("SELECT * FROM t").collect()] == [(1, "a")]
    finally:
        spark.sql("UNCACHE TABLE t")


def test_a_bucketed_table_gets_no_liquid_clustering(spark: SparkSession, db: str) -> None:
    create(spark)
    with pytest.raises(AnalysisException, match=rf"Cannot cluster {db}.t with CLUSTER BY: it has buckets") as refused:
        spark.sql("ALTER TABLE t CLUSTER BY (v)")
    assert refused.value.getCondition() == "LIQUID_CLUSTERING"
    spark.sql("CREATE TABLE plain (id BIGINT) USING delta")
    spark.sql("ALTER TABLE plain CLUSTER BY (id)")


REFUSED = {
    f"CREATE TABLE x (id BIGINT) USING delta {G}": "the table is not bucketed",
    f"CREATE TABLE x (id BIGINT) USING delta CLUSTER BY (id) {G}": "it uses liquid clustering",
    f"CREATE TABLE x (id BIGINT) USING delta CLUSTERED BY (nope) INTO 4 BUCKETS {G}": "the table has no such column",
    "CREATE TABLE x (id BIGINT) USING delta CLUSTERED BY (nope) INTO 4 BUCKETS": "the table has no such column",
    f"CREATE TABLE x (id DOUBLE) USING delta {BUCKETS} {G}": "type DOUBLE is refused",
    f"CREATE TABLE x (id CHAR(3)) USING delta {BUCKETS} {G}": "is refused as a bucket key",
    f"CREATE TABLE x (id BIGINT, _Colocate_Bucket INT) USING delta {BUCKETS} {G}": "clashes with _colocate_bucket",
    f"CREATE TABLE x (id BIGINT GENERATED ALWAYS AS IDENTITY) USING delta {BUCKETS} {G}": "an IDENTITY column",
    f"CREATE TABLE x (a INT, id BIGINT GENERATED ALWAYS AS (a + 1)) USING delta {BUCKETS} {G}": "a generated column",
    f"CREATE TABLE x (id BIGINT) USING delta CLUSTERED BY (id) SORTED BY (id) INTO 4 BUCKETS {G}": "can't be kept",
    f"CREATE TABLE x (id BIGINT) USING delta CLUSTERED BY (id) INTO 8 BUCKETS {G}": "bucket counts differ",
    f"CREATE TABLE x (id INT) USING delta {BUCKETS} {G}": "bigint",
    f"CREATE TABLE delta.`/tmp/never/made` (id BIGINT) USING delta {BUCKETS} {G}": "has only a path",
    f"CREATE TABLE x USING delta {BUCKETS} {G} "
    "AS SELECT cast(raise_error('boom') AS STRING) AS v, id FROM range(9)": "boom",
    f"CREATE TABLE x USING delta {BUCKETS} TBLPROPERTIES ('colocate_with' = 'fresh') "
    "AS SELECT id, cast(raise_error('boom') AS STRING) AS v FROM range(9)": "boom",
}


@pytest.mark.parametrize("statement", REFUSED)
@pytest.mark.every(3)
def test_a_refused_statement_leaves_nothing_behind(spark: SparkSession, db: str, statement: str) -> None:
    create(spark)
    warehouse = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"), f"{db}.db")
    before = (sorted(warehouse.iterdir()), groups(spark, db), members(spark, db))
    with pytest.raises(Exception, match=REFUSED[statement]):
        spark.sql(statement)
    assert [row.tableName for row in spark.sql("SHOW TABLES").collect() if not row.isTemporary] == ["t"]
    assert (sorted(warehouse.iterdir()), groups(spark, db), members(spark, db)) == before


def groups(spark: SparkSession, db: str) -> list[str]:
    found = spark.sql("SELECT group_name, db FROM system.colocation_groups").where(f"db = '{db}'").collect()
    return sorted(row.group_name for row in found)


def test_a_replace_that_fails_leaves_the_old_table_and_its_group(spark: SparkSession, db: str) -> None:
    ctas(spark)
    other = f"CREATE OR REPLACE TABLE t USING delta {BUCKETS} TBLPROPERTIES ('colocate_with' = 'h') "
    with pytest.raises(Exception, match="boom"):
        spark.sql(other + "AS SELECT id, cast(raise_error('boom') AS STRING) AS v FROM range(9)")
    assert members(spark, db) == {"t": f"{db}.g"}
    assert spark.table("t").count() == 9


def test_a_key_left_to_its_default_gets_the_defaults_bucket(spark: SparkSession, db: str) -> None:
    spark.sql(
        f"CREATE TABLE t (v INT, id BIGINT DEFAULT 7) USING delta {BUCKETS} "
        "TBLPROPERTIES ('colocate_with' = 'g', 'delta.feature.allowColumnDefaults' = 'supported')"
    )
    spark.sql("INSERT INTO t (v) VALUES (1)")
    spark.sql("INSERT INTO t VALUES (2, DEFAULT)")
    spark.sql("SELECT 3 AS v").write.format("delta").mode("append").saveAsTable("t")
    assert spark.sql("SELECT count(*) FROM t WHERE _colocate_bucket = pmod(hash(id), 4)").first()[0] == 3
