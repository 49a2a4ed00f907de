"""One statement of each kind, on a Delta and a native member; test_under_hive.py runs them under Hive's metastore."""

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from tests.spark.members import create_member
from tests.spark.oracle import compare
from tests.spark.plans import exchanges

INTERPRETED = True
JOIN = "SELECT a.k, a.v, b.v AS w FROM {} a JOIN {} b ON a.k = b.k"


def assert_in_place(spark: SparkSession, sql: str) -> None:
    """Rows as without us, and no Exchange."""
    on = compare(spark, sql).on
    assert on.rows and on.exchanges == 0


def group_of(spark: SparkSession, db: str) -> Row:
    """The only group of the database, as Doris lists it."""
    known = f"SELECT group_id FROM system.colocation_groups WHERE group_name = '{db}.g'"
    [[group_id]] = spark.sql(known).collect()
    [group] = spark.sql("SHOW PROC '/colocation_group'").where(f"GroupId = '{group_id}'").collect()
    return group


@pytest.mark.parametrize("provider", ["delta", "parquet"])
def test_statements_that_any_member_takes(spark: SparkSession, db: str, provider: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    create_member(spark, "m", "k INT, v BIGINT", ["k"], 4, provider)
    spark.sql("INSERT INTO m SELECT cast(id AS INT), id FROM range(20)")
    layout = "CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
    spark.sql(f"CREATE TABLE n USING {provider} {layout} AS SELECT * FROM m WHERE k < 10")
    assert_in_place(spark, JOIN.format("m", "n"))
    assert spark.sql("SELECT * FROM m").columns == ["k", "v"]
    assert "colocate: true" in spark.sql(f"EXPLAIN {JOIN.format('m', 'n')}").collect()[0][0]
    assert "_colocate_bucket" not in str(spark.sql("DESCRIBE m").collect())
    assert "INTO 4 BUCKETS" in spark.sql("SHOW CREATE TABLE m").collect()[0][0]
    assert len(group_of(spark, db).TableIds.split(", ")) == 2

    spark.sql("INSERT OVERWRITE n SELECT k, v + 1 FROM m WHERE k < 5")
    assert spark.sql("SELECT sum(v), count(*) FROM n").collect() == [(15, 5)]
    spark.sql("ALTER TABLE n ADD COLUMNS (more INT)")
    assert spark.table("n").columns == ["k", "v", "more"]
    spark.sql("ALTER TABLE n RENAME TO renamed")
    assert_in_place(spark, JOIN.format("m", "renamed"))
    spark.sql("TRUNCATE TABLE renamed")
    assert spark.table("renamed").count() == 0
    told = spark.sql(f"CALL system.verify(table => '{db}.m', wait => true)").collect()
    assert "no damage found" in str(told)
    spark.sql("ALTER TABLE renamed SET TBLPROPERTIES ('colocate_with' = '')")
    assert len(group_of(spark, db).TableIds.split(", ")) == 1
    spark.sql("DROP TABLE renamed")
    with pytest.raises(PySparkException, match="BUCKET"):
        create_member(spark, "other", "k INT", ["k"], 8, provider)
    assert {row.tableName for row in spark.sql("SHOW TABLES").collect()} == {"m"}


def test_statements_of_delta(spark: SparkSession, db: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for name in ("m", "n"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4)
        spark.sql(f"INSERT INTO {name} SELECT cast(id AS INT), id FROM range(20)")
    spark.sql("UPDATE m SET v = 100 WHERE k = 3")
    spark.sql("DELETE FROM m WHERE k > 9")
    matched = "WHEN MATCHED THEN UPDATE SET v = m.v + n.v WHEN NOT MATCHED THEN INSERT *"
    spark.sql(f"MERGE INTO m USING n ON m.k = n.k {matched}")
    assert spark.sql("SELECT count(*), sum(v) FROM m").collect() == [(20, 45 - 3 + 100 + 190)]
    assert_in_place(spark, JOIN.format("m", "n"))
    assert spark.sql("SELECT count(*) FROM m VERSION AS OF 1").collect() == [(20,)]
    assert exchanges(spark.sql("SELECT k, count(*) FROM m GROUP BY k")) == 0
    spark.sql("CREATE OR REPLACE TABLE n USING delta AS SELECT 1 AS k")
    assert spark.table("n").collect() == [(1,)]
