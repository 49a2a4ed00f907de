"""SHOW CREATE TABLE in Doris' spelling: Spark's statement, the other way round."""

import pytest
from spark_colocate.dialect import Options, doris_create, translate

SPARK = r"""CREATE TABLE spark_catalog.db.t (
  k1 INT NOT NULL COMMENT 'it\'s the "key"',
  `a b` DECIMAL(38,0),
  d DATE DEFAULT DATE'2017-01-01',
  ts TIMESTAMP_NTZ NOT NULL DEFAULT localtimestamp(),
  s VARCHAR(20) DEFAULT 'it\'s',
  n BIGINT DEFAULT -5,
  f DOUBLE DEFAULT CAST('1.5' AS DOUBLE),
  b BOOLEAN DEFAULT true,
  x ARRAY<STRUCT<a: INT, m: MAP<STRING, TIMESTAMP_NTZ>>>)
USING delta
CLUSTERED BY (k1, `a b`)
INTO 8 BUCKETS
COMMENT 'all of it'
TBLPROPERTIES (
  'colocate_with' = 'g',
  'delta.feature.allowColumnDefaults' = 'supported',
  'key_columns' = 'k1, a b',
  'key_model' = 'duplicate',
  'parquet.block.size' = '33554432')
"""
DORIS = r"""CREATE TABLE `t` (
  `k1` INT NOT NULL COMMENT "it's the \"key\"",
  `a b` LARGEINT NULL,
  `d` DATE NULL DEFAULT "2017-01-01",
  `ts` DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
  `s` VARCHAR(20) NULL DEFAULT "it's",
  `n` BIGINT NULL DEFAULT "-5",
  `f` DOUBLE NULL DEFAULT "1.5",
  `b` BOOLEAN NULL DEFAULT "true",
  `x` ARRAY<STRUCT<a: INT, m: MAP<STRING, DATETIME>>> NULL
) ENGINE=OLAP
DUPLICATE KEY(`k1`, `a b`)
COMMENT "all of it"
DISTRIBUTED BY HASH(`k1`, `a b`) BUCKETS 8
PROPERTIES (
"colocate_with" = "g",
"parquet.block.size" = "33554432"
);"""


def test_every_clause_has_its_words() -> None:
    assert doris_create(SPARK, Options()) == DORIS


def test_what_is_shown_makes_the_same_table() -> None:
    done = translate(DORIS)
    assert done is not None
    assert done.warnings == ()
    again = done.statement
    for part in ("`a b` DECIMAL(38,0)", "DEFAULT localtimestamp()", "INTO 8 BUCKETS"):
        assert part in again
    for part in ("COMMENT 'it\\'s the \"key\"'", "DEFAULT DATE'2017-01-01'", "DEFAULT -5", "'key_columns' = 'k1, a b'"):
        assert part in again


def test_keys_and_ranges_have_their_clauses() -> None:
    doris = (
        "CREATE TABLE t (d DATE, k INT, v INT SUM) AGGREGATE KEY(d, k) PARTITION BY RANGE(d) "
        '(PARTITION p VALUES LESS THAN ("2017-02-01"), PARTITION q VALUES [("2017-03-01"), (MAXVALUE)) '
        "DISTRIBUTED BY HASH(k) BUCKETS 8) "
        "DISTRIBUTED BY HASH(k) BUCKETS 4"
    )
    first = translate(doris)
    assert first is not None
    shown = doris_create(first.statement, Options())
    assert shown == (
        "CREATE TABLE `t` (\n  `d` DATE NULL,\n  `k` INT NULL,\n  `v` INT SUM NULL\n) ENGINE=OLAP\n"
        "AGGREGATE KEY(`d`, `k`)\nPARTITION BY RANGE(`d`)\n"
        '(PARTITION `p` VALUES [(MINVALUE), ("2017-02-01")),\nPARTITION `q` VALUES [("2017-03-01"), (MAXVALUE)) '
        "DISTRIBUTED BY HASH(`k`) BUCKETS 8)\n"
        "DISTRIBUTED BY HASH(`k`) BUCKETS 4;"
    )
    assert translate(shown) == first


@pytest.mark.parametrize(
    "spark",
    [
        "CREATE TABLE t (k TIMESTAMP) USING delta",
        "CREATE TABLE t (k INT) USING parquet",
        "CREATE TABLE t (k INT, p INT) USING delta PARTITIONED BY (p)",
        "CREATE TABLE t (k INT, p INT GENERATED ALWAYS AS (k % 2)) USING delta",
        "CREATE TABLE t (k INT) USING delta LOCATION 'file:/x'",
        "CREATE TABLE t (k STRING COLLATE UTF8_LCASE) USING delta",
        "CREATE VIEW v AS SELECT 1",
    ],
)
def test_a_table_that_doris_has_no_words_for_stays_as_spark_writes_it(spark: str) -> None:
    assert doris_create(spark, Options()) is None
