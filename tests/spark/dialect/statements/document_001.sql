-- Statements of the document on the rules of colocation groups; documents_000_002.sql says how to read this.

-- title: any table
-- runs
CREATE TABLE tbl (k1 int, v1 int) DISTRIBUTED BY HASH(k1) BUCKETS 8;

-- title: into a group
-- runs
ALTER TABLE tbl SET ("colocate_with" = "group2");

-- title: out of the group
-- runs
ALTER TABLE tbl SET ("colocate_with" = "");
