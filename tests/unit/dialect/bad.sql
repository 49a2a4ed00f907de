-- title: an unknown type
CREATE TABLE t (
  k INT,
  v STRNG
) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: no comma
CREATE TABLE t (k INT v INT) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: an unknown aggregation
CREATE TABLE t (k INT, v INT AVG) AGGREGATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: an aggregation that Spark has no type for
CREATE TABLE t (k INT, v INT BITMAP_UNION) AGGREGATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a refused type
CREATE TABLE t (k INT, v BITMAP) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: DECIMAL without a precision
CREATE TABLE t (k INT, v DECIMAL) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a precision out of range
CREATE TABLE t (k INT, v DECIMAL(40, 2)) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a type without a sign
CREATE TABLE t (k INT UNSIGNED) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: no room
CREATE TABLE t (k INT, v VARCHAR(0)) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a nested type without its end
CREATE TABLE t (k INT, v ARRAY<INT) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a column twice
CREATE TABLE t (k INT, K INT) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a default that is not a value of the type
CREATE TABLE t (k INT, v TINYINT DEFAULT "128") DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a default that is no date
CREATE TABLE t (k INT, v DATE DEFAULT "2017-02-30") DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a default that is too long
CREATE TABLE t (k INT, v VARCHAR(2) DEFAULT "abc") DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: no buckets
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 0
-- title: a negative number of buckets
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS -4
-- title: too many buckets
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 100001
-- title: buckets at random
CREATE TABLE t (k INT) DISTRIBUTED BY RANDOM BUCKETS 4
-- title: a bucket key that the table lacks
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(x) BUCKETS 4
-- title: a value column as bucket key
CREATE TABLE t (k INT, v INT SUM) AGGREGATE KEY(k) DISTRIBUTED BY HASH(v) BUCKETS 4
-- title: a group without buckets
CREATE TABLE t (k INT) ENGINE=olap
PROPERTIES ("colocate_with" = "g")
-- title: key columns after value columns
CREATE TABLE t (v INT, k INT) DUPLICATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: key columns in another order
CREATE TABLE t (a INT, b INT) DUPLICATE KEY(b, a) DISTRIBUTED BY HASH(a) BUCKETS 4
-- title: a key that the table lacks
CREATE TABLE t (k INT) DUPLICATE KEY(x) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a value column in AGGREGATE KEY
CREATE TABLE t (k INT, v INT SUM) AGGREGATE KEY(k, v) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: no aggregation on a value column
CREATE TABLE t (k INT, v INT) AGGREGATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: an aggregation where rows are kept as they are
CREATE TABLE t (k INT, v INT SUM) DUPLICATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: two kinds of keys
CREATE TABLE t (k INT) DUPLICATE KEY(k) UNIQUE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a key of a type that is no key
CREATE TABLE t (k DOUBLE, v INT) UNIQUE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a sum of texts
CREATE TABLE t (k INT, v VARCHAR(10) SUM) AGGREGATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a key model without buckets
CREATE TABLE t (k INT, v INT SUM) AGGREGATE KEY(k)
-- title: a clause twice
CREATE TABLE t (k INT) COMMENT "a" COMMENT "b"
-- title: a clause of Spark
CREATE TABLE t (k INT) USING delta DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: another engine
CREATE TABLE t (k INT) ENGINE=mysql PROPERTIES ("host" = "h")
-- title: an external table
CREATE EXTERNAL TABLE t (k INT) ENGINE=olap
-- title: neither columns nor a query
CREATE TABLE t DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: partitions by list
CREATE TABLE t (k INT) PARTITION BY LIST(k) (PARTITION p VALUES IN ("1")) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a property twice
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("colocate_with" = "g", "COLOCATE_WITH" = "h")
-- title: a property without a value
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("colocate_with" = )
-- title: a property without quotes
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES (colocate_with = "g")
-- title: typographic quotes
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4
PROPERTIES (“colocate_with” = “g”)
-- title: a replication that is no number
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("replication_num" = "three")
-- title: no replication
CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("replication_num" = "0")
-- title: a quote that is not closed
CREATE TABLE t (k INT COMMENT "it's") DISTRIBUTED BY HASH(k)
BUCKETS 4 PROPERTIES ("colocate_with" = "g)
-- title: the text ends too early
CREATE TABLE t (k INT,
-- title: words behind the end
ALTER TABLE t SET ("colocate_with" = "g") NOW
-- title: nothing that has a meaning
ALTER TABLE t SET ("storage_medium" = "SSD")
-- title: a temporary partition
ALTER TABLE t ADD TEMPORARY PARTITION p VALUES LESS THAN ("1")
-- title: a range without its end
ALTER TABLE t ADD PARTITION p VALUES [("1"), ("2"))) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a range of another kind
ALTER TABLE t ADD PARTITION p VALUES IN ("1")
-- title: two configurations
ADMIN SET FRONTEND CONFIG ("a" = "b", "c" = "d")
-- title: a configuration of a backend
ADMIN SET BACKEND CONFIG ("a" = "b")
-- title: help on something else
HELP ADMIN REPAIR TABLE
-- title: a database to recover
RECOVER DATABASE d
-- title: a range column that the table lacks
CREATE TABLE t (k INT) PARTITION BY RANGE(d) (PARTITION p VALUES LESS THAN ("1")) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a value column in a range
CREATE TABLE t (k INT, v INT SUM) PARTITION BY RANGE(v) (PARTITION p VALUES LESS THAN ("1")) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a range column of another type
CREATE TABLE t (k INT, s STRING) PARTITION BY RANGE(s) (PARTITION p VALUES LESS THAN ("1")) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: no partition
CREATE TABLE t (k INT) PARTITION BY RANGE(k) () DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: ranges that overlap
CREATE TABLE t (k INT, d DATE) PARTITION BY RANGE(d) (
  PARTITION p VALUES LESS THAN ("2017-02-01"),
  PARTITION q VALUES [("2017-01-01"), ("2017-03-01"))
) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a range that runs backwards
CREATE TABLE t (k INT) PARTITION BY RANGE(k) (PARTITION p VALUES [("5"), ("4"))) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a partition twice
CREATE TABLE t (k INT) PARTITION BY RANGE(k) (
  PARTITION p VALUES LESS THAN ("1"),
  PARTITION P VALUES LESS THAN ("2")
) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: MAXVALUE before another range
CREATE TABLE t (k INT) PARTITION BY RANGE(k) (
  PARTITION p VALUES LESS THAN MAXVALUE,
  PARTITION q VALUES LESS THAN ("2")
) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a bound of the wrong type
CREATE TABLE t (k INT) PARTITION BY RANGE(k) (PARTITION p VALUES LESS THAN ("2017-02-01")) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: a bound of too many values
CREATE TABLE t (k INT) PARTITION BY RANGE(k) (PARTITION p VALUES LESS THAN ("1", "2")) DISTRIBUTED BY HASH(k) BUCKETS 4
-- title: DELETE from a temporary partition
DELETE FROM t TEMPORARY PARTITION p WHERE k = 1
-- title: DELETE by a second table
DELETE FROM t PARTITION p USING u WHERE t.k = u.k
-- title: DELETE from a number
DELETE FROM t PARTITIONS (p, 1)
-- title: INSERT into a temporary partition
INSERT INTO t TEMPORARY PARTITION (p) VALUES (1)
-- title: INSERT of nothing
INSERT INTO t PARTITION p
-- title: a partition by another bucket key
CREATE TABLE t (d DATE, k INT) PARTITION BY RANGE(d)
(PARTITION p VALUES LESS THAN ("2017-02-01"), PARTITION q VALUES LESS THAN (MAXVALUE) DISTRIBUTED BY HASH(d) BUCKETS 8)
DISTRIBUTED BY HASH(k) BUCKETS 4

-- title: steps without an interval
CREATE TABLE t (d DATE, k INT) PARTITION BY RANGE(d) (FROM ("2017-01-01") TO ("2018-01-01")) DISTRIBUTED BY HASH(k);

-- title: a step of numbers for a date
CREATE TABLE t (d DATE, k INT) PARTITION BY RANGE(d) (START ("2017-01-01") END ("2018-01-01") EVERY (1)) DISTRIBUTED BY HASH(k);

-- title: steps of hours for a date
CREATE TABLE t (d DATE, k INT) PARTITION BY RANGE(d) (FROM ("2017-01-01") TO ("2017-01-02") INTERVAL 1 HOUR) DISTRIBUTED BY HASH(k);

-- title: steps backwards
CREATE TABLE t (d DATE, k INT) PARTITION BY RANGE(d) (FROM ("2018-01-01") TO ("2017-01-01") INTERVAL 1 DAY) DISTRIBUTED BY HASH(k);

-- title: a million steps
CREATE TABLE t (k INT) PARTITION BY RANGE(k) (FROM (1) TO (1000000) INTERVAL 1) DISTRIBUTED BY HASH(k);

-- title: steps of nothing
CREATE TABLE t (k INT) PARTITION BY RANGE(k) (START ("1") END ("9") EVERY (0)) DISTRIBUTED BY HASH(k);

-- title: partitions while rows are loaded
CREATE TABLE t (d DATETIME, k INT) AUTO PARTITION BY RANGE(date_trunc(d, 'month')) () DISTRIBUTED BY HASH(k);

-- title: partitions by an expression
CREATE TABLE t (d DATETIME, k INT) PARTITION BY date_trunc('day', d) DISTRIBUTED BY HASH(k);

-- title: partitions by columns
CREATE TABLE t (d DATETIME, k INT) PARTITION BY (k) DISTRIBUTED BY HASH(k);

-- title: a range of 128 bits
CREATE TABLE t (k LARGEINT) PARTITION BY RANGE(k) (PARTITION p VALUES LESS THAN MAXVALUE) DISTRIBUTED BY HASH(k);

-- title: aggregations of a query
CREATE TABLE t AGGREGATE KEY(k) DISTRIBUTED BY HASH(k) AS SELECT 1 AS k, 2 AS v;

-- title: what orders the rows of a key
CREATE TABLE t (k INT, v INT) UNIQUE KEY(k) DISTRIBUTED BY HASH(k) PROPERTIES ("function_column.sequence_col" = "v");

-- title: partitions of all that comes
INSERT OVERWRITE t PARTITION(*) SELECT 1;

-- title: a column that counts by itself
CREATE TABLE t (k INT, v BIGINT AUTO_INCREMENT) DISTRIBUTED BY HASH(k);

-- title: steps of two columns
CREATE TABLE t (d DATE, k INT) PARTITION BY RANGE(d, k) (FROM ("2025-01-01") TO ("2025-02-01") INTERVAL 1 DAY) DISTRIBUTED BY HASH(k);
