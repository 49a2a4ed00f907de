"""A table that gets a name in the catalog while its files are there already is what its own log says."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, partitioning

from tests.spark.oracle import assert_no_exchange

INTERPRETED = True

BUCKETS = "CLUSTERED BY (id) INTO 4 BUCKETS"
COLUMNS = "(id BIGINT, v STRING)"
G = "TBLPROPERTIES ('colocate_with' = 'g')"
COUNT = "SELECT id, count(*) FROM t GROUP BY id"


def members(spark: SparkSession, db: str) -> dict[str, str]:
    listed = spark.sql("SELECT `table`, `group` FROM system.colocation_tables").where(f"db = '{db}'").collect()
    return {row[0]: row[1] for row in listed}


@pytest.fixture
def files(spark: SparkSession, db: str, tmp_path: Path) -> str:
    """The folder of a member whose name was dropped."""
    spark.sql(f"CREATE TABLE t {COLUMNS} USING delta {BUCKETS} LOCATION '{tmp_path}/files' {G}")
    spark.sql("INSERT INTO t SELECT id, 'x' FROM range(20)")
    spark.sql("DROP TABLE t")
    assert members(spark, db) == {}
    return f"{tmp_path}/files"


FORMS = {
    "folder alone": "CREATE TABLE t USING delta LOCATION '{f}'",
    "group": "CREATE TABLE t USING delta LOCATION '{f}' TBLPROPERTIES ('colocate_with' = 'g')",
    "upper case": "CREATE TABLE t USING delta LOCATION '{f}' TBLPROPERTIES ('Colocate_With' = 'g')",
    "all but the group": f"CREATE TABLE t {COLUMNS} USING delta {BUCKETS} LOCATION '{{f}}'",
    "the same statement": f"CREATE TABLE t {COLUMNS} USING delta {BUCKETS} LOCATION '{{f}}' {G}",
    "if it is not there": "CREATE TABLE IF NOT EXISTS t USING delta LOCATION '{f}'",
    "path option": "CREATE TABLE t USING delta OPTIONS (path '{f}')",
    "clone": "CREATE TABLE t SHALLOW CLONE delta.`{f}`",
}


@pytest.mark.parametrize("form", FORMS)
def test_it_joins_the_group_that_its_log_names(spark: SparkSession, db: str, files: str, form: str) -> None:
    spark.sql(FORMS[form].format(f=files))
    assert members(spark, db) == {"t": f"{db}.g"}
    assert spark.table("t").columns == ["id", "v"] and spark.table("t").count() == 20
    assert_no_exchange(spark, COUNT)
    with pytest.raises(Exception, match="BUCKETS_DIFFER"):
        spark.sql(f"CREATE TABLE other {COLUMNS} USING delta CLUSTERED BY (id) INTO 8 BUCKETS {G}")
    spark.sql("DROP TABLE t")
    assert members(spark, db) == {}


DIFFERENT = {
    f"CREATE TABLE t {COLUMNS} USING delta LOCATION '{{f}}'": "has no buckets, the table has CLUSTERED BY (id) INTO 4",
    f"CREATE TABLE t {COLUMNS} USING delta CLUSTERED BY (id) INTO 8 BUCKETS LOCATION '{{f}}'": "INTO 8 BUCKETS, the",
    f"CREATE TABLE t {COLUMNS} USING delta CLUSTERED BY (v) INTO 4 BUCKETS LOCATION '{{f}}'": "CLUSTERED BY (v)",
    f"CREATE TABLE t (id BIGINT, w INT) USING delta {BUCKETS} LOCATION '{{f}}'": "(id BIGINT, v STRING)",
    f"CREATE TABLE t {COLUMNS} USING delta PARTITIONED BY (v) {BUCKETS} LOCATION '{{f}}'": "PARTITIONED BY (v), the",
    "CREATE TABLE t USING delta LOCATION '{f}' TBLPROPERTIES ('colocate_with' = 'h')": "'colocate_with' = 'h', the",
    "CREATE TABLE t USING delta LOCATION '{f}' TBLPROPERTIES ('mine' = '1')": "the table has no such property",
    "CREATE TABLE t USING delta LOCATION '{f}' TBLPROPERTIES ('key_model' = 'unique', 'key_columns' = 'id')": "",
}


@pytest.mark.parametrize("statement", DIFFERENT)
def test_another_table_than_the_statement_says(spark: SparkSession, db: str, files: str, statement: str) -> None:
    with pytest.raises(Exception, match=r"\[(FOLDER_DIFFERS|KEY_MODEL_INVALID)\]") as error:
        spark.sql(statement.format(f=files))
    assert DIFFERENT[statement] in str(error.value) and "_colocate" not in str(error.value)
    assert members(spark, db) == {} and not spark.catalog.tableExists("t")


def test_it_must_fit_into_the_group(spark: SparkSession, db: str, files: str) -> None:
    spark.sql(f"CALL system.purge_group(group => '{db}.g')").collect()
    spark.sql(f"CREATE TABLE other {COLUMNS} USING delta CLUSTERED BY (id) INTO 8 BUCKETS {G}")
    with pytest.raises(Exception, match="BUCKETS_DIFFER"):
        spark.sql(f"CREATE TABLE t USING delta LOCATION '{files}'")
    assert members(spark, db) == {"other": f"{db}.g"} and not spark.catalog.tableExists("t")
    spark.sql(f"ALTER TABLE delta.`{files}` SET TBLPROPERTIES ('colocate_with' = '')")
    spark.sql(f"CREATE TABLE t USING delta LOCATION '{files}'")
    assert members(spark, db) == {"other": f"{db}.g"} and spark.table("t").count() == 20


def test_another_database_has_another_group(spark: SparkSession, db: str, files: str) -> None:
    spark.sql(f"CREATE DATABASE {db}_b")
    try:
        spark.sql(f"CREATE TABLE {db}_b.t USING delta LOCATION '{files}'")
        assert members(spark, f"{db}_b") == {"t": f"{db}_b.g"}
    finally:
        spark.sql(f"DROP DATABASE {db}_b CASCADE")


def test_range_partitions_and_key_models_come_with_the_folder(spark: SparkSession, db: str, tmp_path: Path) -> None:
    create = (
        "CREATE TABLE t (k INT, v INT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS "
        f"LOCATION '{tmp_path}/files' TBLPROPERTIES ('key_model' = 'unique', 'key_columns' = 'k', "
        "'range_partition_by' = 'k', 'range_partitions' = '[{\"name\":\"p\",\"upper\":[\"50\"]}]')"
    )
    spark.sql(create)
    spark.sql("INSERT INTO t VALUES (1, 1)")
    spark.sql("INSERT INTO t VALUES (1, 2)")
    for statement in (f"CREATE TABLE t USING delta LOCATION '{tmp_path}/files'", create):
        spark.sql("DROP TABLE t")
        spark.sql(statement)
        assert [tuple(row) for row in spark.table("t").collect()] == [(1, 2)]
        with pytest.raises(Exception, match="range partition"):
            spark.sql("INSERT INTO t VALUES (60, 1)")
    spark.sql("DROP TABLE t")
    with pytest.raises(Exception, match="FOLDER_DIFFERS"):
        spark.sql(create.replace('"50"', '"60"'))


def test_set_location_takes_the_group_of_the_other_folder(spark: SparkSession, db: str, files: str) -> None:
    where = files.replace("files", "others")
    spark.sql(f"CREATE TABLE t {COLUMNS} USING delta {BUCKETS} LOCATION '{where}'")
    spark.sql(f"ALTER TABLE t SET LOCATION '{files}'")
    assert members(spark, db) == {"t": f"{db}.g"} and spark.table("t").count() == 20
    assert_no_exchange(spark, COUNT)
    spark.sql(f"ALTER TABLE t SET LOCATION '{where}'")
    assert members(spark, db) == {} and spark.table("t").count() == 0


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (COLUMNS, "has no buckets, the other one CLUSTERED BY (id) INTO 4 BUCKETS"),
        (f"{COLUMNS} USING delta CLUSTERED BY (id) INTO 8 BUCKETS", "INTO 8 BUCKETS, the other one"),
        (f"(id BIGINT, w INT) USING delta {BUCKETS}", "has the columns (id BIGINT, w INT), the other one (id BIGINT"),
    ],
)
def test_set_location_to_another_layout(spark: SparkSession, db: str, files: str, columns: str, words: str) -> None:
    spark.sql(f"CREATE TABLE t {columns if 'USING' in columns else columns + ' USING delta'}")
    with pytest.raises(Exception, match="FOLDER_DIFFERS") as error:
        spark.sql(f"ALTER TABLE t SET LOCATION '{files}'")
    assert words in str(error.value) and "_colocate" not in str(error.value)
    assert members(spark, db) == {}


def _rows(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT id, 'y' AS v FROM range(5)")


LEAVING: dict[str, Callable[[DataFrame, str | None], object]] = {
    "bucketBy": lambda df, g: _option(df.write.format("delta").mode("overwrite").bucketBy(8, "id"), g).saveAsTable("t"),
    "createOrReplace": lambda df, g: _property(df.writeTo("t").using("delta"), g).createOrReplace(),
    "replace": lambda df, g: _property(
        df.writeTo("t").using("delta").partitionedBy(partitioning.bucket(8, col("id"))), g
    ).replace(),
}


def _option(writer, group):  # type: ignore[no-untyped-def]
    return writer if group is None else writer.option("colocate_with", group)


def _property(writer, group):  # type: ignore[no-untyped-def]
    return writer if group is None else writer.tableProperty("colocate_with", group)


@pytest.mark.parametrize("way", LEAVING)
def test_a_writer_does_not_take_a_table_out_of_its_group_unsaid(spark: SparkSession, db: str, way: str) -> None:
    spark.sql(f"CREATE TABLE t {COLUMNS} USING delta {BUCKETS} {G}")
    with pytest.raises(Exception, match=r"\[WRITER_LEAVES_GROUP\] Cannot replace .*\.t: it is in group g"):
        LEAVING[way](_rows(spark), None)
    assert members(spark, db) == {"t": f"{db}.g"} and spark.table("t").count() == 0
    LEAVING[way](_rows(spark), "")
    assert members(spark, db) == {} and spark.table("t").count() == 5
    assert "colocate_with" not in {row[0] for row in spark.sql("SHOW TBLPROPERTIES t").collect()}


def test_an_overwrite_may_name_another_group_or_none(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t {COLUMNS} USING delta {BUCKETS} {G}")
    writer = _rows(spark).write.format("delta").mode("overwrite")
    writer.saveAsTable("t")
    assert members(spark, db) == {"t": f"{db}.g"}
    for group, named in (("h", {"t": f"{db}.h"}), ("", {})):
        _rows(spark).write.format("delta").mode("overwrite").option("colocate_with", group).saveAsTable("t")
        assert members(spark, db) == named
        assert_no_exchange(spark, COUNT)
        assert spark.table("t").count() == 5


def test_a_writer_with_other_buckets_keeps_the_key_model(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, v STRING) UNIQUE KEY(id) DISTRIBUTED BY HASH(id) BUCKETS 4")
    _rows(spark).write.format("delta").mode("overwrite").bucketBy(8, "id").saveAsTable("t")
    spark.sql("INSERT INTO t VALUES (1, 'z')")
    assert spark.table("t").count() == 5 and spark.table("t").where("id = 1").head()["v"] == "z"  # type: ignore[index]
