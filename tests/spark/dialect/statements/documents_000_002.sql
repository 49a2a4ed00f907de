-- Statements of the documents on colocation joins of Doris and StarRocks.
-- Each has a title and what must come of it: `runs`, `rows` (then the rows, cells separated by |), `says` with a part of
-- the answer, or `refused` with a condition (then parts of the error).

-- title: a table in a group of all databases
-- runs
CREATE TABLE tbl (k1 int, v1 int sum)
DISTRIBUTED BY HASH(k1)
BUCKETS 8
PROPERTIES(
"colocate_with" = "__global__group1"
);

-- title: it is dropped, because the next one has its name
-- runs
DROP TABLE tbl FORCE;

-- title: a table in a group
-- runs
CREATE TABLE tbl (k1 int, v1 int sum)
DISTRIBUTED BY HASH(k1)
BUCKETS 8
PROPERTIES(
"colocate_with" = "group1"
);

-- title: tbl1 of the example
-- runs
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

-- title: tbl2 of the example
-- runs
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

-- title: the groups
-- rows
-- {db}.{g1} | {db}_group1 | {tbl}, {tbl1}, {tbl2} | 8 | 1 | int | True
SHOW PROC '/colocation_group';

-- title: the backends of a group
-- runs
SHOW PROC '/colocation_group/10005.10008';

-- title: to another group, which is made
-- runs
ALTER TABLE tbl SET ("colocate_with" = "group2");

-- title: the groups after the move
-- rows
-- {db}.{g1} | {db}_group1 | {tbl1}, {tbl2} | 8 | 1 | int | True
-- {db}.{g2} | {db}_group2 | {tbl} | 8 | 1 | int | True
SHOW PROC '/colocation_group';

-- title: out of its group, which ends with its last table
-- runs
ALTER TABLE tbl SET ("colocate_with" = "");

-- title: the groups after the table left
-- rows
-- {db}.{g1} | {db}_group1 | {tbl1}, {tbl2} | 8 | 1 | int | True
SHOW PROC '/colocation_group';

-- title: a table that does not fit its group
-- refused BUCKETS_DIFFER
CREATE TABLE wide (k1 int, v1 int) DISTRIBUTED BY HASH(k1) BUCKETS 10 PROPERTIES("colocate_with" = "group1");

-- title: the frontend's configuration
-- runs
ADMIN SET FRONTEND CONFIG ("disable_colocate_balance" = "true");

-- title: all of it
-- rows
-- disable_colocate_balance | true
-- disable_colocate_relocate | false
ADMIN SHOW FRONTEND CONFIG;

-- title: and back
-- rows
-- disable_colocate_balance | false
ADMIN SET FRONTEND CONFIG ("disable_colocate_balance" = "false");

-- title: help on it
-- rows
-- ADMIN SET CONFIG
HELP ADMIN SET CONFIG;

-- title: help on showing it
-- rows
-- ADMIN SHOW CONFIG
HELP ADMIN SHOW CONFIG;

-- title: the session's switch
-- runs
SET disable_colocate_join = false;

-- title: the size of the tables
-- rows
-- tbl
-- tbl1
-- tbl2
SHOW DATA;

-- title: a dropped table leaves its group
-- runs
DROP TABLE tbl1;

-- title: a dropped table is gone
-- refused DORIS_UNSUPPORTED
RECOVER TABLE tbl1;

-- title: without a recycle period
-- runs
DROP TABLE tbl2 FORCE;

-- title: the last table is gone, and its group with it
-- rows
SHOW PROC '/colocation_group';
