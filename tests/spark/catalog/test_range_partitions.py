"""Range partitions of Delta tables: which rows they take, who is refused, and how they come and go."""

import json
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import database
from tests.spark.oracle import assert_no_exchange, multiset
from tests.spark.plans import nodes
from tests.spark.ranged import IN_BUCKETS, MONTHS, held, listed, months, properties, refused
from tools.plans import kind

INTERPRETED = True


def test_the_documents_nine_rows(spark: SparkSession, db: str) -> None:
    partitions = [("a", "2017-02-01", "1000"), ("b", "2017-03-01", "2000"), ("c", "2017-04-01")]
    columns = "date DATE, id INT, k INT"
    spark.sql(f"CREATE TABLE t ({columns}) USING delta {IN_BUCKETS} {properties('date, id', partitions)}")
    rows = [
        ("2017-01-01", 200, "a"), ("2017-01-01", 2000, "a"), ("2017-02-01", 100, "a"), ("2017-02-01", 2000, "b"),
        ("2017-02-15", 5000, "b"), ("2017-03-01", 2000, "c"), ("2017-03-10", 1, "c"),
    ]  # fmt: skip
    values = ", ".join(f"(DATE'{day}', {number}, 1)" for day, number, _ in rows)
    spark.sql(f"INSERT INTO t VALUES {values}")
    found = spark.sql("SELECT CAST(date AS STRING), id, _colocate_range FROM t").collect()
    assert sorted(map(tuple, found)) == sorted(rows)
    for day in ("2017-04-01", "2017-05-01"):
        error = refused(spark, f"INSERT INTO t VALUES (DATE'2017-01-01', 1, 1), (DATE'{day}', 1000, 1)")
        assert f"the row with date = {day}, id = 1000 belongs to none of its 3 range partitions" in error
        assert "[(2017-04-01, MIN_VALUE), (MAX_VALUE, MAX_VALUE))" in error
    assert spark.table("t").count() == len(rows)


@pytest.mark.parametrize("buckets", [IN_BUCKETS, ""])
def test_the_column_is_hidden_with_and_without_buckets(spark: SparkSession, db: str, buckets: str) -> None:
    months(spark, buckets=buckets)
    assert spark.table("t").columns == ["d", "k", "v"]
    described = [row["col_name"] for row in spark.sql("DESCRIBE t").collect()]
    assert described == ["d", "k", "v"]
    statement = spark.sql("SHOW CREATE TABLE t").first()[0]
    assert "_colocate" not in statement
    spark.sql(statement.replace(f"{db}.t", f"{db}.again"))
    assert listed(spark, "again") == [(name, bounds, 0) for name, bounds, _ in listed(spark)]


def test_partitions_come_and_go_as_in_the_document(spark: SparkSession, db: str) -> None:
    months(spark, colocate_with="g")
    spark.sql("CALL system.add_partition(table => 't', partition => 'p201705', upper => '2017-06-01')")
    spark.sql("CALL system.drop_partition(table => 't', partition => 'p201703')")
    assert listed(spark) == [
        ("p201701", "[MIN_VALUE, 2017-02-01)", 31),
        ("p201702", "[2017-02-01, 2017-03-01)", 28),
        ("p201705", "[2017-04-01, 2017-06-01)", 0),
    ]
    assert "[2017-03-01, 2017-04-01)" in refused(spark, "INSERT INTO t VALUES (DATE'2017-03-05', 1, 'hole')")
    spark.sql("CALL system.drop_partition(table => 't', partition => 'P201702')")
    spark.sql("CALL system.add_partition(table => 't', partition => 'p201702new', upper => '2017-03-01')")
    spark.sql("CALL system.drop_partition(table => 't', partition => 'p201701')")
    spark.sql("CALL system.add_partition(table => 't', partition => 'p201612', upper => '2017-01-01')")
    assert listed(spark) == [
        ("p201612", "[MIN_VALUE, 2017-01-01)", 0),
        ("p201702new", "[2017-02-01, 2017-03-01)", 0),
        ("p201705", "[2017-04-01, 2017-06-01)", 0),
    ]
    assert "[2017-01-01, 2017-02-01)" in refused(spark, "INSERT INTO t VALUES (DATE'2017-01-05', 1, 'hole')")
    spark.sql("INSERT INTO t VALUES (DATE'2016-12-31', 1, 'v'), (DATE'2017-05-31', 2, 'v')")
    assert held(spark) == {"p201612": 1, "p201705": 1}
    assert spark.sql("SELECT * FROM t VERSION AS OF 1").count() == 80


def test_one_partition_is_emptied(spark: SparkSession, db: str) -> None:
    months(spark)
    spark.sql("CALL system.truncate_partition(table => 't', partitions => 'p201701, p201703')")
    assert held(spark) == {"p201702": 28}
    assert "RANGE_PARTITION_UNKNOWN" in refused(
        spark, "CALL system.truncate_partition(table => 't', partitions => 'p201702, q')"
    )
    assert held(spark) == {"p201702": 28}


def test_a_kept_dataframe_is_filled_anew_when_partitions_go(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE t (k INT, d INT) PARTITION BY RANGE(d) (PARTITION a VALUES LESS THAN ('10'), "
        "PARTITION b VALUES LESS THAN ('20'), PARTITION c VALUES LESS THAN ('30')) DISTRIBUTED BY HASH(k) BUCKETS 2"
    )
    spark.sql("INSERT INTO t VALUES (1, 1), (2, 12), (3, 22)")
    kept = spark.table("t").where("k > 0").persist()
    try:
        assert kept.count() == 3
        spark.sql("CALL system.drop_partition(table => 't', partition => 'a')")
        assert kept.count() == 2
        spark.sql("CALL system.truncate_partition(table => 't', partitions => 'b')")
        assert kept.count() == 1
    finally:
        kept.unpersist()


def test_members_with_ranges_are_joined_without_an_exchange(spark: SparkSession, db: str) -> None:
    months(spark, colocate_with="g")
    spark.sql(f"CREATE TABLE s (k INT, w INT) USING delta {IN_BUCKETS} TBLPROPERTIES ('colocate_with' = 'g')")
    spark.sql("INSERT INTO s SELECT id % 50, id FROM range(200)")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    assert_no_exchange(spark, "SELECT t.k, count(*), max(w) FROM t JOIN s ON t.k = s.k GROUP BY t.k")
    spark.sql("CALL system.drop_partition(table => 't', partition => 'p201702')")
    assert_no_exchange(spark, "SELECT t.k, max(w) FROM t LEFT JOIN s ON t.k = s.k GROUP BY t.k")
    once = "(SELECT * FROM s WHERE w < 50)"
    spark.sql(f"MERGE INTO t USING {once} s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = 'm'")
    assert spark.sql("SELECT count(*) FROM t WHERE v = 'm'").first()[0] == 31


def test_every_writer_obeys(spark: SparkSession, db: str) -> None:
    months(spark)
    outside = spark.sql("SELECT DATE'2037-01-01' d, 1 k, 'x' v")
    inside = spark.sql("SELECT DATE'2017-02-02' d, 1 k, 'x' v")
    where = spark.sql("DESCRIBE DETAIL t").first()["location"]
    for query, works in ((outside, False), (inside, True)):
        for write in (
            lambda rows: rows.write.format("delta").mode("append").saveAsTable("t"),
            lambda rows: rows.writeTo("t").append(),
            lambda rows: rows.write.insertInto("t"),
            lambda rows: rows.write.format("delta").mode("append").save(where),
        ):
            if works:
                write(query)
            else:
                with pytest.raises(Exception, match="RANGE_NO_PARTITION"):
                    write(query)
    for statement in (
        "INSERT OVERWRITE t SELECT DATE'2037-01-01', 1, 'x'",
        "INSERT INTO t (v, k, d) VALUES ('x', 1, DATE'2037-01-01')",
        "UPDATE t SET d = DATE'2037-01-01' WHERE k = 5",
        "MERGE INTO t USING (SELECT 5 k) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET d = DATE'2037-01-01'",
        f"CREATE TABLE u USING delta {properties('d', MONTHS)} AS SELECT DATE'2037-01-01' d",
    ):
        refused(spark, statement)
    assert held(spark) == {"p201701": 31, "p201702": 32, "p201703": 21}
    assert not spark.catalog.tableExists("u")


def test_a_table_made_from_a_query_refuses_rows_of_no_partition(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t USING delta {properties('d', MONTHS)} AS SELECT DATE'2017-01-01' d, 1 k")
    assert held(spark) == {"p201701": 1}
    # A row without a day is below the first range.
    bounded = properties("d", MONTHS).replace('"upper"', '"lower": ["2017-01-01"], "upper"', 1)
    spark.sql(f"CREATE TABLE u USING delta {bounded} AS SELECT DATE'2017-01-01' d, 1 k")
    insert = "MERGE INTO u USING (SELECT 2 k) s ON u.k = s.k WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k)"
    assert "RANGE_NO_PARTITION" in refused(spark, insert)
    # Sessions without the extension have Delta's own check.
    log = spark.read.json(f"{spark.sql('DESCRIBE DETAIL u').first()['location']}/_delta_log/*.json")
    schemas = log.where("metaData IS NOT NULL").orderBy("_metadata.file_name").select("metaData.schemaString").collect()
    (column,) = (field for field in json.loads(schemas[-1][0])["fields"] if field["name"] == "_colocate_range")
    assert column["nullable"] is False


def test_a_dynamic_overwrite_replaces_the_ranges_that_it_has_rows_for(spark: SparkSession, db: str) -> None:
    months(spark)
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    spark.sql("INSERT OVERWRITE t SELECT DATE'2017-02-05', id, 'o' FROM range(7)")
    assert held(spark) == {"p201701": 31, "p201702": 7, "p201703": 21}


@pytest.mark.pairs
@pytest.mark.parametrize("day", ["DATE'2017-02-05'", "if(id % 2 = 0, DATE'2017-02-05', DATE'2017-03-05')"])
@pytest.mark.parametrize("p", ["1", "NULL", "if(id % 2 = 0, NULL, 1)", "0"])
@pytest.mark.parametrize("buckets", [IN_BUCKETS, ""], ids=["buckets", "no-buckets"])
def test_a_dynamic_overwrite_of_partitions_in_ranges(
    spark: SparkSession, db: str, buckets: str, p: str, day: str
) -> None:
    """The new rows replace those of the same range and the same value of the user's partition column."""
    spark.sql(
        f"CREATE TABLE t (d DATE, k INT, p INT) USING delta PARTITIONED BY (p) {buckets} {properties('d', MONTHS)}"
    )
    values = (
        "date_add(DATE'2017-01-01', CAST(id AS INT)) d, CAST(id AS INT) k, CAST(if(id % 3 = 0, NULL, id % 3) AS INT) p"
    )
    old = f"SELECT {values} FROM range(80)"
    new = f"SELECT {day} d, CAST(id AS INT) k, CAST({p} AS INT) p FROM range(7)"
    spark.sql(f"INSERT INTO t {old}")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    spark.sql(f"INSERT OVERWRITE t {new}")
    same = "n.p <=> o.p AND month(n.d) = month(o.d)"
    expected = f"SELECT * FROM ({old}) o WHERE NOT EXISTS (SELECT 1 FROM ({new}) n WHERE {same}) UNION ALL {new}"
    assert multiset(spark.table("t").collect()) == multiset(spark.sql(expected).collect())


BAD = {
    "RANGE_COLUMN_INVALID": f"CREATE TABLE b (x INT) USING delta {properties('d', MONTHS)}",
    "RANGE_COLUMN_TYPE": f"CREATE TABLE b (d STRING) USING delta {properties('d', MONTHS)}",
    "RANGE_PROPERTY_INVALID": "CREATE TABLE b (d DATE) USING delta TBLPROPERTIES ('range_partition_by' = 'd')",
    "RANGE_FORMAT": f"CREATE TABLE b (d DATE) USING parquet {properties('d', MONTHS)}",
    "RANGE_OVERLAP": "CALL system.add_partition(table => 't', partition => 'p', lower => '2017-03-31', "
    "upper => '2017-05-01')",
    "RANGE_VALUE_INVALID": "CALL system.add_partition(table => 't', partition => 'p', upper => '2017-13-01')",
    "RANGE_BUCKETS": "CALL system.add_partition(table => 'u', partition => 'p', upper => '2017-05-01', buckets => 8)",
    "RANGE_BUCKET_KEYS": "ALTER TABLE t ADD PARTITION p VALUES LESS THAN ('2017-05-01') "
    "DISTRIBUTED BY HASH(v) BUCKETS 4",
    "BUCKETS_INVALID": "CALL system.add_partition(table => 't', partition => 'p', upper => '2017-05-01', buckets => 0)",
    "RANGE_PARTITION_UNKNOWN": "CALL system.drop_partition(table => 't', partition => 'p')",
    "RANGE_PROPERTY_FIXED": "ALTER TABLE t SET TBLPROPERTIES ('range_partitions' = '[]')",
    "RANGE_TABLE": "CALL system.drop_partition(table => 'plain', partition => 'plain')",
}


def test_bad_statements_are_refused_and_change_nothing(spark: SparkSession, db: str) -> None:
    months(spark)
    months(spark, "u", colocate_with="g")
    spark.sql("CREATE TABLE plain (d DATE) USING delta")
    before = listed(spark)
    for code, statement in BAD.items():
        assert code in refused(spark, statement)
    assert listed(spark) == before
    assert listed(spark, "plain") == [("plain", "[MIN_VALUE, MAX_VALUE)", 0)]
    assert not spark.catalog.tableExists("b")


@pytest.mark.each_value
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize(
    ("condition", "partitions"),
    [
        ("d = 421", 1),
        ("421 = d", 1),
        ("d BETWEEN 420 AND 429", 1),
        ("d >= 980", 2),
        ("d < 10 AND k = 3", 1),
        ("d IN (5, 25)", 2),
        ("d IN (5, 25, NULL, 100000)", 2),
        ("d IN (5, 25) AND d > 20", 1),
        (f"d IN ({', '.join(map(str, range(0, 1000, 50)))})", 20),
    ],
)
@pytest.mark.every(3)
def test_a_query_reads_the_files_of_its_ranges_only(
    hundred: str, spark: SparkSession, condition: str, partitions: int, adaptive: str
) -> None:
    spark.sql(f"USE {hundred}")
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    found = spark.sql(f"SELECT count(*), sum(k) FROM t WHERE {condition}")
    scans = [node for node in nodes(found) if kind(node) in ("FileSourceScanExec", "ColocatedScanExec")]
    assert [int(scan.metrics().apply("numFiles").value()) for scan in scans] == [partitions]
    expected = spark.sql(
        f"SELECT count(*), sum(k) FROM (SELECT id AS d, id % 7 AS k FROM range(1000)) WHERE {condition}"
    )
    assert found.collect() == expected.collect()


@pytest.fixture(scope="module")
def hundred(spark: SparkSession) -> Iterator[str]:
    """A database with a table of 100 partitions of ten days each, one file for each partition."""
    yield from database(spark, "hundred_ranges", _make_hundred)


def _make_hundred(spark: SparkSession) -> None:
    partitions = [(f"p{number}", str(10 * number + 10)) for number in range(100)]
    spark.sql(f"CREATE TABLE t (d BIGINT, k BIGINT) USING delta {properties('d', partitions)}")
    spark.sql("INSERT INTO t SELECT /*+ COALESCE(1) */ id, id % 7 FROM range(1000)")


@pytest.mark.parametrize("kind", ["TINYINT", "SMALLINT", "INT", "BIGINT"])
def test_values_of_another_type_and_order_of_names_are_written(spark: SparkSession, db: str, kind: str) -> None:
    partitions = [("low", "10"), ("high", "100")]
    spark.sql(f"CREATE TABLE t (a {kind}, k INT) USING delta {IN_BUCKETS} {properties('a', partitions)}")
    spark.sql("INSERT INTO t VALUES (1, 50)")
    spark.sql("INSERT INTO t SELECT 50 AS k, 3 AS a")
    spark.sql("INSERT INTO t SELECT CAST(7 AS BIGINT) AS x, CAST(8 AS BIGINT) AS y")
    found = spark.sql("SELECT a, k, _colocate_range, _colocate_bucket = pmod(hash(k), 4) FROM t").collect()
    assert sorted(map(tuple, found)) == [(1, 50, "low", True), (7, 8, "low", True), (50, 3, "high", True)]


def test_names_and_properties_of_ranges_mean_nothing_elsewhere(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE p (a INT) USING delta")
    spark.sql("ALTER TABLE p SET TBLPROPERTIES ('range_partitions' = 'x')")
    spark.sql("ALTER TABLE p UNSET TBLPROPERTIES ('range_partitions')")
    spark.sql("CREATE TABLE q (a INT) USING parquet TBLPROPERTIES ('range_partitions' = '1')")
    spark.sql("CREATE TABLE b (k INT, n BIGINT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS")
    months(spark)
    spark.sql("INSERT INTO b SELECT CAST(count(*) AS INT) AS _colocate_range, 1 FROM t")
    assert spark.table("b").collect() == [(80, 1)]


def test_a_table_with_hidden_columns_gets_no_column_of_their_names(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE b (k INT, n BIGINT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS")
    spark.sql("ALTER TABLE b SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    for change in ("ADD COLUMN _colocate_range STRING", "RENAME COLUMN n TO _COLOCATE_RANGE"):
        with pytest.raises(Exception, match="KEY_COLUMN_FIXED"):
            spark.sql(f"ALTER TABLE b {change}")
    assert spark.table("b").columns == ["k", "n"]


def test_copies_and_overwrites_keep_the_ranges(spark: SparkSession, db: str) -> None:
    months(spark)
    other = properties("d", [("z", "2018-01-01")])
    assert "RANGE_PROPERTY_FIXED" in refused(spark, f"CREATE TABLE u LIKE t {other}")
    assert not spark.catalog.tableExists("u")
    late = spark.sql("SELECT DATE'2019-01-01' AS d, 1 AS k, 'v' AS v")
    with pytest.raises(Exception, match="RANGE_NO_PARTITION"):
        late.write.format("delta").bucketBy(8, "k").mode("overwrite").saveAsTable("t")
    assert spark.table("t").count() == 80
