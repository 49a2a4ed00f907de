"""Statements that Spark has under another spelling."""

import pytest
from spark_colocate.dialect import translate
from spark_colocate.errors import DialectError


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        (
            'ALTER COLOCATE GROUP db.g SET ("replication_num" = "2")',
            "CALL system.set_replication(group => 'db.g', n => 2)",
        ),
        (
            'ALTER COLOCATE GROUP g SET ("replication_allocation" = "tag.location.default: 3")',
            "CALL system.set_replication(group => 'g', n => 3)",
        ),
        ("ALTER TABLE db.t RENAME u", "ALTER TABLE `db`.`t` RENAME TO `db`.`u`"),
        ("ALTER TABLE t RENAME COLUMN a b", "ALTER TABLE `t` RENAME COLUMN `a` TO `b`"),
        ("ALTER TABLE t COMPACT", "CALL system.compact(table => 't')"),
        ("ADMIN COMPACT TABLE t", "CALL system.compact(table => 't')"),
        ('ALTER TABLE t MODIFY COMMENT "a"', "COMMENT ON TABLE `t` IS 'a'"),
        ('ALTER TABLE t COMMENT = "a"', "COMMENT ON TABLE `t` IS 'a'"),
        ('ALTER TABLE t MODIFY COLUMN c COMMENT "a"', "ALTER TABLE `t` ALTER COLUMN `c` COMMENT 'a'"),
        ("ALTER TABLE t MODIFY COLUMN c DATETIME", "ALTER TABLE `t` ALTER COLUMN `c` TYPE TIMESTAMP_NTZ"),
        ("ALTER TABLE t ADD COLUMN c LARGEINT AFTER b", "ALTER TABLE `t` ADD COLUMN `c` DECIMAL(38,0) AFTER `b`"),
        ("ALTER TABLE t ADD COLUMN (a INT, b TEXT)", "ALTER TABLE `t` ADD COLUMNS (`a` INT, `b` STRING)"),
        (
            "ALTER TABLE t DROP PARTITIONS IF EXISTS (p)",
            "CALL system.drop_partition(table => 't', partition => 'p', if_exists => true)",
        ),
        (
            "ALTER TABLE t TRUNCATE PARTITION (p, q)",
            "CALL system.truncate_partition(table => 't', partitions => 'p,q')",
        ),
        ("SET SESSION disable_colocate_join = 'true'", "SET disable_colocate_join = true"),
        ("SET @@session.a = 1", "SET a = 1"),
        ("DROP DATABASE IF EXISTS d FORCE", "DROP DATABASE IF EXISTS `d` CASCADE"),
        ("SWITCH c", "SET CATALOG `c`"),
        ("TRUNCATE TABLE t FORCE", "TRUNCATE TABLE `t`"),
        ("ANALYZE TABLE t (a, b)", "ANALYZE TABLE `t` COMPUTE STATISTICS FOR COLUMNS `a`, `b`"),
        ("ANALYZE DATABASE d", "ANALYZE TABLES IN `d` COMPUTE STATISTICS"),
        ("EXPLAIN VERBOSE SELECT 1", "EXPLAIN FORMATTED SELECT 1"),
        ("EXPLAIN COSTS SELECT 1", "EXPLAIN COST SELECT 1"),
        ("DESC OPTIMIZED PLAN SELECT 1", "EXPLAIN EXTENDED SELECT 1"),
        ("SHOW FULL TABLES FROM d LIKE 'a%'", "SHOW TABLES FROM d LIKE 'a%'"),
        ("SHOW FULL COLUMNS FROM t FROM d", "DESCRIBE TABLE `d`.`t`"),
        ("SHOW TABLE STATUS FROM d", "SHOW TABLE EXTENDED FROM d LIKE '*'"),
        ("SHOW CREATE VIEW v", "SHOW CREATE TABLE `v`"),
        ('ADMIN SET ALL FRONTENDS CONFIG ("a" = "b")', "CALL system.set_config(key => 'a', value => 'b')"),
        ("SHOW FRONTEND CONFIG LIKE 'a%'", "CALL system.show_config(pattern => 'a%')"),
    ],
)
def test_the_spark_statement(text: str, spark: str) -> None:
    done = translate(text)
    assert done is not None
    assert done.statement == spark
    assert done.warnings == ()


def test_a_listing_has_a_query_of_its_rows() -> None:
    done = translate("SHOW PARTITIONS FROM t WHERE PartitionName = 'p' ORDER BY PartitionId LIMIT 1")
    assert done is not None
    assert done.statement == "CALL system.show_partitions(table => 't')"
    assert done.query == "SELECT * FROM shown WHERE PartitionName = 'p' ORDER BY PartitionId LIMIT 1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SET GLOBAL a = 1", "SET GLOBAL a: it is set in this session only."),
        ("ALTER TABLE t COMPACT (p)", "All of the table is compacted; left out: (p)."),
        ("ALTER TABLE t MODIFY COLUMN c BIGINT NOT NULL", "left out: NOT NULL."),
        ("ANALYZE TABLE t WITH SYNC", "left out: WITH SYNC."),
        ('CREATE DATABASE d PROPERTIES ("a" = "b")', "Without a meaning for a database, and left out: a."),
    ],
)
def test_what_is_otherwise_is_told(text: str, words: str) -> None:
    done = translate(text)
    assert done is not None
    assert words in " ".join(done.warnings)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ALTER TABLE t ADD COLUMN c INT SUM DEFAULT '0'", "column 26: the key model of a table does not change"),
        ("ALTER TABLE t ADD COLUMN c INT DEFAULT '0'", "column 26: the rows that are there have NULL"),
        ("ALTER TABLE t ADD COLUMN a INT, ADD COLUMN b INT", "column 31: there is one change in a statement"),
        ("ALTER TABLE t MODIFY COLUMN c INT AFTER d", "column 35: ALTER COLUMN changes one thing at a time"),
        (
            "ALTER TABLE t DROP PARTITIONS (p, q)",
            "Write ALTER TABLE t DROP PARTITION p; ALTER TABLE t DROP PARTITION q.",
        ),
        ('ALTER COLOCATE GROUP g SET ("x" = "2")', "column 29: a group has the properties replication_num"),
        ("SET GLOBAL a = 1, b = 2", "column 17: SET has one variable in a statement"),
    ],
)
def test_what_is_refused_says_what_to_write(text: str, words: str) -> None:
    with pytest.raises(DialectError) as refused:
        translate(text)
    assert words in str(refused.value)


def test_a_column_may_be_named_index() -> None:
    done = translate("CREATE TABLE t (index INT, INDEX i (index) USING BITMAP) DISTRIBUTED BY HASH(index) BUCKETS 4")
    assert done is not None
    assert "(`index` INT)" in done.statement
    assert done.warnings == ("Without a meaning in Spark, and left out: INDEX i.",)


def test_a_bound_that_was_not_written_is_shown_as_the_least_value_of_its_type() -> None:
    done = translate(
        "CREATE TABLE t (d DATE, n SMALLINT) PARTITION BY RANGE(d, n) "
        "(PARTITION p VALUES [('0000-01-01', '-32768'), ('2023-01-01', '-32768')))"
    )
    assert done is not None
    assert '"lower":["MINVALUE","MINVALUE"],"upper":["2023-01-01","MINVALUE"]' in done.statement
