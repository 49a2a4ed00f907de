"""Statements of Doris as Spark's: golden texts, without a JVM."""

import pytest
from spark_colocate.dialect import Options, Translation, translate
from spark_colocate.errors import DialectError

from tests.spark.dialect.reader import FILES, cases
from tests.unit.dialect.texts import assert_golden


@pytest.mark.parametrize("name", FILES)
def test_each_statement_of_the_documents_has_its_spark_statement(name: str) -> None:
    assert_golden(name, "\n\n".join(f"-- {case.title}\n{_shown(case.sql)}" for case in cases(name)))


def _shown(sql: str) -> str:
    try:
        done = translate(sql)
    except DialectError as error:
        return f"[{error.code}] {error}"
    if done is None:
        return "Spark's own"
    partitions = [f"-- partitions: {', '.join(done.partitions)}"] if done.partitions else []
    return "\n".join([done.statement, *partitions, *(f"-- warning: {w}" for w in done.warnings)])


def statement(sql: str, format: str = "delta") -> str:
    done = translate(sql, Options(format))
    assert done is not None
    return done.statement


def test_every_clause_of_create_table_in_any_order() -> None:
    assert statement(
        'create table if not exists `a b`.`t``x` (`k 1` int not null key, v varchar(5) default "a\'b" comment "it\'s", '
        "w double null default '1.5', INDEX i (v) USING BITMAP COMMENT 'x') properties ('replication_num' = '2') "
        "comment 'all' distributed by hash(`k 1`) buckets 4 engine olap duplicate key(`k 1`) ;"
    ) == (
        "CREATE TABLE IF NOT EXISTS `a b`.`t``x` (`k 1` INT NOT NULL, `v` VARCHAR(5) DEFAULT 'a\\'b' COMMENT 'it\\'s', "
        "`w` DOUBLE DEFAULT CAST('1.5' AS DOUBLE)) USING delta CLUSTERED BY (`k 1`) INTO 4 BUCKETS COMMENT 'all' "
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported', 'key_model' = 'duplicate', "
        "'key_columns' = 'k 1', 'replication_num' = '2')"
    )


def test_the_format_is_the_sessions() -> None:
    sql = "CREATE TABLE t (k INT DEFAULT '1') DISTRIBUTED BY HASH(k) BUCKETS 4"
    assert statement(sql, "orc") == "CREATE TABLE `t` (`k` INT DEFAULT 1) USING orc CLUSTERED BY (`k`) INTO 4 BUCKETS"


def test_a_query_goes_on_as_it_is() -> None:
    sql = "CREATE TABLE t DISTRIBUTED BY HASH(k) BUCKETS 4 AS\nSELECT k, \"a;b\" AS s /* x */ FROM u WHERE s <> 'é';"
    assert statement(sql) == (
        "CREATE TABLE `t` USING delta CLUSTERED BY (`k`) INTO 4 BUCKETS "
        "AS SELECT k, \"a;b\" AS s /* x */ FROM u WHERE s <> 'é'"
    )


def test_one_warning_names_all_properties_without_a_meaning() -> None:
    done = translate(
        'CREATE TABLE t (k INT) ENGINE=olap DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("storage_medium" = "SSD", '
        '"delta.appendOnly" = "true", "use_new_tablet_scheduler" = "false", "replication_allocation" = '
        '"tag.location.default: 2, tag.location.other: 1", "compression" = "x")'
    )
    assert done is not None
    assert done.warnings == (
        "Without a meaning in Spark, and left out: storage_medium, use_new_tablet_scheduler, compression.",
    )
    assert done.statement.endswith("TBLPROPERTIES ('delta.appendOnly' = 'true', 'replication_num' = '3')")


def test_the_copy_of_another_clusters_table_joins_no_group() -> None:
    done = translate(
        "CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 "
        'PROPERTIES ("colocate_with" = "g", "is_being_synced" = "true")'
    )
    assert done is not None
    assert done.statement.endswith("INTO 4 BUCKETS")
    assert done.warnings == ("is_being_synced = true: the table is a copy of another cluster's, so it joins no group.",)


@pytest.mark.parametrize(
    ("sql", "spark"),
    [
        ("DROP TABLE IF EXISTS a.b FORCE", "DROP TABLE IF EXISTS `a`.`b` PURGE"),
        ("ADMIN SHOW FRONTEND CONFIG LIKE '%balance'", "CALL system.show_config(pattern => '%balance')"),
        (
            "ALTER TABLE d.t ADD PARTITION p VALUES [('1', \"2017-01-01\"), ('2', MAXVALUE))",
            "CALL system.add_partition(table => 'd.t', partition => 'p', lower => '[\"1\",\"2017-01-01\"]', "
            "upper => '[\"2\",\"MAXVALUE\"]', buckets => NULL)",
        ),
        (
            "ALTER TABLE t ADD PARTITION p VALUES LESS THAN MAXVALUE (\"replication_num\" = \"1\")",
            "CALL system.add_partition(table => 't', partition => 'p', lower => NULL, upper => 'MAXVALUE', "
            "buckets => NULL)",
        ),
        (
            "ALTER TABLE t DROP PARTITION IF EXISTS p FORCE",
            "CALL system.drop_partition(table => 't', partition => 'p', if_exists => true)",
        ),
        (
            "TRUNCATE TABLE t PARTITION(p, q)",
            "CALL system.truncate_partition(table => 't', partitions => 'p,q')",
        ),
        ("INSERT INTO t PARTITION p (k) SELECT 1;", "INSERT INTO `t` PARTITION (`p`) (k) SELECT 1"),
        ("insert into table d.t partitions (p, `q`) VALUES (1)", "INSERT INTO `d`.`t` PARTITION (`p`, `q`) VALUES (1)"),
        (
            'ALTER TABLE t SET ("Colocate_With" = "g", "replication_num" = "2")',
            "ALTER TABLE `t` SET TBLPROPERTIES ('colocate_with' = 'g', 'replication_num' = '2')",
        ),
        ("-- a comment\n/* and one */ drop table t force;", "DROP TABLE `t` PURGE"),
    ],
)  # fmt: skip
def test_other_statements(sql: str, spark: str) -> None:
    assert statement(sql) == spark


@pytest.mark.parametrize(
    ("sql", "spark", "partitions"),
    [
        ("DELETE FROM t PARTITION p WHERE k = 1 OR k = 2;", "DELETE FROM `t` WHERE k = 1 OR k = 2", ("p",)),
        ("DELETE FROM t PARTITIONS (`p`, q)", "DELETE FROM `t`", ("p", "q")),
        ("delete from d.t as x partition (p) where x.k in ('a;b')", "DELETE FROM `d`.`t` AS `x` WHERE x.k in ('a;b')",
         ("p",)),
        ("DELETE FROM t x PARTITIONS p", "DELETE FROM `t` AS `x`", ("p",)),
    ],
)  # fmt: skip
def test_delete_from_partitions_is_a_delete_and_their_names(sql: str, spark: str, partitions: tuple[str, ...]) -> None:
    assert translate(sql) == Translation(spark, partitions=partitions)


def test_keys_and_aggregations_become_properties() -> None:
    tail = "DISTRIBUTED BY HASH(k) BUCKETS 4"
    for sql, expected in {
        f"CREATE TABLE t (k INT, `v 1` INT REPLACE_IF_NOT_NULL, w INT MAX NOT NULL) AGGREGATE KEY(`K`) {tail}": (
            "'key_model' = 'aggregate', 'key_columns' = 'k', "
            '\'value_aggregates\' = \'{"v 1":"REPLACE_IF_NOT_NULL","w":"MAX"}\''
        ),
        f"CREATE TABLE t (k INT, v INT SUM) {tail}": (
            "'key_model' = 'aggregate', 'key_columns' = 'k', 'value_aggregates' = '{\"v\":\"SUM\"}'"
        ),
        f"CREATE TABLE t (k INT, v INT) UNIQUE KEY(k) {tail}": "'key_model' = 'unique', 'key_columns' = 'k'",
        f"CREATE TABLE t (k INT, v INT) PRIMARY KEY(k) {tail}": "'key_model' = 'unique', 'key_columns' = 'k'",
    }.items():
        assert statement(sql).endswith(f"INTO 4 BUCKETS TBLPROPERTIES ({expected})")


@pytest.mark.parametrize(
    "sql",
    ["", "SELECT 1", "SELEC 1", "'CREATE' TABLE", "GRAN x", "-- CREATE TABLE", "SHOW PROC '/x'", "DROP TABLE t",
     "INSERT INTO t PARTITION (p) SELEC 1", "INSERT INTO table SELEC 1", "DELETE FROM t WHERE k = = 1"],
)  # fmt: skip
def test_what_is_no_statement_of_doris_is_left_to_spark(sql: str) -> None:
    assert translate(sql) is None


def test_ranges_become_properties_with_all_bounds_filled_up() -> None:
    assert statement(
        "CREATE TABLE t (d DATE, id INT) PARTITION BY RANGE(`d`, id) (PARTITION a VALUES LESS THAN ('2017-02-01', '5') "
        'PARTITION `b` VALUES [("2017-03-01"), ("2017-04-01", MAXVALUE)), PARTITION c VALUES LESS THAN MAXVALUE) '
        "DISTRIBUTED BY HASH(id) BUCKETS 4"
    ).endswith(
        "INTO 4 BUCKETS TBLPROPERTIES ('range_partition_by' = 'd, id', 'range_partitions' = '["
        '{"name":"a","lower":["MINVALUE","MINVALUE"],"upper":["2017-02-01","5"]},'
        '{"name":"b","lower":["2017-03-01","MINVALUE"],"upper":["2017-04-01","MAXVALUE"]},'
        '{"name":"c","lower":["2017-04-01","MAXVALUE"],"upper":["MAXVALUE","MAXVALUE"]}'
        "]')"
    )
