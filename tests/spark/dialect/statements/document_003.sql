-- Statements of the document on data division; documents_000_002.sql says how to read this.

-- title: the database of the example
-- runs
CREATE DATABASE example_db;

-- title: the example
-- runs
CREATE TABLE IF NOT EXISTS example_db.expamle_tbl
(
`user_id` LARGEINT NOT NULL COMMENT "user id",
`date` DATE NOT NULL COMMENT "date and time of data injection",
`timestamp` DATETIME NOT NULL COMMENT "timestamp of data injection",
`city` VARCHAR(20) COMMENT "user's city",
`age` SMALLINT COMMENT "user's age",
`sex` TINYINT COMMENT "user's sex",
`last_visit_date` DATETIME REPLACE DEFAULT "1970-01-01 00:00:00" COMMENT "last visit time of user",
`cost` BIGINT SUM DEFAULT "0" COMMENT "Total consumption of user",
`max_dwell_time` INT MAX DEFAULT "0" COMMENT "Maximum dwelling time of users",
`min_dwell_time` INT MIN DEFAULT "99999" COMMENT "Minimum dwelling time of users"
)
ENGINE=olap
AGGREGATE KEY(`user_id`, `date`, `timestamp`, `city`, `age`, `sex`)
PARTITION BY RANGE(`date`)
(
PARTITION `p201701` VALUES LESS THAN ("2017-02-01"),
PARTITION `p201702` VALUES LESS THAN ("2017-03-01"),
PARTITION `p201703` VALUES LESS THAN ("2017-04-01")
)
DISTRIBUTED BY HASH(`user_id`) BUCKETS 16
PROPERTIES
(
"replication_num" = "3",
"storage_medium" = "SSD",
"storage_cooldown_time" = "2018-01-01 12:00:00"
);

-- title: the end of that database
-- runs
DROP DATABASE example_db CASCADE;

-- title: the example in the database of this test
-- runs
CREATE TABLE IF NOT EXISTS expamle_tbl
(
`user_id` LARGEINT NOT NULL COMMENT "user id",
`date` DATE NOT NULL COMMENT "date and time of data injection",
`timestamp` DATETIME NOT NULL COMMENT "timestamp of data injection",
`city` VARCHAR(20) COMMENT "user's city",
`age` SMALLINT COMMENT "user's age",
`sex` TINYINT COMMENT "user's sex",
`last_visit_date` DATETIME REPLACE DEFAULT "1970-01-01 00:00:00" COMMENT "last visit time of user",
`cost` BIGINT SUM DEFAULT "0" COMMENT "Total consumption of user",
`max_dwell_time` INT MAX DEFAULT "0" COMMENT "Maximum dwelling time of users",
`min_dwell_time` INT MIN DEFAULT "99999" COMMENT "Minimum dwelling time of users"
)
ENGINE=olap
AGGREGATE KEY(`user_id`, `date`, `timestamp`, `city`, `age`, `sex`)
PARTITION BY RANGE(`date`)
(
PARTITION `p201701` VALUES LESS THAN ("2017-02-01"),
PARTITION `p201702` VALUES LESS THAN ("2017-03-01"),
PARTITION `p201703` VALUES LESS THAN ("2017-04-01")
)
DISTRIBUTED BY HASH(`user_id`) BUCKETS 16
PROPERTIES
(
"replication_num" = "3",
"storage_medium" = "SSD",
"storage_cooldown_time" = "2018-01-01 12:00:00"
);

-- title: a row whose other columns have their defaults
-- runs
INSERT INTO expamle_tbl (user_id, `date`, `timestamp`, city, age, sex)
VALUES (1, '2017-01-01', '2017-01-01 10:00:00', 'Beijing', 20, 0);

-- title: the row
-- rows
-- 1 | 2017-01-01 | 2017-01-01 10:00:00 | Beijing | 20 | 0 | 1970-01-01 00:00:00 | 0 | 0 | 99999
SELECT * FROM expamle_tbl;

-- title: more rows of the same key
-- runs
INSERT INTO expamle_tbl VALUES
(1, '2017-01-01', '2017-01-01 10:00:00', 'Beijing', 20, 0, '2017-01-01 07:00:00', 35, 2, 20),
(1, '2017-01-01', '2017-01-01 10:00:00', 'Beijing', 20, 0, '2017-01-01 06:00:00', 15, 10, 3);

-- title: they are one row
-- rows
-- 1 | 2017-01-01 | 2017-01-01 10:00:00 | Beijing | 20 | 0 | 2017-01-01 06:00:00 | 50 | 10 | 3
SELECT * FROM expamle_tbl;

-- title: a partition more
-- runs
ALTER TABLE expamle_tbl ADD PARTITION p201705 VALUES LESS THAN ("2017-06-01");

-- title: a partition less
-- runs
ALTER TABLE expamle_tbl DROP PARTITION p201703;

-- title: one that leaves a hole
-- runs
ALTER TABLE expamle_tbl DROP PARTITION p201702;

-- title: into the hole
-- runs
ALTER TABLE expamle_tbl ADD PARTITION p201702new VALUES LESS THAN ("2017-03-01");

-- title: the first one
-- runs
ALTER TABLE expamle_tbl DROP PARTITION p201701;

-- title: another first one
-- runs
ALTER TABLE expamle_tbl ADD PARTITION p201612 VALUES LESS THAN ("2017-01-01");

-- title: both bounds, and a number of buckets of its own
-- runs
ALTER TABLE expamle_tbl ADD PARTITION p201707 VALUES [("2017-07-01"), ("2017-08-01")) DISTRIBUTED BY HASH(`user_id`) BUCKETS 32;

-- title: the partitions
-- runs
SHOW PARTITIONS FROM expamle_tbl;

-- title: ranges of several columns
-- runs
CREATE TABLE several (`date` DATE, `id` INT, `v` INT)
PARTITION BY RANGE(`date`, `id`)
(
PARTITION `p201701_1000` VALUES LESS THAN ("2017-02-01", "1000"),
PARTITION `p201702_2000` VALUES LESS THAN ("2017-03-01", "2000"),
PARTITION `p201703_all` VALUES LESS THAN ("2017-04-01")
)
DISTRIBUTED BY HASH(`id`) BUCKETS 4;

-- title: the size of a table
-- rows
-- expamle_tbl
SHOW DATA FROM expamle_tbl;
