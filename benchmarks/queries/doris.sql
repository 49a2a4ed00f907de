-- ./run demo --doris runs these statements. Each has a title; one with the word `refused` in it is to fail.
-- {GroupId} stands for the id that SHOW PROC has listed.

-- title: A database, and the meaning that Doris gives to DESC SELECT
CREATE DATABASE example_db;
-- title: The tables below are in it
USE example_db;
-- title: DESC SELECT shows the plan
SET spark.colocate.dialect = doris;
-- title: Spark would broadcast tables as small as these
SET spark.sql.autoBroadcastJoinThreshold = -1;

-- title: The first table, with aggregate keys, two range partitions and eight buckets, makes the group
CREATE TABLE `tbl1` (
`k1` date NOT NULL COMMENT "",
`k2` int(11) NOT NULL COMMENT "",
`v1` int(11) SUM NOT NULL COMMENT ""
) ENGINE=OLAP
AGGREGATE KEY(`k1`, `k2`)
PARTITION BY RANGE(`k1`)
(
PARTITION p1 VALUES LESS THAN ('2019-05-31'),
PARTITION p2 VALUES LESS THAN ('2019-06-30')
)
DISTRIBUTED BY HASH(`k2`) BUCKETS 8
PROPERTIES (
"colocate_with" = "group1"
);

-- title: The second table joins the group: the same number of buckets, and a key of the same type
CREATE TABLE `tbl2` (
`k1` datetime NOT NULL COMMENT "",
`k2` int(11) NOT NULL COMMENT "",
`v1` double SUM NOT NULL COMMENT ""
) ENGINE=OLAP
AGGREGATE KEY(`k1`, `k2`)
DISTRIBUTED BY HASH(`k2`) BUCKETS 8
PROPERTIES (
"colocate_with" = "group1"
);

-- title: A table that does not fit is refused
CREATE TABLE tbl3 (k2 int, v1 int) DISTRIBUTED BY HASH(k2) BUCKETS 10 PROPERTIES("colocate_with" = "group1");

-- title: A load, shuffled to the buckets once
INSERT INTO tbl1 SELECT date_add(DATE'2019-05-01', CAST(id % 60 AS INT)), id % 1000, 1 FROM range(100000);
-- title: Rows of one key are summed up
SELECT count(*) AS `rows`, sum(v1) AS loaded FROM tbl1;
-- title: A load of the other table
INSERT INTO tbl2 SELECT timestamp_seconds(1556668800 + id), id, id / 2 FROM range(1000);
-- title: A row that belongs to no partition is refused, and nothing is written
INSERT INTO tbl1 VALUES ('2019-06-29', 1, 1), ('2019-07-01', 1, 1);
-- title: A row of another partition than the named one is refused, too
INSERT INTO tbl1 PARTITION (p1) VALUES ('2019-06-01', 1, 1);

-- title: The partitions of a table
SHOW PARTITIONS FROM tbl1;
-- title: The groups
SHOW PROC '/colocation_group';
-- title: The hosts of each bucket
SHOW PROC '/colocation_group/{GroupId}';
-- title: The size of the tables
SHOW DATA;

-- title: The join has `colocate: true`, and no EXCHANGE
DESC SELECT * FROM tbl1 INNER JOIN tbl2 ON (tbl1.k2 = tbl2.k2);
-- title: Its rows
SELECT count(*) AS `rows`, sum(tbl1.v1) AS v1, max(tbl2.v1) AS v2
FROM tbl1 INNER JOIN tbl2 ON (tbl1.k2 = tbl2.k2);

-- title: An administrator marks the group
CALL system.set_group_stable(group => 'group1', stable => false);
-- title: Then the join has `colocate: false` with the reason, and an EXCHANGE
DESC SELECT * FROM tbl1 INNER JOIN tbl2 ON (tbl1.k2 = tbl2.k2);
-- title: The same rows
SELECT count(*) AS `rows`, sum(tbl1.v1) AS v1, max(tbl2.v1) AS v2
FROM tbl1 INNER JOIN tbl2 ON (tbl1.k2 = tbl2.k2);
-- title: The group is stable again
CALL system.set_group_stable(group => 'group1', stable => true);
