"""Properties that say what rows a table has: checked as at CREATE, refused, or without effect, in every way."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.foreign import change_property, declare, undeclare, without_us
from tests.spark.plans import kinds
from tests.tiers.params import rest_slow

INTERPRETED = True

BUCKETS = "CLUSTERED BY (k) INTO 4 BUCKETS"
ROWS = "(1, 1, 1), (1, 1, 10), (2, 2, 2)"
LOADED = [(1, 1, 1), (1, 1, 10), (2, 2, 2)]

TABLES = {
    "none": ("", LOADED),
    "duplicate": ("'key_model' = 'duplicate', 'key_columns' = 'k'", LOADED),
    "unique": ("'key_model' = 'unique', 'key_columns' = 'k, n'", [(1, 1, 10), (2, 2, 2)]),
    "aggregate": (
        "'key_model' = 'aggregate', 'key_columns' = 'k, n', 'value_aggregates' = '{\"v\":\"SUM\"}'",
        [(1, 1, 11), (2, 2, 2)],
    ),
}

OTHERS = {
    "a model": "'key_model' = 'unique', 'key_columns' = 'k'",
    "another key": (
        "'key_model' = 'aggregate', 'key_columns' = 'k', 'value_aggregates' = '{\"v\":\"MAX\",\"n\":\"MIN\"}'"
    ),
    "a key that is no place": "'key_model' = 'unique', 'key_columns' = 'v'",
    "no aggregation": "'key_model' = 'aggregate', 'key_columns' = 'k, n', 'value_aggregates' = '{\"v\":\"AVG\"}'",
    "no column": "'key_model' = 'unique', 'key_columns' = 'x'",
    "ranges": "'range_partition_by' = 'v', 'range_partitions' = '[{\"name\":\"p\",\"upper\":[\"5\"]}]'",
    "one of two": "'range_partitions' = '[]'",
    "damage": "'colocate.damaged' = 'true'",
    "overwrite": "'colocate.v1Overwrite' = 'true'",
}


def make(spark: SparkSession, kind: str, table: str = "t", more: str = "") -> None:
    properties = ", ".join(text for text in (TABLES[kind][0], more) if text)
    wanted = f"TBLPROPERTIES ({properties})" if properties else ""
    spark.sql(f"CREATE TABLE {table} (k INT, n INT, v INT) USING delta {BUCKETS} {wanted}")
    for row in ROWS.split("), "):
        spark.sql(f"INSERT INTO {table} VALUES {row.rstrip(')')})")


def rows(spark: SparkSession, table: str = "t") -> list[tuple[int, ...]]:
    return sorted(tuple(row) for row in spark.table(table).collect())


def properties(spark: SparkSession, table: str = "t") -> dict[str, str]:
    return {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}


@pytest.mark.parametrize("kind", TABLES)
def test_alter_changes_no_rows(spark: SparkSession, db: str, kind: str) -> None:
    make(spark, kind)
    before = properties(spark)
    for other in OTHERS.values():
        with pytest.raises(Exception, match=r"\[(KEY_MODEL_|RANGE_PROPERTY_FIXED|PROPERTY_RESERVED)"):
            spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ({other})")
        for upper in (False, True):
            names = [text.split("=")[0].strip() for text in other.split(", '") if "=" in text]
            for name in (f"'{name.strip(chr(39))}'" for name in names):
                _unset(spark, name.upper() if upper else name)
    assert rows(spark) == TABLES[kind][1]
    assert {key: before.get(key) for key in before if "key" in key} == {
        key: value for key, value in properties(spark).items() if "key" in key
    }


def _unset(spark: SparkSession, name: str) -> None:
    """Refused, or of a property that is not there."""
    with suppress(PySparkException):
        spark.sql(f"ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ({name})")


@pytest.mark.parametrize("kind", rest_slow(TABLES, "none", "aggregate"))
def test_what_a_session_without_us_sets_has_no_effect(spark: SparkSession, db: str, kind: str) -> None:
    make(spark, kind)
    for name, other in OTHERS.items():
        if name == "damage":
            continue
        without_us(spark, f"ALTER TABLE {db}.t SET TBLPROPERTIES ({other})")
        spark.sql("REFRESH TABLE t")
        assert rows(spark) == TABLES[kind][1], name
        spark.sql("INSERT INTO t VALUES (3, 3, 7)")
        spark.sql("DELETE FROM t WHERE k = 3")
    if kind in ("unique", "aggregate"):
        for _ in range(2):
            spark.sql("CALL system.compact(table => 't')").collect()
            assert rows(spark) == TABLES[kind][1]
    else:
        with pytest.raises(Exception, match="KEY_MODEL_ABSENT"):
            spark.sql("CALL system.compact(table => 't')").collect()


@pytest.mark.parametrize("kind", TABLES)
def test_properties_that_were_changed_elsewhere_can_be_set_right(spark: SparkSession, db: str, kind: str) -> None:
    make(spark, kind)
    before = properties(spark)
    without_us(spark, f"ALTER TABLE {db}.t SET TBLPROPERTIES ({OTHERS['another key']})")
    spark.sql("REFRESH TABLE t")
    wanted = TABLES[kind][0]
    gone = [key for key in ("key_model", "key_columns", "value_aggregates") if key not in wanted]
    if kind == "none":
        names = ", ".join(f"'{key}'" for key in gone)
        spark.sql(f"ALTER TABLE t UNSET TBLPROPERTIES ({names})")
    elif gone:
        without_us(spark, f"ALTER TABLE {db}.t UNSET TBLPROPERTIES ('value_aggregates')")
        spark.sql("REFRESH TABLE t")
        spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ({wanted})")
    else:
        spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ({wanted})")
    assert {key: properties(spark).get(key) for key in ("key_model", "key_columns", "value_aggregates")} == {
        key: before.get(key) for key in ("key_model", "key_columns", "value_aggregates")
    }
    assert rows(spark) == TABLES[kind][1]


CREATES: dict[str, Callable[[SparkSession, Path, str], object]] = {
    "create": lambda spark, _, text: spark.sql(
        f"CREATE TABLE o (k INT, n INT, v INT) USING delta {BUCKETS} TBLPROPERTIES ({text})"
    ),
    "ctas": lambda spark, _, text: spark.sql(
        f"CREATE TABLE o USING delta {BUCKETS} TBLPROPERTIES ({text}) AS SELECT * FROM t"
    ),
    "replace": lambda spark, _, text: spark.sql(
        f"CREATE OR REPLACE TABLE o USING delta {BUCKETS} TBLPROPERTIES ({text}) AS SELECT * FROM t"
    ),
    "like": lambda spark, _, text: spark.sql(f"CREATE TABLE o LIKE t TBLPROPERTIES ({text})"),
    "clone": lambda spark, _, text: spark.sql(f"CREATE TABLE o SHALLOW CLONE t TBLPROPERTIES ({text})"),
}

WRONG = ("a key that is no place", "no aggregation", "no column", "one of two", "damage", "overwrite")


@pytest.mark.parametrize("way", CREATES)
def test_a_create_checks_them(spark: SparkSession, db: str, tmp_path: Path, way: str) -> None:
    make(spark, "none")
    for name in OTHERS if way in ("like", "clone") else WRONG:
        with pytest.raises(Exception, match=r"\[(KEY_MODEL_|RANGE_|PROPERTY_RESERVED)"):
            CREATES[way](spark, tmp_path, OTHERS[name])
        assert not spark.catalog.tableExists("o"), name


def _typed(text: str) -> dict[str, str]:
    pairs = (pair.split("' = '") for pair in text.strip("'").split("', '"))
    return {key.lower(): value for key, value in pairs}


def test_a_writers_options_are_checked_as_in_create(spark: SparkSession, db: str) -> None:
    make(spark, "none")
    loads = spark.sql(f"SELECT * FROM VALUES {ROWS} AS t(k, n, v)")  # in this order; a table's files are read in any
    for upper in (False, True):
        for kind in ("unique", "aggregate"):
            writer = loads.write.format("delta").bucketBy(4, "k")
            for key, value in _typed(TABLES[kind][0]).items():
                writer = writer.option(key.upper() if upper else key, value)
            writer.saveAsTable(f"o_{kind}_{upper}")
            assert rows(spark, f"o_{kind}_{upper}") == TABLES[kind][1]
    for name in ("a key that is no place", "no aggregation", "no column", "one of two"):
        writer = spark.table("t").write.format("delta").bucketBy(4, "k")
        for key, value in _typed(OTHERS[name]).items():
            writer = writer.option(key, value)
        with pytest.raises(Exception, match=r"\[(KEY_MODEL_|RANGE_)"):
            writer.saveAsTable("o")
        assert not spark.catalog.tableExists("o"), name


def test_upper_case_is_the_same_model(spark: SparkSession, db: str) -> None:
    make(spark, "none")
    spark.sql(
        f"CREATE TABLE o USING delta {BUCKETS} TBLPROPERTIES ('KEY_MODEL' = ' UNIQUE', 'Key_Columns' = 'k, n') "
        "AS SELECT * FROM t"
    )
    spark.sql("INSERT INTO o VALUES (1, 1, 12)")
    assert rows(spark, "o") == [(1, 1, 12), (2, 2, 2)]
    assert properties(spark, "o")["key_model"] == "unique"


@pytest.mark.parametrize("kind", rest_slow(TABLES, "duplicate", "unique"))
def test_copies_and_overwrites_keep_the_model(spark: SparkSession, db: str, tmp_path: Path, kind: str) -> None:
    make(spark, kind)
    spark.sql("CREATE TABLE copy LIKE t")
    spark.sql(f"INSERT INTO copy VALUES {ROWS}")
    assert rows(spark, "copy") == TABLES[kind][1]
    frame = spark.createDataFrame([(1, 1, 1), (2, 2, 2), (3, 3, 3)], "k INT, n INT, v INT").coalesce(1)
    frame.write.format("delta").mode("overwrite").saveAsTable("t")
    spark.sql("INSERT INTO t VALUES (1, 1, 10)")
    after = [(k, n, v) for k, n, v in TABLES[kind][1]] + [(3, 3, 3)]
    assert rows(spark) == after
    frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true").saveAsTable("t")
    spark.sql("INSERT INTO t VALUES (1, 1, 10)")
    assert rows(spark) == after
    spark.sql("RESTORE TABLE t TO VERSION AS OF 3")
    assert rows(spark) == TABLES[kind][1]


def test_conversion_makes_no_model_of_properties(spark: SparkSession, db: str) -> None:
    properties = "'key_model' = 'other', 'key_columns' = 'k'"
    spark.sql(f"CREATE TABLE p (k INT, n INT, v INT) USING parquet TBLPROPERTIES ({properties})")
    spark.sql(f"INSERT INTO p VALUES {ROWS}")
    spark.sql("CONVERT TO DELTA p")
    spark.sql("ALTER TABLE p SET TBLPROPERTIES ('key_model' = 'unique')")
    assert rows(spark, "p") == LOADED


def test_a_restored_version_has_the_model_that_it_was_made_with(spark: SparkSession, db: str) -> None:
    make(spark, "aggregate")
    without_us(spark, f"ALTER TABLE {db}.t SET TBLPROPERTIES ({OTHERS['a model']})")
    version = spark.sql("DESCRIBE HISTORY t").head()["version"]  # type: ignore[index]
    spark.sql(f"CREATE OR REPLACE TABLE t USING delta {BUCKETS} AS SELECT 1 AS k, 1 AS n, 1 AS v")
    spark.sql("INSERT INTO t VALUES (1, 1, 1)")
    assert rows(spark) == [(1, 1, 1), (1, 1, 1)]
    spark.sql(f"RESTORE TABLE t TO VERSION AS OF {version}")
    assert rows(spark) == TABLES["aggregate"][1]


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_an_earlier_version(spark: SparkSession, db: str, kind: str) -> None:
    make(spark, kind)
    undeclare(spark, "t")
    spark.sql("REFRESH TABLE t")
    assert rows(spark) == TABLES[kind][1]
    if kind == "none":
        return
    change_property(spark, "t", "key_columns", lambda _: "x")
    spark.sql("REFRESH TABLE t")
    if kind == "duplicate":  # an order, which no row depends on
        assert rows(spark) == LOADED
        return
    with pytest.raises(Exception, match=r"\[KEY_MODEL_UNDECLARED\].*names x, and the table has no such column"):
        rows(spark)
    with pytest.raises(Exception, match="KEY_MODEL_INVALID"):
        spark.sql("ALTER TABLE t SET TBLPROPERTIES ('key_columns' = 'v')")
    spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ({TABLES[kind][0]})")
    assert rows(spark) == TABLES[kind][1]


def test_a_mark_of_a_compaction_counts_for_its_keys_alone(spark: SparkSession, db: str) -> None:
    """Whoever changes the schema past everything may not make rows of one key out of files that have several."""
    make(spark, "unique")
    spark.sql("INSERT INTO t VALUES (1, 2, 3)")
    spark.sql("CALL system.compact(table => 't')").collect()
    assert not _aggregates(spark)
    declare(spark, "t", {"key_model": "unique", "key_columns": "k"})
    spark.sql("REFRESH TABLE t")
    assert _aggregates(spark)
    assert spark.table("t").count() == 2


def _aggregates(spark: SparkSession) -> bool:
    return any("Aggregate" in kind for kind in kinds(spark.table("t")))
