"""Tables with a key model are read by merging their sorted files; the rows are those of a hash table of all keys."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from tests.spark.delta_log import actions, commits, rewrite_last
from tests.spark.members import create_member, database, folder
from tests.spark.merges import EXCLUDED, MERGED, hashed
from tests.spark.oracle import multiset
from tests.spark.plans import kinds
from tests.tiers.params import rest_slow

TAG = "colocate.sorted"

# Each value comes back in later loads; the larger files have more than one batch of 4,096 rows.
KEYS = {
    "BIGINT": "CASE WHEN id % 50 = 0 THEN null WHEN id % 51 = 0 THEN -9223372036854775808 "
    "WHEN id % 53 = 0 THEN 9223372036854775807 ELSE hash(id % 9100) * 4000000000 END",
    "INT": "if(id % 50 = 0, null, hash(id % 9100))",
    "SMALLINT": "CAST(hash(id % 9100) % 30000 AS SMALLINT)",
    "TINYINT": "CAST(if(id % 50 = 0, null, hash(id % 9100) % 120) AS TINYINT)",
    "DATE": "date_add(DATE'1970-01-01', hash(id % 9100) % 50000)",
    "TIMESTAMP": "timestamp_micros(CAST(hash(id % 9100) AS BIGINT) * 1000003)",
    "TIMESTAMP_NTZ": "CAST(timestamp_micros(CAST(hash(id % 9100) AS BIGINT) * 1000003) AS TIMESTAMP_NTZ)",
    "STRING": "if(id % 50 = 0, null, if(id % 51 = 0, '', concat('kéy-long-', chr(65 + id % 26), hash(id % 900))))",
    "VARCHAR(20)": "CAST(hash(id % 9100) AS STRING)",
    "DECIMAL(10, 2)": "CAST(hash(id % 9100) / 1000 AS DECIMAL(10, 2))",
    "DECIMAL(30, 1)": "CAST(hash(id % 9100) AS DECIMAL(30, 1)) * 1000000000000",
    "BOOLEAN": "if(id % 50 = 0, null, id % 2 = 0)",
    "BINARY": "CAST(sha1(CAST(id % 9100 AS STRING)) AS BINARY)",
}
VALUES = (
    "CAST(id AS INT) AS i, concat('text ', id) AS s, array(CAST(id AS STRING), null) AS a, map(id % 7, 'm') AS m, "
    "struct(id AS x, concat('in ', id) AS y) AS t, CAST(id AS DECIMAL(38, 3)) AS d, CAST(CAST(id AS STRING) AS BINARY) "
    "AS b, if(id % 3 = 0, null, id / 8) AS f"
)
COLUMNS = (
    "i INT, s STRING, a ARRAY<STRING>, m MAP<BIGINT, STRING>, t STRUCT<x: BIGINT, y: STRING>, d DECIMAL(38, 3), "
    "b BINARY, f DOUBLE"
)


def unique(spark: SparkSession, table: str, columns: str, keys: str = "k", partitioned: Sequence[str] = ()) -> None:
    model = {"key_model": "unique", "key_columns": keys}
    create_member(spark, table, columns, ["k"], 2, partitioned=partitioned, properties=model)


def merged(spark: SparkSession, sql: str) -> Counter[Any]:
    """The rows of a query, which reads by merging, and gives the same without."""
    frame = spark.sql(sql)
    assert MERGED in kinds(frame)
    rows = multiset(frame.collect())
    assert rows
    assert rows == hashed(spark, sql)
    return rows


def tags(spark: SparkSession, table: str) -> list[str | None]:
    """Of each file that was ever added, in the order of the commits."""
    return [tag(file) for commit in commits(spark, table) for file in actions(commit, "add")]


def tag(file: dict[str, Any]) -> str | None:
    return (file.get("tags") or {}).get(TAG)


# Two of the four ways in which a key is compared; the tables of the other tests have the first and third as well.
@pytest.mark.parametrize("key", rest_slow(KEYS, "BOOLEAN", "DECIMAL(30, 1)"))
def test_keys_of_every_type_are_merged(spark: SparkSession, db: str, key: str) -> None:
    unique(spark, "t", f"k {key}, {COLUMNS}")
    for first, last in ((0, 9500), (6000, 15500), (100, 200)):
        spark.sql(f"INSERT INTO t SELECT {KEYS[key]} AS k, {VALUES} FROM range({first}, {last})")
    assert set(tags(spark, "t")) == {"k"}
    merged(spark, "SELECT * FROM t")
    merged(spark, "SELECT k, s, i FROM t WHERE k IS NOT NULL")


LOADED = "SELECT id % 700 AS k, concat('p', id % 3) AS p, CAST(id AS INT) AS i, concat('t', id) AS s FROM range({})"


def make(spark: SparkSession) -> None:
    """u: UNIQUE KEY of two columns. g: AGGREGATE KEY. r: ranges with different numbers of buckets. few: for joins."""
    unique(spark, "u", "k BIGINT, p STRING, i INT, s STRING", "p, k", ["p"])
    create_member(spark, "g", "k BIGINT, p STRING, i INT, s STRING", ["k"], 2, properties={
        "key_model": "aggregate",
        "key_columns": "k, p",
        "value_aggregates": '{"i": "SUM", "s": "REPLACE_IF_NOT_NULL"}',
        "delta.enableDeletionVectors": "true",
    })  # fmt: skip
    spark.sql(
        "CREATE TABLE r (p STRING, k BIGINT, i INT MAX, s STRING MIN) AGGREGATE KEY(p, k) "
        "PARTITION BY RANGE(k) (PARTITION a VALUES LESS THAN ('100'), PARTITION b VALUES LESS THAN ('1000')) "
        "DISTRIBUTED BY HASH(k) BUCKETS 2"
    )
    spark.sql("ALTER TABLE r ADD PARTITION c VALUES LESS THAN ('2000') DISTRIBUTED BY HASH(k) BUCKETS 4")
    spark.sql(
        "CREATE TABLE few USING parquet AS SELECT id AS k, concat('p', id % 3) AS p, concat('name ', id) AS name "
        "FROM range(5)"
    )
    for rows in (5000, 12000, 10):
        for table in ("u", "g", "r"):
            spark.sql(f"INSERT INTO {table} (k, p, i, s) SELECT * FROM ({LOADED.format(rows)})")
    spark.sql("INSERT INTO r SELECT p, k + 900, i, s FROM r")
    spark.sql("DELETE FROM g WHERE k % 11 = 3")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "mergedfiles", make)


QUERIES = {
    "all": "SELECT * FROM {t}",
    "count": "SELECT count(*), sum(i), min(s), max(k) FROM {t}",
    "filter on a key": "SELECT * FROM {t} WHERE k > 350 AND p <> 'p1'",
    "filter on a value": "SELECT k, s FROM {t} WHERE i % 3 = 1",
    "some columns": "SELECT p FROM {t} WHERE k < 9",
    "expressions": "SELECT k + 1 AS k, upper(p), i * 2 AS i FROM {t}",
    "join": "SELECT a.k, a.i, b.s FROM {t} a JOIN {t} b ON a.k = b.k AND a.p = b.p",
    "join with the other": "SELECT a.k, a.i, b.s FROM {t} a LEFT JOIN u b ON a.k = b.k WHERE b.k % 7 = 1",
    "sorted": "SELECT k, p, s FROM {t} ORDER BY k, p LIMIT 20",
    "window": "SELECT k, p, row_number() OVER (PARTITION BY k ORDER BY p, i) FROM {t}",
    "aggregate": "SELECT k, sum(i), count(DISTINCT s) FROM {t} GROUP BY k",
    "exists": "SELECT k, p FROM {t} a WHERE EXISTS (SELECT 1 FROM u b WHERE b.k = a.k AND b.i <> a.i + 1)",
    "union": "SELECT k, s FROM {t} UNION ALL SELECT k, s FROM {t} WHERE p = 'p2'",
}


@pytest.mark.parametrize("query", rest_slow(QUERIES, "all", "filter on a key", "join with the other", "aggregate"))
def test_queries_have_the_same_rows(session: SparkSession, query: str) -> None:
    for table in ("u", "g", "r"):
        merged(session, QUERIES[query].format(t=table))


def test_without_generated_code(session: SparkSession) -> None:
    session.conf.set("spark.sql.codegen.hugeMethodLimit", "1")
    for table in ("u", "g", "r"):
        merged(session, QUERIES["all"].format(t=table))
        merged(session, QUERIES["count"].format(t=table))


SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.join.preferSortMergeJoin": "true",
    "spark.sql.parquet.columnarReaderBatchSize": "7",
    "spark.sql.columnVector.offheap.enabled": "true",
    "spark.sql.sources.useV1SourceList": "",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ColumnPruning",
}
OF_READERS = ("spark.sql.parquet.columnarReaderBatchSize", "spark.sql.columnVector.offheap.enabled")


@pytest.mark.parametrize("setting", rest_slow(SETTINGS, *OF_READERS))
def test_settings_change_nothing(session: SparkSession, setting: str) -> None:
    session.conf.set(setting, SETTINGS[setting])
    for table in ("u", "g"):
        merged(session, QUERIES["join"].format(t=table))
        merged(session, QUERIES["all"].format(t=table))


@pytest.mark.parametrize("query", [
    "SELECT x.k, x.s FROM u x JOIN few ON x.k = few.k WHERE few.name = 'name 2'",
    "SELECT x.k, x.s FROM u x JOIN few ON x.p = few.p WHERE few.name = 'name 2'",
    "SELECT x.k, x.s FROM u x WHERE p = (SELECT max(p) FROM g WHERE k < 20)",
    "SELECT x.k, x.s FROM r x JOIN (VALUES (1017), (18)) y(k) ON x.k = y.k",
    "SELECT x.k, rand() < 2 FROM u x WHERE k IN (SELECT k FROM g WHERE i % 5 = 1)",
])  # fmt: skip
@pytest.mark.every(2)
def test_files_that_are_chosen_at_run_time_are_merged(session: SparkSession, query: str) -> None:
    for adaptive in ("true", "false"):
        session.conf.set("spark.sql.adaptive.enabled", adaptive)
        session.conf.set("spark.sql.autoBroadcastJoinThreshold", "10485760")
        merged(session, query)


def test_readers_of_rows_use_the_hash_table(session: SparkSession) -> None:
    expected = multiset(session.sql("SELECT * FROM u").collect())
    session.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
    frame = session.sql("SELECT * FROM u")
    assert MERGED not in kinds(frame)
    assert multiset(frame.collect()) == expected


def test_every_insert_marks_its_files(spark: SparkSession, db: str) -> None:
    unique(spark, "t", "k INT, v STRING")
    frame = spark.range(5000).selectExpr("CAST(id AS INT) AS k", "CAST(-id AS STRING) AS v")
    frame.createOrReplaceTempView("many")
    spark.sql("INSERT INTO t SELECT * FROM many")
    spark.sql("INSERT INTO t (v, k) VALUES ('a', 2), ('b', 1)")
    spark.sql("INSERT OVERWRITE t SELECT * FROM many")
    frame.write.insertInto("t")
    frame.write.format("delta").mode("append").saveAsTable("t")
    frame.writeTo("t").append()
    spark.sql("UPDATE t SET v = 'u' WHERE k = 7")
    assert set(tags(spark, "t")) == {"k"}
    assert merged(spark, "SELECT * FROM t WHERE k = 7") == Counter([(7, "u")])
    history = [row["operation"] for row in spark.sql("DESCRIBE HISTORY t").collect()]
    assert history == ["WRITE"] * 7 + ["CREATE TABLE"]


def test_the_history_is_that_of_a_write_without_the_mark(spark: SparkSession, db: str) -> None:
    for table, excluded in (("a", ""), ("b", "TagSortedLoads")):
        spark.conf.set(EXCLUDED, excluded)
        unique(spark, table, "k INT, v STRING, w INT")
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')")
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN w SET DEFAULT 5")
        spark.sql(f"INSERT INTO {table} VALUES (1, 'a', 1), (2, 'b', 2)")
        spark.sql(f"INSERT INTO {table} (k) VALUES (3)")
        spark.sql(f"INSERT OVERWRITE {table} (k, v) VALUES (3, 'c')")
        wider = spark.createDataFrame([(4, "d", 1, 2)], "k INT, v STRING, w INT, x INT")
        wider.writeTo(table).option("mergeSchema", "true").option("userMetadata", "note").append()
        for _ in range(2):
            wider.writeTo(table).option("txnAppId", "app").option("txnVersion", "1").append()
    facts = "version, operation, operationParameters, operationMetrics['numOutputRows'], userMetadata, isBlindAppend"
    seen = [
        [
            tuple(row)
            for row in spark.sql(f"DESCRIBE HISTORY {table}").selectExpr(*facts.split(", ")).collect()
            if row["operation"] == "WRITE"
        ]
        for table in ("a", "b")
    ]
    assert seen[0] == seen[1]
    assert len(seen[0]) == 5  # the last write was there already
    assert multiset(spark.table("a").collect()) == multiset(spark.table("b").collect())
    assert (set(tags(spark, "a")), set(tags(spark, "b"))) == ({"k"}, {None})


def test_a_refused_write_has_deltas_own_error(spark: SparkSession, db: str) -> None:
    unique(spark, "t", "k INT NOT NULL, v STRING")
    spark.sql("ALTER TABLE t ADD CONSTRAINT least CHECK (k >= 0)")
    for values, error in (
        ("(-1, 'x')", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"),
        ("(NULL, 'x')", "DELTA_NOT_NULL|DELTA_VIOLATE_CONSTRAINT"),
    ):
        found = []
        for excluded in ("", "TagSortedLoads"):
            spark.conf.set(EXCLUDED, excluded)
            with pytest.raises(Exception, match=error) as caught:
                spark.sql(f"INSERT INTO t VALUES {values}")
            found.append((type(caught.value), str(caught.value).splitlines()[:3]))
        assert found[0][0] == found[1][0]
        assert "InvocationTargetException" not in str(found)
    assert spark.table("t").count() == 0


def test_what_is_not_sorted_by_all_keys_has_no_mark(spark: SparkSession, db: str) -> None:
    unique(spark, "t", "k INT, l INT, v INT", "k, l", ["l"])
    spark.sql("INSERT INTO t SELECT id, id % 3, id FROM range(1000)")
    spark.sql("INSERT INTO t (k, v) SELECT id, id FROM range(1000)")  # the partition column gets its default
    spark.sql("INSERT INTO t REPLACE WHERE l = 1 SELECT id, 1, 7 FROM range(500)")
    spark.table("t").where("k < 9").write.format("delta").mode("append").save(str(folder(spark, "t")))
    marks = [{tag(file) for file in actions(commit, "add")} for commit in commits(spark, "t")]
    assert marks == [set(), {"k,l"}, {None}, {None}, {None}]


@pytest.mark.parametrize("vectors", rest_slow(["true", "false"], "true"))
def test_files_of_other_writers_are_sorted_first(spark: SparkSession, db: str, vectors: str) -> None:
    unique(spark, "t", "k INT, v STRING")
    spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')")
    spark.sql("INSERT INTO t SELECT id, concat('a', id) FROM range(20000)")
    spark.sql("INSERT INTO t SELECT id, concat('b', id) FROM range(0, 20000, 3)")
    by_path = spark.range(0, 9000, 2).selectExpr("CAST(9000 - id AS INT) AS k", "concat('c', id) AS v")
    by_path.write.format("delta").mode("append").save(str(folder(spark, "t")))
    spark.sql("DELETE FROM t WHERE k IN (4, 5, 6)")
    spark.sql("INSERT INTO t SELECT id, concat('d', id) FROM range(0, 20000, 7)")
    spark.sql("INSERT INTO t SELECT id, repeat('e', 50) || id FROM range(20000, 60000)")
    assert None in tags(spark, "t")
    rows = merged(spark, "SELECT * FROM t")
    expected = {k: f"a{k}" for k in range(20000)}
    expected |= {k: f"b{k}" for k in range(0, 20000, 3)}
    expected |= {9000 - k: f"c{k}" for k in range(0, 9000, 2)}
    for gone in (4, 5, 6):
        del expected[gone]
    expected |= {k: f"d{k}" for k in range(0, 20000, 7)}
    expected |= {k: "e" * 50 + str(k) for k in range(20000, 60000)}
    assert rows == Counter(expected.items())
    spark.sql("CALL system.compact(table => 't')")
    assert tags(spark, "t")[-1] == "k"
    spark.sql("INSERT INTO t VALUES (1, 'last')")
    assert merged(spark, "SELECT * FROM t") == Counter((expected | {1: "last"}).items())


def load_several_row_groups(spark: SparkSession) -> None:
    """Into t, whose files also have several batches of 4,096 rows."""
    spark.conf.set("parquet.block.size", "65536")
    unique(spark, "t", "k INT, v STRING")
    spark.sql("INSERT INTO t SELECT id, sha1(string(id)) FROM range(50000)")
    spark.sql("INSERT INTO t SELECT id * 3, sha1(string(-id)) FROM range(10000)")
    files = set(folder(spark, "t").rglob("*.parquet"))
    assert min(pyarrow.parquet.ParquetFile(file).num_row_groups for file in files) > 2


def test_rows_have_the_numbers_that_parquets_reader_gives_them(spark: SparkSession, db: str) -> None:
    """A compaction writes the numbers down."""
    load_several_row_groups(spark)

    def compacted(excluded: str) -> dict[int, int]:
        spark.conf.set(EXCLUDED, excluded)
        others = set(folder(spark, "t").rglob("*.parquet"))
        spark.sql("CALL system.compact(table => 't')")
        made = [pyarrow.parquet.read_table(file) for file in set(folder(spark, "t").rglob("*.parquet")) - others]
        spark.sql("RESTORE t TO VERSION AS OF 2")
        number = next(name for name in made[0].column_names if name.startswith("_row-id-col"))
        return {k: n for file in made for k, n in zip(file["k"].to_pylist(), file[number].to_pylist(), strict=True)}

    counted = compacted("")
    assert counted == compacted("MergeSortedFiles")
    assert len(set(counted.values())) == 50000
    assert sum(number >= 50000 for number in counted.values()) == 10000


def test_a_wide_table_has_its_nulls(spark: SparkSession, db: str) -> None:
    """The nulls of the first 64 columns are looked up in another way than those of the others."""
    numbers = range(70)
    unique(spark, "wide", ", ".join(["k BIGINT", *(f"c{n} INT" for n in numbers)]))
    for load in (1, 2):
        values = [f"if((id + {n}) % 3 = 0, null, {load})" if n % 2 else "null" for n in numbers]
        spark.sql(f"INSERT INTO wide SELECT {', '.join(['id', *values])} FROM range(10)")
    sums = ", ".join(f"count(c{n}), sum(c{n})" for n in numbers)
    merged(spark, f"SELECT count(k), {sums} FROM wide")


def test_filters_skip_row_groups_and_the_last_row_is_taken(spark: SparkSession, db: str) -> None:
    load_several_row_groups(spark)
    assert len(merged(spark, "SELECT * FROM t WHERE k > 20000")) == 29999
    assert len(merged(spark, "SELECT * FROM t WHERE k IS NOT NULL")) == 50000


def test_tables_that_are_mostly_of_other_writers_use_the_hash_table(spark: SparkSession, db: str) -> None:
    unique(spark, "t", "k INT, v STRING")
    spark.sql("INSERT INTO t VALUES (1, 'a')")
    spark.range(9000).selectExpr("CAST(id AS INT) AS k", "concat('c', id) AS v").write.format("delta").mode(
        "append"
    ).save(str(folder(spark, "t")))
    frame = spark.sql("SELECT * FROM t")
    assert MERGED not in kinds(frame)
    assert frame.count() == 9000


def test_a_task_opens_a_limited_number_of_files(spark: SparkSession, db: str) -> None:
    unique(spark, "t", "k INT, v STRING")
    spark.conf.set("spark.sql.files.maxRecordsPerFile", "10")
    spark.sql("INSERT INTO t SELECT id, concat('a', id) FROM range(1000)")
    merged(spark, "SELECT * FROM t")
    spark.sql("INSERT INTO t SELECT id, concat('b', id) FROM range(2000)")
    frame = spark.sql("SELECT * FROM t")
    assert MERGED not in kinds(frame)
    assert multiset(frame.collect()) == Counter((k, f"b{k}") for k in range(2000))


def test_a_file_in_another_order_than_its_mark_says_is_an_error(spark: SparkSession, db: str) -> None:
    unique(spark, "t", "k INT, v STRING")
    spark.sql("INSERT INTO t SELECT id, concat('a', id) FROM range(20000)")
    reverse_last_load(spark, "t")
    with pytest.raises(Exception, match="FILE_NOT_SORTED") as error:
        spark.sql("SELECT * FROM t").collect()
    assert "SET spark.colocate.rules.excluded" in str(error.value)
    expected = Counter((k, f"a{k}") for k in range(20000))
    assert hashed(spark, "SELECT * FROM t") == expected
    spark.conf.set(EXCLUDED, "MergeSortedFiles")
    spark.sql("CALL system.compact(table => 't')")
    spark.conf.set(EXCLUDED, "")
    spark.sql("INSERT INTO t VALUES (-1, 'b')")
    assert merged(spark, "SELECT * FROM t") == expected + Counter([(-1, "b")])


def reverse_last_load(spark: SparkSession, table: str) -> None:
    """Turns the rows of its files around, and corrects their sizes in the log."""

    def reversed_file(line: str) -> str:
        action = json.loads(line)
        if "add" in action:
            file = folder(spark, table) / action["add"]["path"]
            rows = pyarrow.parquet.ParquetFile(file).read()
            pyarrow.parquet.write_table(rows.take(list(reversed(range(len(rows))))), file)
            file.with_name(f".{file.name}.crc").unlink()
            action["add"]["size"] = file.stat().st_size
        return json.dumps(action) + "\n"

    rewrite_last(spark, table, lambda log: "".join(map(reversed_file, log.splitlines())))
