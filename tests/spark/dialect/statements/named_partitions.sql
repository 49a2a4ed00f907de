-- Statements that name range partitions, as Doris' and StarRocks' manuals spell them; documents_000_002.sql says how to
-- read this.

-- title: a table with partitions, in a group
-- runs
CREATE TABLE visits (
`day` DATE NOT NULL,
`user_id` INT(11) NOT NULL,
`city` VARCHAR(20)
) ENGINE=OLAP
DUPLICATE KEY(`day`, `user_id`)
PARTITION BY RANGE(`day`)
(
PARTITION p201701 VALUES LESS THAN ("2017-02-01"),
PARTITION p201702 VALUES LESS THAN ("2017-03-01")
)
DISTRIBUTED BY HASH(`user_id`) BUCKETS 4
PROPERTIES ("colocate_with" = "users");

-- title: another table of the group
-- runs
CREATE TABLE users (user_id INT, name STRING) DISTRIBUTED BY HASH(user_id) BUCKETS 4
PROPERTIES ("colocate_with" = "users");

-- title: rows for one partition
-- runs
INSERT INTO visits PARTITION(p201701) VALUES ("2017-01-05", 1, "Bonn"), ("2017-01-06", 2, "Kiel");

-- title: rows for two, by a list of columns
-- runs
INSERT INTO visits PARTITION(p201701, p201702) (city, user_id, `day`)
SELECT "Ulm", user_id, date_add(`day`, 31) FROM visits;

-- title: the word PARTITIONS
-- runs
INSERT INTO visits PARTITIONS (p201702) VALUES ("2017-02-07", 3, "Hof");

-- title: a row of another partition
-- refused: RANGE_OTHER_PARTITION
-- the row with day = 2017-02-01
-- belongs to partition p201702 [2017-02-01, 2017-03-01)
INSERT INTO visits PARTITION(p201701) VALUES ("2017-01-31", 1, "x"), ("2017-02-01", 1, "x");

-- title: a row of no partition
-- refused: RANGE_NO_PARTITION
-- the row with day = 2017-03-01
INSERT INTO visits VALUES ("2017-03-01", 1, "x");

-- title: a partition that is not there
-- refused: RANGE_PARTITION_UNKNOWN
-- (partitions: p201701, p201702)
INSERT INTO visits PARTITION(p201703) VALUES ("2017-03-01", 1, "x");

-- title: a partition more
-- runs
ALTER TABLE visits ADD PARTITION p201703 VALUES LESS THAN ("2017-04-01");

-- title: a mistyped one
-- refused: DORIS_SYNTAX
-- at line 2, column 23
ALTER TABLE visits
ADD PARTITION p201704 VALUE LESS THAN ("2017-05-01");

-- title: a row in the new partition
-- runs
INSERT INTO visits VALUES ("2017-03-01", 4, "Jena");

-- title: less rows in a partition
-- runs
DELETE FROM visits PARTITION p201702 WHERE user_id = 3;

-- title: less rows in two
-- runs
DELETE FROM visits PARTITIONS (p201701, p201702) WHERE city = "Kiel";

-- title: no rows of a partition that is not there
-- refused: RANGE_PARTITION_UNKNOWN
-- (partitions: p201701, p201702, p201703)
DELETE FROM visits PARTITION p201704 WHERE user_id = 3;

-- title: the rows
-- rows
-- 2017-01-05 | 1 | Bonn
-- 2017-02-05 | 1 | Ulm
-- 2017-02-06 | 2 | Ulm
-- 2017-03-01 | 4 | Jena
SELECT * FROM visits ORDER BY `day`;

-- title: rows to join with
-- runs
INSERT INTO users VALUES (1, "Ada"), (2, "Bo");

-- title: a plan, not the columns
-- runs
SET spark.colocate.dialect = doris;

-- title: no broadcast
-- runs
SET spark.sql.autoBroadcastJoinThreshold = -1;

-- title: the plan of a join
-- says: colocate: true
DESC SELECT * FROM visits JOIN users ON visits.user_id = users.user_id;

-- title: its rows
-- rows
-- 1 | Ada | 2
-- 2 | Bo | 1
SELECT user_id, name, count(*) FROM visits JOIN users USING (user_id) GROUP BY user_id, name ORDER BY user_id;

-- title: the group
-- rows
-- {db}.{group} | {db}_users | {visits}, {users} | 4 | 1 | int | True
SHOW PROC '/colocation_group';

-- title: all rows of a partition
-- runs
TRUNCATE TABLE visits PARTITION(p201701);

-- title: the partition, too
-- runs
ALTER TABLE visits DROP PARTITION p201701;

-- title: what is left
-- rows
-- 3
SELECT count(*) FROM visits;

-- title: no table
-- runs
DROP TABLE visits FORCE;

-- title: nor the other one
-- runs
DROP TABLE users FORCE;
