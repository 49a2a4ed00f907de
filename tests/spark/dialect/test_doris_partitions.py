"""Partitions and buckets as Doris and StarRocks write them: what is made, and what is in it."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.ranged import held, listed, months, refused

INTERPRETED = True


def test_an_overwrite_of_named_partitions_replaces_these_and_no_others(spark: SparkSession, db: str) -> None:
    for mode in ("static", "dynamic"):
        spark.conf.set("spark.sql.sources.partitionOverwriteMode", mode)
        months(spark)
        spark.sql("INSERT OVERWRITE t PARTITION (p201701) VALUES (DATE'2017-01-05', 1, 'n')")
        assert held(spark) == {"p201701": 1, "p201702": 28, "p201703": 21}
        spark.sql("INSERT OVERWRITE TABLE t PARTITIONS (P201701, p201702) (k, d) SELECT 2, DATE'2017-02-05'")
        assert held(spark) == {"p201702": 1, "p201703": 21}
        spark.sql("INSERT OVERWRITE t PARTITION p201703 SELECT * FROM t PARTITION(p201703) WHERE k > 70")
        assert held(spark) == {"p201702": 1, "p201703": 9}
        error = refused(spark, "INSERT OVERWRITE t PARTITION (p201703) VALUES (DATE'2017-01-05', 1, 'n')")
        assert "RANGE_OTHER_PARTITION" in error
        assert "RANGE_PARTITION_UNKNOWN" in refused(spark, "INSERT OVERWRITE t PARTITION (p9) VALUES (NULL, 1, 'n')")
        assert held(spark) == {"p201702": 1, "p201703": 9}
        spark.sql("DROP TABLE t")


def test_an_overwrite_of_a_partition_of_a_key_model(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE u (k INT, v INT) UNIQUE KEY(k) PARTITION BY RANGE(k) (FROM (0) TO (20) INTERVAL 10) "
        "DISTRIBUTED BY HASH(k)"
    )
    spark.sql("INSERT INTO u SELECT id, 1 FROM range(20)")
    spark.sql("INSERT OVERWRITE u PARTITION(p_10) VALUES (11, 2), (12, 2)")
    assert spark.sql("SELECT sum(v), count(*) FROM u").collect() == [(14, 12)]


def test_partitions_by_a_step_are_made_and_added(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE t (d DATE, k INT) PARTITION BY RANGE(d) (START ('2024-01-01') END ('2024-03-01') "
        "EVERY (INTERVAL 1 MONTH)) DISTRIBUTED BY HASH(k) BUCKETS 2"
    )
    steps = "ALTER TABLE t ADD PARTITIONS FROM ('2024-03-01') TO ('2024-05-01') INTERVAL 1 MONTH"
    spark.sql(steps)
    names = ["p202401", "p202402", "p_202403", "p_202404"]
    assert [name for name, _, _ in listed(spark)] == names
    spark.sql("INSERT INTO t VALUES (DATE'2024-02-29', 1), (DATE'2024-04-01', 2)")
    assert held(spark) == {"p202402": 1, "p_202404": 1}
    assert "RANGE_NAME_REPEATED" in refused(spark, steps)
    spark.sql(steps.replace("PARTITIONS", "PARTITIONS IF NOT EXISTS").replace("2024-05", "2024-06"))
    assert [name for name, _, _ in listed(spark)] == [*names, "p_202405"]
    overlapping = "ALTER TABLE t ADD PARTITIONS START ('2024-06-01') END ('2024-06-03') EVERY (INTERVAL 1 DAY)"
    spark.sql("ALTER TABLE t ADD PARTITION p20240602 VALUES [('2024-06-02 00:00:00'), ('2024-6-3'))")
    assert "RANGE_" in refused(spark, overlapping)
    spark.sql("ALTER TABLE t ADD PARTITION IF NOT EXISTS p20240602 VALUES LESS THAN ('2030-01-01')")
    assert [name for name, _, _ in listed(spark)] == [*names, "p_202405", "p20240602"]


def test_buckets_that_are_left_out_are_the_groups(spark: SparkSession, db: str) -> None:
    made = 'CREATE TABLE {} (k INT, v INT) DISTRIBUTED BY HASH(k){} PROPERTIES ("colocate_with" = "g")'
    spark.sql(made.format("a", " BUCKETS 3"))
    spark.sql(made.format("b", ""))
    spark.sql(made.format("c", " BUCKETS AUTO"))
    spark.sql("CREATE TABLE alone (k INT) DISTRIBUTED BY HASH(k)")
    buckets = {name: spark.sql(f"CALL system.show_partitions(table => '{name}')").first()["Buckets"]
               for name in ("b", "c", "alone")}  # fmt: skip
    assert buckets == {"b": 3, "c": 3, "alone": 8}


def test_a_table_made_of_a_query_has_its_keys_and_ranges(spark: SparkSession, db: str) -> None:
    spark.sql(
        "CREATE TABLE u UNIQUE KEY(k, d) PARTITION BY RANGE(d) (PARTITION p VALUES LESS THAN ('2024-02-01'), "
        "FROM ('2024-02-01') TO ('2024-04-01') INTERVAL 1 MONTH) DISTRIBUTED BY HASH(k) BUCKETS 2 "
        "AS SELECT 1 AS k, DATE'2024-02-03' AS d, 5 AS v"
    )
    spark.sql("INSERT INTO u VALUES (1, DATE'2024-02-03', 6)")
    assert spark.sql("SELECT k, v FROM u PARTITION(p_202402)").collect() == [(1, 6)]
    spark.sql("CREATE TABLE f DUPLICATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 2 AS SELECT 1 AS k, 'x' AS s")
    assert spark.table("f").collect() == [(1, "x")]


def test_the_size_of_tables_and_the_replicas_of_all_partitions(spark: SparkSession, db: str) -> None:
    months(spark)
    spark.sql("CREATE TABLE files (k INT) USING parquet CLUSTERED BY (k) INTO 2 BUCKETS")
    spark.sql("CREATE TABLE plain AS SELECT 1 AS k")
    spark.sql("CREATE VIEW v AS SELECT 1 AS k")
    rows = {name: (size, replicas) for name, size, replicas in spark.sql("SHOW DATA").collect()}
    assert {name: replicas for name, (_, replicas) in rows.items()} == {"t": 12, "files": 2, "plain": 1}
    assert rows["t"][0] > 0
    assert spark.sql(f"SHOW DATA FROM {db}.t").collect() == [("t", *rows["t"])]
    assert {row[0] for row in spark.sql(f"SHOW DATA FROM {db}").collect()} == set(rows)
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("SHOW DATA FROM absent")


def test_a_char_has_no_blanks_behind_it(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE t (k CHAR(4), v CHAR(10)) DISTRIBUTED BY HASH(k) BUCKETS 2")
    spark.sql("INSERT INTO t VALUES ('a', 'b')")
    assert spark.sql("SELECT k, v, length(v) FROM t WHERE v = 'b'").collect() == [("a", "b", 1)]
    with pytest.raises(Exception, match=r"EXCEED_LIMIT_LENGTH|DELTA_EXCEED_CHAR_VARCHAR_LIMIT"):
        spark.sql("INSERT INTO t VALUES ('a', 'more than ten')")
