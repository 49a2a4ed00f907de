"""What a table with a key model refuses: nothing is created, changed or lost, and the error says what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from tests.spark.members import folder
from tests.spark.versions import INSERT_EVOLVES
from tests.tiers.params import marked

INTERPRETED = True

BUCKETS = "CLUSTERED BY (k) INTO 4 BUCKETS"


def refused(spark: SparkSession, sql: str, words: str) -> None:
    with pytest.raises(Exception, match=r"\[KEY_MODEL_") as error:
        spark.sql(sql).collect()
    assert words in str(error.value)


AGGREGATE = "'key_model' = 'aggregate', 'key_columns' = 'k'"

CREATES = {
    "'key_model' = 'unique'": "'key_columns' names no column",
    "'key_model' = 'unique', 'key_columns' = 'x'": "'key_columns' names x, and the table has no such column",
    "'key_model' = 'unique', 'key_columns' = 'k, K'": "a column is named twice",
    "'key_model' = 'unique', 'key_columns' = 's'": "CLUSTERED BY has k, which is not a key column",
    "'key_model' = 'unique', 'key_columns' = 'k, d'": "column d has the type DOUBLE",
    "'key_model' = 'unique', 'key_columns' = 'k', 'value_aggregates' = '{\"s\":\"SUM\"}'": "Leave them out",
    "'key_model' = 'unique', 'key_columns' = 'k, c'": "column c has the type CHAR(4), which Spark pads",
    AGGREGATE: "value column s has no aggregation",
    f"{AGGREGATE}, 'value_aggregates' = 'SUM'": "'value_aggregates' is SUM",
    f"{AGGREGATE}, 'value_aggregates' = '{{\"s\":\"AVG\"}}'": "unknown aggregation AVG",
    f"{AGGREGATE}, 'value_aggregates' = '{{\"t\":\"SUM\"}}'": "column t has the type STRING, and SUM needs numbers",
    f"{AGGREGATE}, 'value_aggregates' = '{{\"k\":\"SUM\"}}'": "key column k has the aggregation SUM",
}


@pytest.mark.parametrize("properties", CREATES)
@pytest.mark.every(3)
def test_a_wrong_model_is_not_created(spark: SparkSession, db: str, properties: str) -> None:
    columns = "(k INT, s INT, d DOUBLE, c CHAR(4), t STRING)"
    refused(spark, f"CREATE TABLE t {columns} USING delta {BUCKETS} TBLPROPERTIES ({properties})", CREATES[properties])
    assert spark.sql("SHOW TABLES").where("NOT isTemporary").count() == 0


def test_a_model_needs_buckets_and_delta(spark: SparkSession, db: str) -> None:
    properties = "TBLPROPERTIES ('key_model' = 'unique', 'key_columns' = 'k')"
    refused(spark, f"CREATE TABLE t (k INT, v INT) USING delta {properties}", "it has no buckets")
    refused(spark, f"CREATE TABLE t (k INT, v INT) USING parquet {BUCKETS} {properties}", "its format is PARQUET")
    refused(
        spark,
        f"CREATE TABLE t (k INT, p INT, v INT) USING delta PARTITIONED BY (p) {BUCKETS} {properties}",
        "partition columns has p, which is not a key column",
    )
    assert spark.sql("SHOW TABLES").where("NOT isTemporary").count() == 0


@pytest.fixture
def keyed(spark: SparkSession, db: str) -> SparkSession:
    spark.sql("CREATE TABLE t (k INT, s INT SUM) AGGREGATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4")
    spark.sql("CREATE TABLE u (k INT, v INT) UNIQUE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4")
    for table in ("t", "u"):
        spark.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2)")
        spark.sql(f"INSERT INTO {table} VALUES (1, 10)")
    return spark


CHANGES = {
    "UPDATE t SET s = 1": "Cannot run UPDATE on",
    "UPDATE u SET k = 3": "it is a key column",
    "UPDATE u SET v = 3, V = 4": "it is set 2 times",
    "ALTER TABLE u DROP FEATURE rowTracking": "which row of a key was loaded last",
    "UPDATE u SET x = 3": "it is not a column of the table (columns: k, v)",
    "DELETE FROM t WHERE s = 11": "its condition uses s, a value column",
    "DELETE FROM u WHERE k = 1 AND v > 0": "its condition uses v, a value column",
    "DELETE FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.s = u.v)": "its condition uses v",
    "INSERT INTO u REPLACE WHERE v = 10 VALUES (1, 10)": "a conditional overwrite",
    "MERGE INTO u USING t ON t.k = u.k WHEN MATCHED THEN UPDATE SET v = t.s": "Cannot run MERGE on",
    "MERGE INTO t USING u ON t.k = u.k WHEN MATCHED THEN DELETE": "Cannot run MERGE on",
    "ALTER TABLE t ADD COLUMN z INT": "it would have no aggregation",
    "ALTER TABLE t SET TBLPROPERTIES ('key_model' = 'duplicate')": "its rows were loaded for this model",
    "ALTER TABLE t UNSET TBLPROPERTIES ('Key_Columns')": "its rows were loaded for this model",
    "ALTER TABLE u SET TBLPROPERTIES ('delta.enableRowTracking' = 'false')": "which row of a key was loaded last",
    "CREATE TABLE c SHALLOW CLONE u": "a clone does not know which row of a key was loaded last",
}


def test_statements_that_would_break_the_model_are_refused(keyed: SparkSession) -> None:
    before = {table: keyed.sql(f"SELECT * FROM {table} ORDER BY k").collect() for table in ("t", "u")}
    assert [tuple(row) for row in before["t"]] == [(1, 11), (2, 2)]
    assert [tuple(row) for row in before["u"]] == [(1, 10), (2, 2)]
    for sql, words in CHANGES.items():
        refused(keyed, sql, words)
    assert {table: keyed.sql(f"SELECT * FROM {table} ORDER BY k").collect() for table in ("t", "u")} == before


def test_merges_of_the_delta_table_api_are_refused(keyed: SparkSession) -> None:
    source = keyed.createDataFrame([(1,)], "k INT").alias("s")
    for target in (
        DeltaTable.forName(keyed, "u"),
        DeltaTable.forPath(keyed, str(folder(keyed, "u"))),
        DeltaTable.forName(keyed, "t"),
    ):
        for merge in (
            lambda m: m.whenMatchedDelete(),
            lambda m: m.whenNotMatchedInsert(values={"k": "s.k"}),
        ):
            with pytest.raises(Exception, match=r"\[KEY_MODEL_CHANGE\] Cannot run MERGE"):
                merge(target.alias("t").merge(source, "t.k = s.k")).execute()
    assert [tuple(row) for row in keyed.sql("SELECT * FROM u ORDER BY k").collect()] == [(1, 10), (2, 2)]


def test_a_member_without_a_model_may_drop_the_feature(spark: SparkSession, db: str) -> None:
    properties = "'colocate_with' = 'g', 'delta.enableRowTracking' = 'true'"
    spark.sql(f"CREATE TABLE m (k INT, v INT) USING delta {BUCKETS} TBLPROPERTIES ({properties})")
    spark.sql("INSERT INTO m VALUES (1, 1), (2, 2)")
    spark.sql("ALTER TABLE m DROP FEATURE rowTracking")
    assert "rowTracking" not in spark.sql("DESCRIBE DETAIL m").head()["tableFeatures"]  # type: ignore[index]
    assert spark.sql("SELECT count(*) AS n FROM m").head()["n"] == 2  # type: ignore[index]
    assert spark.sql(f"SELECT is_stable FROM system.colocation_groups WHERE group_name = '{db}.g'").head() == (True,)


def test_updates_would_change_numbers_of_an_identity_column(spark: SparkSession, db: str) -> None:
    spark.sql(
        f"CREATE TABLE i (k INT, a INT, n BIGINT GENERATED ALWAYS AS IDENTITY) USING delta {BUCKETS} "
        "TBLPROPERTIES ('key_model' = 'unique', 'key_columns' = 'k')"
    )
    spark.sql("INSERT INTO i (k, a) VALUES (1, 1)")
    refused(spark, "UPDATE i SET a = 2", "other values of n (GENERATED ALWAYS AS IDENTITY)")
    assert [tuple(row) for row in spark.sql("SELECT k, a FROM i").collect()] == [(1, 1)]


def test_writers_may_not_replace_rows_by_values(keyed: SparkSession) -> None:
    frame = keyed.createDataFrame([(1, 5)], "k INT, v INT")
    path = str(folder(keyed, "u"))
    for write in (
        lambda w: w.saveAsTable("u"),
        lambda w: w.save(path),
    ):
        with pytest.raises(Exception, match="KEY_MODEL_CHANGE"):
            write(frame.write.format("delta").mode("overwrite").option("replaceWhere", "v = 10"))
        write(frame.write.format("delta").mode("overwrite").option("replaceWhere", "k = 1"))
        assert [tuple(row) for row in keyed.sql("SELECT * FROM u ORDER BY k").collect()] == [(1, 5), (2, 2)]


def test_renames_and_drops_of_columns(keyed: SparkSession) -> None:
    for table in ("t", "u"):
        keyed.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    refused(keyed, "ALTER TABLE t RENAME COLUMN s TO z", "its aggregation goes by its name")
    refused(keyed, "ALTER TABLE u DROP COLUMN k", "it is a key column")
    keyed.sql("ALTER TABLE u RENAME COLUMN v TO z")
    keyed.sql("ALTER TABLE u ADD COLUMN w INT")
    keyed.sql("INSERT INTO u VALUES (1, 1, 1)")
    assert [tuple(row) for row in keyed.sql("SELECT * FROM u ORDER BY k").collect()] == [(1, 1, 1), (2, 2, None)]


def _append_by_stream(spark: SparkSession, folder: str) -> None:
    spark.sql("CREATE OR REPLACE TABLE source (k INT, s INT, new STRING) USING delta")
    spark.sql("INSERT INTO source VALUES (1, 1, 'x')")
    stream = spark.readStream.table("source").writeStream.format("delta").option("mergeSchema", "true")
    stream.option("checkpointLocation", folder).trigger(availableNow=True).toTable("t").awaitTermination()


def _rows(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT 1 AS k, 1 AS s, 'x' AS new")


def _by_auto_merge(spark: SparkSession) -> None:
    spark.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        spark.sql("INSERT INTO t BY NAME SELECT 1 AS k, 1 AS s, 'x' AS new")
    finally:
        spark.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")


def _writer(spark: SparkSession, mode: str, option: str) -> DataFrameWriter:
    return _rows(spark).write.format("delta").mode(mode).option(option, "true")


EVOLUTIONS: dict[str, Callable[[SparkSession, Path], object]] = {
    "saveAsTable": lambda spark, _: _writer(spark, "append", "mergeSchema").saveAsTable("t"),
    "overwrite": lambda spark, _: _writer(spark, "overwrite", "overwriteSchema").saveAsTable("t"),
    "writeTo": lambda spark, _: _rows(spark).writeTo("t").option("mergeSchema", "true").append(),
    "save": lambda spark, _: _writer(spark, "append", "mergeSchema").save(str(folder(spark, "t"))),
    "INSERT": lambda spark, _: spark.sql("INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 1 AS k, 'x' AS new"),
    "autoMerge": lambda spark, _: _by_auto_merge(spark),
    "stream": lambda spark, path: _append_by_stream(spark, str(path / "checkpoint")),
}


@pytest.mark.parametrize("way", marked(EVOLUTIONS, {"INSERT": INSERT_EVOLVES}))
@pytest.mark.every(3)
def test_a_load_adds_no_column_without_an_aggregation(keyed: SparkSession, tmp_path: Path, way: str) -> None:
    """The column would make the table unreadable: the model says nothing of it."""
    with pytest.raises(Exception, match=r"Cannot add column new of .*it would have no aggregation"):
        EVOLUTIONS[way](keyed, tmp_path)
    assert sorted(map(tuple, keyed.table("t").collect())) == [(1, 11), (2, 2)]
    assert keyed.table("t").columns == ["k", "s"]


def test_an_overwrite_of_the_schema_keeps_the_key_columns(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE w (k INT, n INT, v INT) UNIQUE KEY(k, n) DISTRIBUTED BY HASH(k) BUCKETS 4")
    spark.sql("INSERT INTO w VALUES (1, 1, 1)")
    rows = spark.sql("SELECT 1 AS k, 1 AS v, 'x' AS new").write.format("delta").mode("overwrite")
    with pytest.raises(Exception, match=r"Cannot drop column n of .*it is a key column"):
        rows.option("overwriteSchema", "true").saveAsTable("w")
    assert [tuple(row) for row in spark.table("w").collect()] == [(1, 1, 1)]


def test_a_load_adds_a_column_to_unique_key(keyed: SparkSession) -> None:
    rows = keyed.sql("SELECT 1 AS k, 1 AS v, 'x' AS new")
    rows.write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable("u")
    assert sorted(map(tuple, keyed.table("u").collect())) == [(1, 1, "x"), (2, 2, None)]


def test_a_stream_does_not_read_the_table(keyed: SparkSession) -> None:
    for source in (
        lambda: keyed.readStream.table("u"),
        lambda: keyed.readStream.format("delta").load(str(folder(keyed, "u"))),
    ):
        with pytest.raises(Exception, match="KEY_MODEL_STREAM"):
            source().writeStream.format("memory").queryName("s").start()


def test_the_properties_mean_nothing_without_our_buckets(spark: SparkSession, db: str) -> None:
    """A table of another session may have properties of these names."""
    for number, model in enumerate(("unique", "aggregate", "Unique", "none")):
        table = f"t{number}"
        spark.sql(f"CREATE TABLE {table} (k INT, v INT) USING delta")
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('key_model' = '{model}', 'value_aggregates' = 'x')")
        spark.sql(f"INSERT INTO {table} VALUES (1, 1), (1, 2)")
        spark.sql(f"UPDATE {table} SET v = 3 WHERE v = 2")
        assert spark.table(table).count() == 2
