"""Tables with AGGREGATE KEY and UNIQUE KEY: one row for each key, whoever wrote the rows and however they are read."""

from collections.abc import Iterator

import pytest
from pyspark.sql import Row, SparkSession

from tests.spark.members import database, folder
from tests.spark.oracle import assert_no_exchange
from tests.spark.plans import exchanges, kinds
from tests.tiers.params import some

INTERPRETED = True

COLUMNS = "k INT, name STRING, s BIGINT {}, lo DOUBLE {}, hi DATE {}, r STRING {}, rn INT {}"
AGGREGATED = COLUMNS.format("SUM", "MIN", "MAX", "REPLACE", "REPLACE_IF_NOT_NULL")
BUCKETS = "DISTRIBUTED BY HASH(k) BUCKETS 4"

# What was loaded: (load, row) is the order.
EXPECTED = """
  SELECT k, name, sum(s) AS s, min(lo) AS lo, max(hi) AS hi, max_by(r, struct(load, row)) AS r,
    max_by(rn, struct(load, row)) FILTER (WHERE rn IS NOT NULL) AS rn
  FROM raw GROUP BY k, name"""

LOADS = (
    (
        "(1, 'a', 1, 1.5, DATE'2020-01-01', 'x', 1)",
        "(1, 'a', 2, 0.5, DATE'2020-01-02', 'y', NULL)",
        "(2, 'b', 5, NULL, NULL, NULL, 7)",
    ),
    (
        "(1, 'a', 10, 9.5, NULL, NULL, NULL)",
        "(3, NULL, 1, 1, NULL, 'z', 1)",
        "(NULL, NULL, 4, 2, DATE'1999-12-31', 'n', 2)",
    ),
    (
        "(NULL, NULL, 4, 1, NULL, 'm', NULL)",
        "(2, 'b', NULL, -1, DATE'2021-01-01', 'q', NULL)",
        "(2, 'c', 1, 1, NULL, 'w', 3)",
        "(3, NULL, -1, NULL, NULL, NULL, NULL)",
        "(3, NULL, 7, 0.25, NULL, 'last', NULL)",
    ),
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "keymodels", make)


def make(spark: SparkSession) -> None:
    """t: AGGREGATE KEY, loaded three times. raw: the same rows in a plain table. u: UNIQUE KEY, loaded twice."""
    spark.sql(f"CREATE TABLE t ({AGGREGATED}) AGGREGATE KEY(k, name) {BUCKETS} PROPERTIES('colocate_with' = 'g')")
    plain = COLUMNS.format(*[""] * 5)
    spark.sql(f"CREATE TABLE raw ({plain}, load INT, row INT) USING parquet")
    for load, values in enumerate(LOADS):
        spark.sql(f"INSERT INTO t VALUES {', '.join(values)}")
        numbered = [f"{one[:-1]}, {load}, {row})" for row, one in enumerate(values)]
        spark.sql(f"INSERT INTO raw VALUES {', '.join(numbered)}")
    spark.sql(f"CREATE TABLE u (k INT, v STRING, w INT) UNIQUE KEY(k) {BUCKETS} PROPERTIES('colocate_with' = 'g')")
    spark.sql("INSERT INTO u SELECT id % 5, concat('v', id), id FROM range(10)")
    spark.sql("INSERT INTO u VALUES (1, NULL, 100), (7, 'new', 7)")


def rows(spark: SparkSession, sql: str) -> list[Row]:
    return sorted(spark.sql(sql).collect(), key=str)


QUERIES = (
    "SELECT * FROM {t}",
    "SELECT count(*), sum(s), min(lo), max(hi) FROM {t}",
    "SELECT k, r FROM {t} WHERE s > 4 AND k IS NOT NULL",
    "SELECT name FROM {t} WHERE k = 1",
    "SELECT DISTINCT k FROM {t}",
    "SELECT k, sum(s) FROM {t} GROUP BY k",
    "SELECT hi, count(*) FROM {t} GROUP BY hi",
    "SELECT a.k, a.s, b.r FROM {t} a JOIN {t} b ON a.k = b.k AND a.s = b.s",
    "SELECT k FROM {t} a WHERE EXISTS (SELECT 1 FROM {t} b WHERE b.s = a.s AND b.k <> a.k)",
    "SELECT k, (SELECT max(lo) FROM {t} b WHERE b.r = a.r) FROM {t} a",
    "SELECT k FROM {t} WHERE r IN (SELECT r FROM {t} WHERE s > 4)",
    "WITH c AS (SELECT * FROM {t} WHERE s IS NOT NULL) SELECT x.k, y.s FROM c x, c y WHERE x.s < y.s",
    "SELECT k, s, row_number() OVER (PARTITION BY k ORDER BY s, name) FROM {t}",
    "SELECT k, s FROM {t} UNION ALL SELECT k, s FROM {t} WHERE s = 13",
    "SELECT k, name, s FROM {t} ORDER BY s DESC, k, name LIMIT 2",
    "SELECT t.k, x.v FROM {t} t LEFT JOIN (VALUES (13, 'v'), (5, 'w')) x(s, v) ON t.s = x.s",
    "SELECT k FROM {t} WHERE rand() < 2 AND lo < 1",
)


@pytest.mark.parametrize("query", some(QUERIES, 2))
@pytest.mark.every(3)
def test_queries_see_one_row_for_each_key(session: SparkSession, query: str) -> None:
    assert rows(session, query.format(t="t")) == rows(session, query.format(t=f"({EXPECTED})"))


def test_a_unique_key_has_its_last_row(session: SparkSession) -> None:
    found = [tuple(row) for row in session.sql("SELECT * FROM u ORDER BY k").collect()]
    assert found == [(0, "v5", 5), (1, None, 100), (2, "v7", 7), (3, "v8", 8), (4, "v9", 9), (7, "new", 7)]


def test_every_way_to_read_the_table_sees_its_rows(session: SparkSession) -> None:
    expected = rows(session, EXPECTED)
    path = folder(session, "t")
    assert rows(session, f"SELECT * FROM delta.`{path}`") == expected
    by_path = session.read.format("delta").load(str(path)).drop("_colocate_bucket")
    for frame in (session.table("t"), by_path, session.read.table("t")):
        assert sorted(frame.collect(), key=str) == expected
        assert frame.count() == len(expected)
    session.sql("CREATE TEMPORARY VIEW seen AS SELECT * FROM t")
    assert rows(session, "SELECT * FROM seen") == expected
    session.sql("DROP VIEW seen")
    assert session.sql("SELECT * FROM t").rdd.count() == len(expected)


def test_a_cached_table_is_the_same_table(session: SparkSession) -> None:
    expected = rows(session, EXPECTED)
    session.sql("CACHE TABLE t")
    try:
        frame = session.sql("SELECT * FROM t")
        assert sorted(frame.collect(), key=str) == expected
        assert "InMemoryTableScanExec" in kinds(frame)
    finally:
        session.sql("UNCACHE TABLE t")


CACHED = "CREATE TABLE cached (k INT, v BIGINT{}) {} KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 2"
WRITES = {
    "UNIQUE": {
        "INSERT INTO cached VALUES (1, 5), (3, 1)": [(1, 5), (2, 20), (3, 1)],
        "UPDATE cached SET v = 6 WHERE k = 1": [(1, 6), (2, 20), (3, 1)],
        "DELETE FROM cached WHERE k = 2": [(1, 6), (3, 1)],
        "CALL system.compact(table => 'cached')": [(1, 6), (3, 1)],
        "INSERT OVERWRITE cached VALUES (4, 4)": [(4, 4)],
    },
    "AGGREGATE": {
        "INSERT INTO cached VALUES (1, 5), (3, 1)": [(1, 15), (2, 20), (3, 1)],
        "DELETE FROM cached WHERE k = 2": [(1, 15), (3, 1)],
        "CALL system.compact(table => 'cached')": [(1, 15), (3, 1)],
        "INSERT INTO cached VALUES (1, 1)": [(1, 16), (3, 1)],
    },
}


@pytest.mark.each_value
@pytest.mark.parametrize("model", WRITES)
@pytest.mark.parametrize("by_name", [True, False], ids=["CACHE TABLE", "persist"])
def test_writes_into_a_cached_table_change_the_cache(session: SparkSession, model: str, by_name: bool) -> None:
    """Spark keeps the plans of its cache with the aggregate by keys in them, and plans them again after a write."""
    session.sql("DROP TABLE IF EXISTS cached")
    session.sql(CACHED.format(" SUM" if model == "AGGREGATE" else "", model))
    session.sql("INSERT INTO cached VALUES (1, 10), (2, 20)")
    queries = ["SELECT k, v FROM cached WHERE v > 0", "SELECT k, max(v) AS v FROM cached GROUP BY k"]
    held = [] if by_name else [session.sql(query).persist() for query in queries]
    if by_name:
        session.sql("CACHE TABLE cached")
    for frame in held:
        frame.count()
    try:
        for write, expected in WRITES[model].items():
            session.sql(write)
            assert sorted(map(tuple, session.sql("SELECT * FROM cached").collect())) == expected
            for query in queries:
                read = session.sql(query)
                assert sorted(map(tuple, read.collect())) == expected, write
                assert "InMemoryTableScanExec" in kinds(read), write
    finally:
        session.catalog.clearCache()


def test_an_older_version_has_the_rows_of_its_loads(session: SparkSession) -> None:
    one = "SELECT s, r FROM t VERSION AS OF {} WHERE k = 1"
    assert [tuple(session.sql(one.format(version)).head() or ()) for version in (0, 1, 2)] == [(), (3, "y"), (13, None)]


def test_the_aggregation_and_joins_on_bucket_keys_need_no_exchange(session: SparkSession) -> None:
    assert_no_exchange(session, "SELECT * FROM t")
    assert_no_exchange(session, "SELECT t.k, t.s, u.v FROM t JOIN u ON t.k = u.k")
    assert_no_exchange(session, "SELECT k, sum(s) FROM t GROUP BY k")


def plan(spark: SparkSession, sql: str) -> str:
    return str(spark.sql(sql)._jdf.queryExecution().executedPlan())


def test_filters_on_keys_are_pushed_below_and_those_on_values_are_not(session: SparkSession) -> None:
    text = plan(session, "SELECT * FROM t WHERE k > 1 AND s > 3")
    assert "GreaterThan(k,1)" in text
    assert "GreaterThan(s,3)" not in text


def test_only_columns_that_are_used_are_read(session: SparkSession) -> None:
    assert "ReadSchema: struct<k:int,name:string>" in plan(session, "SELECT k, name FROM t")
    assert "ReadSchema: struct<k:int,name:string,s:bigint>" in plan(session, "SELECT k, s FROM t")


def test_the_hidden_column_can_be_named_and_file_metadata_can_not(session: SparkSession) -> None:
    assert session.sql("SELECT _colocate_bucket, * FROM u").count() == 6
    with pytest.raises(Exception, match="KEY_MODEL_METADATA"):
        session.sql("SELECT _metadata.file_path FROM u").collect()


# --- Writers ---


@pytest.fixture
def unique(spark: SparkSession, db: str) -> SparkSession:
    spark.sql(f"CREATE TABLE u (k INT, v STRING) UNIQUE KEY(k) {BUCKETS}")
    return spark


def content(spark: SparkSession, table: str = "u") -> list[tuple[object, ...]]:
    return [tuple(row) for row in spark.sql(f"SELECT * FROM {table} ORDER BY k").collect()]


def test_in_one_load_the_last_row_counts(unique: SparkSession) -> None:
    unique.sql("INSERT INTO u VALUES (1, 'a'), (2, 'b'), (1, 'c'), (1, 'd'), (2, 'e')")
    assert content(unique) == [(1, "d"), (2, "e")]
    unique.sql("INSERT INTO u SELECT id % 3 AS k, CAST(id AS STRING) AS v FROM range(0, 1000, 1, 7) ORDER BY id DESC")
    assert content(unique) == [(0, "0"), (1, "1"), (2, "2")]


def test_every_writer_adds_a_later_load(unique: SparkSession) -> None:
    frame = unique.createDataFrame([(1, "table")], "k INT, v STRING")
    path = str(folder(unique, "u"))
    for number, write in enumerate((
        lambda f: f.write.insertInto("u"),
        lambda f: f.writeTo("u").append(),
        lambda f: f.write.format("delta").mode("append").saveAsTable("u"),
        lambda f: f.write.format("delta").mode("append").save(path),
    )):  # fmt: skip
        write(frame.selectExpr("k", f"'{number}' AS v"))
        assert content(unique) == [(1, str(number))]
    assert unique.sql("SELECT count(*) AS n FROM u").head()["n"] == 1  # type: ignore[index]


def test_update_of_a_unique_key_loads_the_changed_rows(unique: SparkSession) -> None:
    unique.sql("INSERT INTO u VALUES (1, 'old'), (2, 'b')")
    unique.sql("INSERT INTO u VALUES (1, 'new')")
    unique.sql("UPDATE u SET v = 'never' WHERE v = 'old'")
    assert content(unique) == [(1, "new"), (2, "b")]
    unique.sql("UPDATE u AS x SET x.v = concat(x.v, '!') WHERE x.k IN (SELECT k FROM u WHERE v = 'new')")
    assert content(unique) == [(1, "new!"), (2, "b")]
    unique.sql("UPDATE u SET v = NULL")
    assert content(unique) == [(1, None), (2, None)]


def test_updates_compute_generated_columns_anew(spark: SparkSession, db: str) -> None:
    for table, model in (("u", "TBLPROPERTIES ('key_model' = 'unique', 'key_columns' = 'k')"), ("plain", "")):
        spark.sql(
            f"CREATE TABLE {table} (k INT, a INT, b INT GENERATED ALWAYS AS (a * 2), c INT) USING delta "
            f"CLUSTERED BY (k) INTO 2 BUCKETS {model}"
        )
        spark.sql(f"INSERT INTO {table} (k, a, c) VALUES (1, 1, 1), (2, 2, 2)")
        spark.sql(f"UPDATE {table} SET a = 10 WHERE k = 1")
        spark.sql(f"UPDATE {table} SET c = b + 1")
        spark.sql(f"UPDATE {table} SET a = 3, b = 6 WHERE k = 2")
        found = spark.sql(f"SELECT * FROM {table} ORDER BY k").collect()
        assert [tuple(row) for row in found] == [(1, 10, 20, 21), (2, 3, 6, 5)]


def test_overwrites_replace_what_was_there(unique: SparkSession) -> None:
    unique.sql("INSERT INTO u VALUES (1, 'a'), (2, 'b')")
    unique.sql("INSERT OVERWRITE u VALUES (2, 'c'), (2, 'd')")
    assert content(unique) == [(2, "d")]
    unique.sql("INSERT INTO u REPLACE WHERE k = 2 VALUES (2, 'e')")
    assert content(unique) == [(2, "e")]


def test_deletes_take_all_rows_of_a_key(unique: SparkSession) -> None:
    for vectors in ("false", "true"):
        unique.sql(f"ALTER TABLE u SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')")
        unique.sql("INSERT INTO u VALUES (1, 'a'), (2, 'b')")
        unique.sql("INSERT INTO u VALUES (1, 'c'), (3, 'd')")
        unique.sql("DELETE FROM u WHERE k = 1")
        assert content(unique) == [(2, "b"), (3, "d")]
        unique.sql("INSERT INTO u VALUES (1, 'back')")
        assert content(unique) == [(1, "back"), (2, "b"), (3, "d")]
        unique.sql("DELETE FROM u")
        assert content(unique) == []


def test_what_delta_does_to_files_keeps_the_order_of_loads(unique: SparkSession) -> None:
    for number in range(4):
        unique.sql(f"INSERT INTO u VALUES (1, '{number}'), (2, 'b')")
    unique.sql("OPTIMIZE u")
    assert content(unique) == [(1, "3"), (2, "b")]
    unique.sql("INSERT INTO u VALUES (1, 'after')")
    unique.sql("OPTIMIZE u ZORDER BY (v)")
    assert content(unique) == [(1, "after"), (2, "b")]
    unique.sql("RESTORE TABLE u TO VERSION AS OF 1")
    assert content(unique) == [(1, "0"), (2, "b")]
    unique.sql("INSERT INTO u VALUES (1, 'restored')")
    assert content(unique) == [(1, "restored"), (2, "b")]


def test_a_table_like_it_has_its_model(unique: SparkSession) -> None:
    unique.sql("CREATE TABLE v LIKE u")
    unique.sql("INSERT INTO v VALUES (1, 'a')")
    unique.sql("INSERT INTO v VALUES (1, 'b')")
    assert content(unique, "v") == [(1, "b")]


def test_a_table_made_of_a_query_has_its_model(spark: SparkSession, db: str) -> None:
    properties = "TBLPROPERTIES ('key_model' = 'unique', 'key_columns' = 'k')"
    query = "SELECT id % 2 AS k, id AS v FROM range(10)"
    spark.sql(f"CREATE TABLE u USING delta CLUSTERED BY (k) INTO 4 BUCKETS {properties} AS {query}")
    assert content(spark) == [(0, 8), (1, 9)]
    spark.sql(f"CREATE OR REPLACE TABLE u USING delta CLUSTERED BY (k) INTO 4 BUCKETS AS {query}")
    assert len(content(spark)) == 10


def test_keys_and_ranges_together(spark: SparkSession, db: str) -> None:
    bounds = "PARTITION p VALUES LESS THAN ('2017-02-01'), PARTITION q VALUES LESS THAN ('2018-01-01')"
    ranges = f"PARTITION BY RANGE(d) ({bounds})"
    spark.sql(f"CREATE TABLE t (k INT, d DATE, s INT SUM) AGGREGATE KEY(k, d) {ranges} {BUCKETS}")
    for _ in range(2):
        spark.sql("INSERT INTO t VALUES (1, DATE'2017-01-01', 1), (1, DATE'2017-03-01', 2), (1, DATE'2017-01-01', 3)")
    assert [row["s"] for row in spark.sql("SELECT s FROM t ORDER BY d").collect()] == [8, 4]
    spark.sql("CALL system.compact(table => 't')")
    spark.sql("CALL system.drop_partition(table => 't', partition => 'p')")
    assert [row["s"] for row in spark.sql("SELECT s FROM t ORDER BY d").collect()] == [4]


def test_a_sum_that_does_not_fit_fails(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (k INT, s TINYINT SUM, b BIGINT SUM) AGGREGATE KEY(k) {BUCKETS}")
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        spark.sql("INSERT OVERWRITE t VALUES (1, 100, 9223372036854775807), (1, 100, 1)")
        for column in ("s", "b"):
            with pytest.raises(Exception, match="OVERFLOW"):
                spark.sql(f"SELECT {column} FROM t").collect()


# --- Compaction ---


def compacted(spark: SparkSession, table: str) -> tuple[int, int]:
    return tuple(spark.sql(f"CALL system.compact(table => '{table}')").head())  # type: ignore[arg-type]


def aggregates(spark: SparkSession, sql: str) -> int:
    return sum("Aggregate" in kind for kind in kinds(spark.sql(sql), run=False))


def test_a_compacted_table_is_read_without_an_aggregation(unique: SparkSession) -> None:
    for number in range(3):
        unique.sql(f"INSERT INTO u SELECT id, concat('{number}-', id) FROM range(20)")
    before = content(unique)
    assert aggregates(unique, "SELECT * FROM u") == 1  # partial and final in one
    removed, added = compacted(unique, "u")
    assert removed > added > 0
    assert content(unique) == before
    for query in ("SELECT * FROM u", "SELECT v FROM u WHERE k < 3", "SELECT k FROM u WHERE v > '1'"):
        assert aggregates(unique, query) == 0
    assert compacted(unique, "u") == (0, 0)
    assert exchanges(unique.sql("SELECT a.v, b.v FROM u a JOIN u b ON a.k = b.k")) == 0


def test_only_buckets_with_new_files_are_compacted_and_only_they_need_an_aggregation(unique: SparkSession) -> None:
    unique.sql("INSERT INTO u SELECT id, 'a' FROM range(20)")
    compacted(unique, "u")
    unique.sql("INSERT INTO u VALUES (1, 'b')")
    assert aggregates(unique, "SELECT * FROM u") > 0
    assert dict(content(unique))[1] == "b"
    assert compacted(unique, "u") == (2, 1)
    assert dict(content(unique))[1] == "b"
    assert aggregates(unique, "SELECT * FROM u") == 0


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_what_changes_a_compacted_table_does_not_make_keys_appear_twice(unique: SparkSession, vectors: str) -> None:
    unique.sql(f"ALTER TABLE u SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')")
    unique.sql("INSERT INTO u SELECT id, 'a' FROM range(20)")
    unique.sql("INSERT INTO u SELECT id, 'b' FROM range(20)")
    compacted(unique, "u")
    unique.sql("DELETE FROM u WHERE k >= 10")
    assert content(unique) == [(k, "b") for k in range(10)]
    unique.sql("OPTIMIZE u")
    unique.sql("INSERT INTO u VALUES (3, 'c'), (15, 'd')")
    expected = [(k, "c" if k == 3 else "b") for k in range(10)] + [(15, "d")]
    assert content(unique) == expected
    version = unique.sql("DESCRIBE HISTORY u").head()["version"]  # type: ignore[index]
    compacted(unique, "u")
    assert content(unique) == expected
    unique.sql("RESTORE TABLE u TO VERSION AS OF 3")
    assert content(unique) == [(k, "b") for k in range(20)]
    unique.sql(f"RESTORE TABLE u TO VERSION AS OF {version}")
    assert content(unique) == expected


def test_a_compacted_row_keeps_the_number_of_its_last_load(unique: SparkSession) -> None:
    """So a load that commits while the compaction runs still counts as the later one."""
    unique.sql("INSERT INTO u VALUES (1, 'a'), (2, 'b')")
    unique.sql("INSERT INTO u VALUES (1, 'c')")
    unique.sql("DELETE FROM u WHERE k = 2")
    before = _row_ids(unique)
    compacted(unique, "u")
    assert _row_ids(unique) == [max(before)]


def _row_ids(spark: SparkSession) -> list[int]:
    """The numbers of all rows that the table's files have, read past the extension."""
    jvm = spark._jvm
    stock = jvm.org.apache.spark.sql.colocate.testing.StockSession.beside(spark._jsparkSession)
    frame = stock.sql(f"SELECT _metadata.row_id FROM delta.`{folder(spark, 'u')}`")
    return sorted(row.getLong(0) for row in frame.collectAsList())


def test_a_table_without_a_model_is_not_compacted(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE plain (k INT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS")
    with pytest.raises(Exception, match="KEY_MODEL_ABSENT"):
        compacted(spark, "plain")
