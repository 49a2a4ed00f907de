"""Which texts are tried as statements of Doris, what their errors are, and what both dialects know."""

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from tests.spark.golden import GOLDENS, assert_golden

INTERPRETED = True

# Refused by Spark's parser, each with a slip, and not a word of Doris in them.
SLIPS = (
    "CREATE TABEL t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4",
    "CREATE TABLE t (k INT) USNG delta TBLPROPERTIES ('properties' = 'x')",
    "CREATE TABLE t (k INT,, v INT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS",
    "ALTER TABLE t ADD PARTITION (p = )",
    "ALTER TABLE t SET TBLPROPERTIES ('colocate_with' 'g'",
    "SELECT 'CREATE TABLE t PROPERTIES (' FORM t",
    "INSERT INTO t SELEC 1",
    "TRUNCATE TABLE t PARTITON (p = 1)",
    "DROP TABLE t PURG",
    "SHOW PARTITION t",
    "CREATE TABLE t USING delta AS SELECT rank() OVER (PARTITION BY k) FORM u",
    "DELETE FROM t WHERE k = 1 AND AND partition = 2",
    "INSERT INTO t PARTITION (p) SELEC 1",
)
TRIED = (
    "/* a */ -- b\n create\n table t (k INT) distributed  by hash(k) buckets 4",
    "CREATE TABLE t (k INT) PROPERTIES('a'='b')",
    "ALTER TABLE t SET (\"colocate_with\" = \"g\")",
    "ALTER TABLE t DROP PARTITION p",
    "TRUNCATE TABLE t PARTITION(p)",
    "DROP TABLE t FORCE",
    "DELETE FROM t PARTITION p WHERE k = 1",
    "DELETE FROM t AS x PARTITIONS (p, q)",
    "INSERT INTO t PARTITION p SELECT 1",
    "SHOW PARTITIONS FROM t",
    "SHOW DATA",
    "ADMIN SHOW FRONTEND CONFIG",
    "HELP ADMIN SET CONFIG",
    "RECOVER TABLE t",
)  # fmt: skip


def test_a_slip_in_a_statement_of_spark_leaves_spark_its_error_and_asks_nobody(spark: SparkSession) -> None:
    tries = spark._jvm.org.apache.spark.sql.colocate.doris.parser.DorisText.mayBe
    assert [text for text in SLIPS if tries(text)] == []
    assert [text for text in TRIED if not tries(text)] == []
    assert tries("-- x\n/* y */\n" * 5_000 + " " * 50_000 + "SHOW DATA") is True
    assert tries("/* y " + "\n" * 50_000 + "SHOW DATA") is False
    for text in SLIPS:
        with pytest.raises(ParseException) as refused:
            spark.sql(text)
        assert refused.value.getCondition() == "PARSE_SYNTAX_ERROR"
        assert "Doris" not in str(refused.value)


def test_a_text_that_doris_does_not_know_either_keeps_sparks_error_with_a_line(spark: SparkSession) -> None:
    with pytest.raises(ParseException) as refused:
        spark.sql("DROP TABLE a b FORCE")
    assert refused.value.getCondition() == "PARSE_SYNTAX_ERROR"
    assert refused.value.getSqlState() == "42601"
    text = str(refused.value)
    assert "Syntax error at or near 'b'" in text
    assert "== SQL ==\nDROP TABLE a b FORCE\n" in text
    assert "Tried as a statement of Doris or StarRocks, too: it is none that spark-colocate knows." in text


@pytest.mark.parametrize(
    ("text", "condition", "state", "words"),
    [
        (
            "CREATE TABLE t (\n  k INT,\n  v STRNG\n) DISTRIBUTED BY HASH(k) BUCKETS 4",
            "DORIS_SYNTAX",
            "42601",
            "Cannot read CREATE TABLE at line 3, column 5: found 'STRNG', expected a type",
        ),
        (
            "CREATE TABLE t (k INT, v BITMAP) DISTRIBUTED BY HASH(k) BUCKETS 4",
            "DORIS_UNSUPPORTED",
            "0A000",
            "Cannot run CREATE TABLE at line 1, column 26: the type BITMAP is refused",
        ),
        (
            "CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 0",
            "BUCKETS_INVALID",
            "22023",
            "Cannot run CREATE TABLE at line 1, column 55: BUCKETS is 0",
        ),
    ],
)
def test_a_fault_in_a_statement_of_doris_has_condition_state_line_and_column(
    spark: SparkSession, db: str, text: str, condition: str, state: str, words: str
) -> None:
    with pytest.raises(ParseException) as refused:
        spark.sql(text)
    assert (refused.value.getCondition(), refused.value.getSqlState()) == (condition, state)
    assert f"[{condition}] {words}" in str(refused.value)
    assert spark.sql("SHOW TABLES").where("NOT isTemporary").collect() == []


@pytest.fixture
def joined(spark: SparkSession, db: str) -> str:
    """A join of two members."""
    for table, kind in (("tbl1", "INT"), ("tbl2", "DOUBLE")):
        spark.sql(
            f"CREATE TABLE {table} (k2 INT(11) NOT NULL, v1 {kind}) ENGINE=OLAP DUPLICATE KEY(k2) "
            'DISTRIBUTED BY HASH(k2) BUCKETS 8 PROPERTIES ("colocate_with" = "group1")'
        )
        spark.sql(f"INSERT INTO {table} SELECT id, id FROM range(10)")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    return "SELECT * FROM tbl1 INNER JOIN tbl2 ON (tbl1.k2 = tbl2.k2)"


def test_desc_select_means_what_the_dialect_says(spark: SparkSession, joined: str, db: str) -> None:
    columns = [row["col_name"] for row in spark.sql(f"DESC {joined}").collect()]
    assert columns == ["k2", "v1", "k2", "v1"]
    spark.conf.set("spark.colocate.dialect", "doris")
    stable = _plan(spark, joined)
    spark.sql("CALL system.set_group_stable(group => 'group1', stable => false)")
    unstable = _plan(spark, f"SELECT tbl1.k2, count(*) FROM ({joined.replace('*', 'tbl1.k2')}) tbl1 GROUP BY tbl1.k2")
    broadcast = _plan(spark, joined.replace("SELECT", "SELECT /*+ BROADCAST(tbl2) */"))
    text = "\n\n".join((stable, unstable, broadcast)).replace(db, "db")
    assert_golden(text, GOLDENS / "doris_plans.txt")
    assert "colocate: true (group db.group1, 8 buckets)" in text
    assert "colocate: false, reason: group is not stable" in text


def _plan(spark: SparkSession, query: str) -> str:
    rows = spark.sql(f"DESC {query}").collect()
    assert rows[0].asDict().keys() == {"Explain String"}
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_the_format_of_a_new_table_is_a_setting(spark: SparkSession, db: str, format: str) -> None:
    spark.conf.set("spark.colocate.dialect.format", format)
    spark.sql('CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("colocate_with" = "g")')
    [row] = spark.sql(f"SELECT format, keys FROM system.colocation_tables WHERE db = '{db}'").collect()
    assert row == (format, ["k"])


def test_show_proc_and_other_statements_are_the_same_under_both(spark: SparkSession, joined: str) -> None:
    shown = [row["GroupName"] for row in spark.sql("SHOW PROC '/colocation_group'").collect()]
    spark.conf.set("spark.colocate.dialect", "doris")
    assert [row["GroupName"] for row in spark.sql('SHOW PROC "/colocation_group"').collect()] == shown
    assert spark.sql(joined).count() == 10
    assert [row["col_name"] for row in spark.sql("DESC tbl1").collect()] == ["k2", "v1"]


def test_show_create_table_is_in_the_dialects_spelling_and_can_be_run_again(spark: SparkSession, db: str) -> None:
    spark.sql(
        'CREATE TABLE t (k INT(11) NOT NULL COMMENT "it\'s", d DATETIME DEFAULT "1970-01-01 00:00:00", s VARCHAR(5)) '
        'DUPLICATE KEY(k) COMMENT "all" DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("colocate_with" = "g")'
    )
    spark.sql("CREATE TABLE p (k TIMESTAMP) USING delta CLUSTERED BY (k) INTO 4 BUCKETS")
    in_spark = spark.sql("SHOW CREATE TABLE t").first()[0]
    spark.conf.set("spark.colocate.dialect", "doris")
    [shown] = spark.sql(f"SHOW CREATE TABLE {db}.t").collect()
    assert shown.asDict().keys() == {"Table", "Create Table"}
    assert shown["Table"] == "t"
    assert shown["Create Table"].startswith(
        'CREATE TABLE `t` (\n  `k` INT NOT NULL COMMENT "it\'s",\n  `d` DATETIME NULL'
    )
    assert "DISTRIBUTED BY HASH(`k`) BUCKETS 4" in shown["Create Table"]
    spark.sql("DROP TABLE t")
    spark.sql(shown["Create Table"])
    assert spark.sql("SHOW CREATE TABLE t").first() == shown
    assert spark.sql("SHOW CREATE TABLE p").first()[1].startswith("CREATE TABLE spark_catalog.")
    spark.conf.set("spark.colocate.dialect", "spark")
    assert spark.sql("SHOW CREATE TABLE t").first()[0] == in_spark
