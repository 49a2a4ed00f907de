"""The bucket column is hidden: one test per entry of docs/how-to/hidden-column.md (design D3)."""

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.members import folder
from tests.spark.versions import RECURSIVE_CTES, TIMES_BY_SUBQUERY
from tests.tiers.params import some

INTERPRETED = True

BUCKET = "_colocate_bucket"
COLUMNS = ["id", "dt", "v"]


@pytest.fixture(scope="module")
def member(spark: SparkSession) -> Iterator[str]:
    """A partitioned member `hiding.t` with a version 1 (one row) and a version 2 (three rows). Reads only."""
    spark.sql("CREATE DATABASE hiding")
    spark.sql(
        "CREATE TABLE hiding.t (id BIGINT, dt STRING, v INT) USING delta PARTITIONED BY (dt) "
        "CLUSTERED BY (id) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
    )
    spark.sql("INSERT INTO hiding.t VALUES (1, 'a', 10)")
    spark.sql("INSERT INTO hiding.t VALUES (2, 'a', 20), (3, 'b', 30)")
    spark.sql("CREATE VIEW hiding.star AS SELECT * FROM hiding.t")
    yield "hiding.t"
    spark.sql("DROP DATABASE hiding CASCADE")


@pytest.fixture
def t(spark: SparkSession, db: str) -> str:
    """A fresh member `t` of the current database with three rows."""
    spark.sql(
        "CREATE TABLE t (id BIGINT, dt STRING, v INT) USING delta PARTITIONED BY (dt) "
        "CLUSTERED BY (id) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
    )
    spark.sql("INSERT INTO t VALUES (1, 'a', 10), (2, 'a', 20), (3, 'b', 30)")
    return "t"


def rows(spark: SparkSession, where: str = "true") -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(f"SELECT * FROM t WHERE {where}").collect())


STARS = {
    "SELECT *": "SELECT * FROM hiding.t",
    "a qualified star": "SELECT t.* FROM hiding.t",
    "TABLE": "TABLE hiding.t",
    "an alias": "SELECT x.* FROM hiding.t AS x",
    "a permanent view": "SELECT * FROM hiding.star",
    "a CTE": "WITH c AS (SELECT * FROM hiding.t) SELECT * FROM c",
    "a subquery": "SELECT * FROM (SELECT * FROM hiding.t)",
    "VERSION AS OF": "SELECT * FROM hiding.t VERSION AS OF 1",
    "a path": "SELECT * FROM delta.`{path}`",
    "UNION": "SELECT * FROM hiding.t UNION ALL SELECT * FROM hiding.t",
}


@pytest.mark.parametrize("query", some(STARS.values(), 2), ids=STARS.keys())
def test_a_star_shows_the_users_columns(spark: SparkSession, member: str, query: str) -> None:
    assert spark.sql(query.format(path=folder(spark, member))).columns == COLUMNS


@pytest.mark.parametrize("when", ["to_timestamp('{}')", "(SELECT timestamp'{}')"], ids=["computed", "a subquery"])
def test_a_timestamp_that_is_no_literal_travels_without_the_column(spark: SparkSession, member: str, when: str) -> None:
    committed = spark.sql(f"DESCRIBE HISTORY {member}").where("version = 1").first()["timestamp"]
    past = spark.sql(f"SELECT * FROM {member} TIMESTAMP AS OF {when.format(committed)}")
    assert past.columns == COLUMNS and past.count() == 1


@TIMES_BY_SUBQUERY
def test_a_subquery_for_the_timestamp_names_what_its_view_names(spark: SparkSession, db: str) -> None:
    """And a plain table's column of that name is shown."""
    spark.sql("CREATE TABLE member (id BIGINT) USING delta CLUSTERED BY (id) INTO 2 BUCKETS")
    spark.sql(f"CREATE TABLE own (id BIGINT, {BUCKET} INT) USING delta")
    for table in ("member", "own"):
        made = spark.sql(f"DESCRIBE HISTORY {table}").first()["timestamp"]
        spark.sql(f"CREATE VIEW time_of_{table} AS SELECT timestamp'{made}' AS at")
        spark.sql(f"CREATE VIEW past_{table} AS SELECT * FROM {table} TIMESTAMP AS OF (SELECT at FROM time_of_{table})")
    spark.sql("USE default")
    assert spark.table(f"{db}.past_member").columns == ["id"]
    assert spark.table(f"{db}.past_own").columns == ["id", BUCKET]


def test_python_reads_show_the_users_columns(spark: SparkSession, member: str) -> None:
    assert spark.table(member).columns == COLUMNS
    assert spark.read.table(member).columns == COLUMNS
    assert spark.read.option("versionAsOf", 1).table(member).columns == COLUMNS
    assert [field.name for field in spark.table(member).schema] == COLUMNS


def test_qualified_names_reach_the_columns(spark: SparkSession, member: str) -> None:
    query = "SELECT t.id, hiding.t.dt, spark_catalog.hiding.t.v FROM hiding.t WHERE hiding.t.id = 2"
    assert [tuple(row) for row in spark.sql(query).collect()] == [(2, "a", 20)]


def test_the_metadata_columns_of_both_sides_of_a_self_join_are_their_own(spark: SparkSession, member: str) -> None:
    query = (
        "SELECT a._metadata.file_path AS left, b._metadata.file_path AS right, a.id, b.id, a.*, b.* "
        "FROM hiding.t AS a JOIN hiding.t AS b ON a.id + 1 = b.id"
    )
    joined = spark.sql(query)
    assert joined.columns[4:] == COLUMNS * 2
    found = joined.collect()
    assert {(row[2], row[3]) for row in found} == {(1, 2), (2, 3)}
    assert all(row.left != row.right for row in found)


def test_the_column_stays_reachable_by_its_name(spark: SparkSession, member: str) -> None:
    found = spark.sql(f"SELECT {BUCKET}, pmod(hash(id), 4) AS b FROM {member} WHERE {BUCKET} >= 0").collect()
    assert len(found) == 3
    assert all(row[0] == row.b for row in found)
    assert spark.table(member).where(f"{BUCKET} < 0").count() == 0
    mixed = f"SELECT x.id FROM {member} x JOIN {member} y ON x.id = y.id WHERE x.{BUCKET} <> y.{BUCKET}"
    assert spark.sql(mixed).count() == 0


NAMED_TWICE = {
    "in a group": f"SELECT {BUCKET} b, count(*) FROM {{t}} WHERE {BUCKET} IN (1, 2) GROUP BY 1",
    "in a qualified group": f"SELECT t.{BUCKET} b, count(*) FROM {{t}} t WHERE t.{BUCKET} = 1 GROUP BY ALL",
    "in a window": f"SELECT id, rank() OVER (PARTITION BY {BUCKET} ORDER BY id) FROM {{t}} WHERE {BUCKET} = 1",
    "in an order": f"SELECT id FROM {{t}} WHERE {BUCKET} > 0 ORDER BY {BUCKET} DESC LIMIT 9",
    "in groups and HAVING": f"SELECT {BUCKET} b FROM {{t}} GROUP BY {BUCKET} HAVING {BUCKET} > 0 ORDER BY {BUCKET}",
    "above a join": (
        f"SELECT x.{BUCKET} AS b, count(*) FROM {{t}} x JOIN {{t}} y ON x.{BUCKET} = y.{BUCKET} "
        f"WHERE y.{BUCKET} >= 0 GROUP BY b"
    ),
    "in a scalar subquery": (
        f"SELECT x.id, (SELECT max(z.id) FROM {{t}} z WHERE z.id = x.{BUCKET}) "
        f"FROM {{t}} x JOIN {{t}} y ON x.{BUCKET} = y.{BUCKET}"
    ),
    "in EXISTS": (
        f"SELECT id FROM {{t}} x WHERE {BUCKET} >= 0 AND EXISTS (SELECT 1 FROM {{t}} y WHERE y.id = x.{BUCKET})"
    ),
}


@pytest.fixture
def shown(spark: SparkSession, member: str) -> Iterator[str]:
    """A view of all of the member's columns."""
    spark.read.format("delta").load(str(folder(spark, member))).createTempView("shown")
    yield "shown"
    spark.catalog.dropTempView("shown")


@pytest.mark.parametrize("query", some(NAMED_TWICE.values(), 2), ids=NAMED_TWICE.keys())
def test_the_column_can_be_named_more_than_once(spark: SparkSession, member: str, shown: str, query: str) -> None:
    hidden, ordinary = (spark.sql(query.format(t=table)) for table in (member, shown))
    assert hidden.columns == ordinary.columns
    rows_of_hidden = sorted(hidden.collect())
    assert rows_of_hidden and rows_of_hidden == sorted(ordinary.collect())


def test_a_star_above_a_named_column_shows_the_users_columns(spark: SparkSession, member: str) -> None:
    df = spark.table(member)
    twice = df.where(df[BUCKET] >= 0).where(f"{BUCKET} < 9")
    assert twice.columns == COLUMNS and twice.count() == 3
    assert twice.groupBy(BUCKET).count().columns == [BUCKET, "count"]
    joined = f"SELECT * FROM {member} x JOIN {member} y ON x.{BUCKET} = y.{BUCKET} WHERE x.{BUCKET} > 0"
    assert spark.sql(joined).columns == COLUMNS * 2
    files = f"SELECT {BUCKET}, _metadata.file_name FROM {member} WHERE {BUCKET} >= 0 AND _metadata.file_size > 0"
    assert spark.sql(files).count() == 3


def test_names_that_shadow_the_member_are_left_alone(spark: SparkSession, t: str) -> None:
    assert spark.sql("WITH t AS (SELECT 1 AS x) SELECT * FROM t").columns == ["x"]
    spark.sql("CREATE TEMPORARY VIEW t AS SELECT 2 AS y")
    try:
        assert spark.sql("SELECT * FROM t").columns == ["y"]
    finally:
        spark.sql("DROP VIEW t")


@RECURSIVE_CTES
def test_a_recursive_cte_joins_a_member(spark: SparkSession, member: str) -> None:
    query = (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2) "
        "SELECT * FROM r JOIN hiding.t ON r.n = t.id"
    )
    assert spark.sql(query).columns == ["n", *COLUMNS]
    assert spark.sql(query).count() == 2


@pytest.mark.parametrize("statement", ["DESCRIBE hiding.t", "DESCRIBE EXTENDED hiding.t", "SHOW COLUMNS IN hiding.t"])
def test_descriptions_do_not_name_the_column(spark: SparkSession, member: str, statement: str) -> None:
    assert BUCKET not in [row[0] for row in spark.sql(statement).collect()]


def test_the_catalog_api_does_not_list_the_column(spark: SparkSession, member: str) -> None:
    assert [column.name for column in spark.catalog.listColumns(member)] == COLUMNS


def test_a_cached_member_is_read_from_the_cache_and_dropped_from_it(spark: SparkSession, t: str) -> None:
    spark.sql("CACHE TABLE t")
    plan = spark.sql("EXPLAIN SELECT * FROM t WHERE id = 1").first()[0]
    assert "InMemoryTableScan" in plan or "Scan In-memory table" in plan
    assert spark.sql("SELECT * FROM t").columns == COLUMNS
    spark.sql("UNCACHE TABLE t")
    assert "In-memory" not in spark.sql("EXPLAIN SELECT * FROM t WHERE id = 1").first()[0]
    spark.catalog.cacheTable("t")
    assert spark.catalog.isCached("t")
    spark.catalog.uncacheTable("t")
    assert not spark.catalog.isCached("t")


INSERTS = {
    "by position": "INSERT INTO t VALUES (9, 'z', 90)",
    "by name": "INSERT INTO t BY NAME SELECT 90 AS v, 'z' AS dt, 9L AS id",
    "with a column list": "INSERT INTO t (v, id, dt) VALUES (90, 9, 'z')",
    "with a static partition": "INSERT INTO t PARTITION (dt = 'z') VALUES (9, 90)",
    "with a type to cast": "INSERT INTO t SELECT 9, 'z', 90L",
    "REPLACE WHERE": "INSERT INTO t REPLACE WHERE dt = 'z' VALUES (9, 'z', 90)",
    "OVERWRITE of a static partition": "INSERT OVERWRITE t PARTITION (dt = 'z') VALUES (9, 90)",
    "from a CTE": "WITH n AS (SELECT 9L AS id, 'z' AS dt, 90 AS v) INSERT INTO t SELECT * FROM n",
}


@pytest.mark.parametrize("statement", INSERTS.values(), ids=INSERTS.keys())
@pytest.mark.every(3)
def test_an_insert_names_the_users_columns_only(spark: SparkSession, t: str, statement: str) -> None:
    spark.sql(statement)
    assert rows(spark) == [(1, "a", 10), (2, "a", 20), (3, "b", 30), (9, "z", 90)]
    assert spark.sql(f"SELECT * FROM t WHERE {BUCKET} <> pmod(hash(id), 4)").count() == 0


def new_row(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT 9L AS id, 'z' AS dt, 90 AS v")


APPENDS: dict[str, Callable[[DataFrame], None]] = {
    "insertInto": lambda df: df.write.insertInto("t"),
    "saveAsTable": lambda df: df.write.format("delta").mode("append").saveAsTable("t"),
    "writeTo": lambda df: df.writeTo("t").append(),
}


@pytest.mark.parametrize("append", APPENDS.values(), ids=APPENDS.keys())
def test_a_dataframe_appends_the_users_columns_only(
    spark: SparkSession, t: str, append: Callable[[DataFrame], None]
) -> None:
    append(new_row(spark))
    assert rows(spark, "id > 2") == [(3, "b", 30), (9, "z", 90)]


def test_insert_overwrite_names_the_users_columns_only(spark: SparkSession, t: str) -> None:
    spark.sql("INSERT OVERWRITE t VALUES (9, 'z', 90)")
    assert rows(spark) == [(9, "z", 90)]
    new_row(spark).write.mode("overwrite").insertInto("t")
    assert rows(spark) == [(9, "z", 90)]


def test_columns_added_later_keep_their_position(spark: SparkSession, t: str) -> None:
    spark.sql("ALTER TABLE t ADD COLUMNS (w INT)")
    spark.sql("INSERT INTO t VALUES (9, 'z', 90, 900)")
    spark.sql("INSERT INTO t PARTITION (dt = 'z') VALUES (8, 80, 800)")
    assert rows(spark, "id > 7") == [(8, "z", 80, 800), (9, "z", 90, 900)]


def test_nested_fields_go_by_position_as_in_any_table(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, s STRUCT<a: INT, b: INT>) USING delta CLUSTERED BY (id) INTO 2 BUCKETS")
    spark.sql("INSERT INTO t SELECT 1L, named_struct('b', 1, 'a', 2)")
    assert spark.sql("SELECT s.a, s.b FROM t").first() == (1, 2)


def test_too_few_columns_are_counted_without_the_hidden_one(spark: SparkSession, t: str) -> None:
    with pytest.raises(Exception, match=r"Table columns: `id`, `dt`, `v`\.\s+Data columns: `col1`, `col2`"):
        spark.sql("INSERT INTO t VALUES (9, 'z')")


def test_a_wrong_bucket_that_is_given_by_name_is_refused(spark: SparkSession, t: str) -> None:
    with pytest.raises(Exception, match="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"):
        spark.sql(f"INSERT INTO t (id, dt, v, {BUCKET}) VALUES (9, 'z', 90, 77)")


SOURCE = "(SELECT 3L AS id, 'b' AS dt, 33 AS v UNION ALL SELECT 9L, 'z', 90) AS s"
MERGED = [(1, "a", 10), (2, "a", 20), (3, "b", 33), (9, "z", 90)]


def test_merge_stars_mean_the_users_columns(spark: SparkSession, t: str) -> None:
    spark.sql(
        f"MERGE INTO t USING {SOURCE} ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(spark) == MERGED
    assert spark.sql(f"SELECT * FROM t WHERE {BUCKET} <> pmod(hash(id), 4)").count() == 0


def test_merge_stars_take_a_column_that_the_source_has_twice(spark: SparkSession, t: str) -> None:
    """As in a plain table: twice the same column, but not two columns of a name."""
    twice = f"(SELECT *, v FROM {SOURCE}) AS s"
    spark.sql(
        f"MERGE INTO t USING {twice} ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(spark) == MERGED
    two = f"(SELECT *, v + 1 AS v FROM {SOURCE}) AS s"
    with pytest.raises(Exception, match="MERGE_STAR"):
        spark.sql(f"MERGE INTO t USING {two} ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")


def test_merge_stars_with_schema_evolution_add_columns(spark: SparkSession, t: str) -> None:
    spark.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 3L AS id, 'b' AS dt, 33 AS v, 1 AS w) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert spark.table("t").columns == [*COLUMNS, "w"]
    assert rows(spark, "id = 3") == [(3, "b", 33, 1)]


def test_update_and_delete_keep_the_layout(spark: SparkSession, t: str) -> None:
    spark.sql("UPDATE t SET id = 33, v = v + 1 WHERE id = 3")
    spark.sql("DELETE FROM t WHERE id = 2")
    assert rows(spark) == [(1, "a", 10), (33, "b", 31)]
    assert spark.sql(f"SELECT * FROM t WHERE {BUCKET} <> pmod(hash(id), 4)").count() == 0


def test_a_table_made_from_a_member_has_the_users_columns(spark: SparkSession, t: str) -> None:
    spark.sql("CREATE TABLE copy USING delta AS SELECT * FROM t")
    assert spark.table("copy").columns == COLUMNS
    assert spark.sql("DESCRIBE DETAIL copy").first()["partitionColumns"] == []


def test_delta_commands_on_a_member_go_on(spark: SparkSession, t: str) -> None:
    spark.sql("CREATE TABLE clone SHALLOW CLONE t")
    assert spark.sql("SELECT * FROM clone").columns == COLUMNS
    spark.sql("OPTIMIZE t ZORDER BY (v)")
    spark.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(spark) == [(1, "a", 10), (2, "a", 20), (3, "b", 30)]
    spark.sql("TRUNCATE TABLE t")
    assert rows(spark) == []


def test_delta_table_by_name_shows_the_column_and_changes_the_table(spark: SparkSession, t: str) -> None:
    from delta.tables import DeltaTable

    table = DeltaTable.forName(spark, "t")
    assert BUCKET in table.toDF().columns
    table.update("id = 1", {"v": "11"})
    table.delete("id = 2")
    source = spark.sql("SELECT 3L AS id, 'b' AS dt, 33 AS v UNION ALL SELECT 9L, 'z', 90").alias("s")
    columns = {"id": "s.id", "dt": "s.dt", "v": "s.v"}
    merge = table.alias("t").merge(source, "t.id = s.id")
    merge.whenMatchedUpdate(set=columns).whenNotMatchedInsert(values=columns).execute()
    assert rows(spark) == [(1, "a", 11), (3, "b", 33), (9, "z", 90)]
    with pytest.raises(Exception, match="Cannot resolve _colocate_bucket"):
        table.alias("t").merge(source, "t.id = s.id").whenMatchedUpdateAll().execute()


def test_a_load_by_path_shows_the_column_and_its_writes_need_no_change(spark: SparkSession, t: str) -> None:
    path = str(folder(spark, "t"))
    assert spark.read.format("delta").load(path).columns == ["id", "dt", "v", BUCKET]
    new_row(spark).write.format("delta").mode("append").save(path)
    assert rows(spark, "id = 9") == [(9, "z", 90)]


def test_hiding_follows_the_expression_not_the_property(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE own (id BIGINT, {BUCKET} INT) USING delta TBLPROPERTIES ('colocate_with_me' = 'g')")
    assert spark.table("own").columns == ["id", BUCKET]
    spark.sql("CREATE TABLE plain (id BIGINT) USING delta CLUSTERED BY (id) INTO 2 BUCKETS")
    assert spark.table(f"{db}.plain").columns == ["id"]


@pytest.mark.parametrize("mode", ["enabledTentatively", "dualRunEnabled", "enabled"])
def test_the_single_pass_analyzer_does_not_show_it(spark: SparkSession, member: str, mode: str) -> None:
    """That analyzer can't read Delta tables, bucketed or not: then Spark takes the other one, or fails."""
    spark.conf.set(f"spark.sql.analyzer.singlePassResolver.{mode}", "true")
    if mode == "enabled":
        with pytest.raises(Exception, match="single-pass analyzer cannot process"):
            spark.sql(f"SELECT * FROM {member}")
    else:
        assert spark.sql(f"SELECT * FROM {member}").columns == COLUMNS
