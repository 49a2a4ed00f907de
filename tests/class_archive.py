"""Spark's classes, loaded and verified once for all the JVMs of the tests (the JVM's class data sharing, JEP 350).

Starting a session and its first statements take a third less CPU with it, and the suite starts dozens of sessions. A
JVM that the archive does not fit (another Java) reads the jars as if there were none.
"""

import tempfile
from pathlib import Path

from tests.spark.sessions import ARCHIVE, run_spark_sql

# What most sessions do, so that the classes for it are in the archive.
STATEMENTS = """
CREATE TABLE d (k INT, v STRING) USING delta CLUSTERED BY (k) INTO 2 BUCKETS TBLPROPERTIES ('colocate_with' = 'g');
INSERT INTO d VALUES (1, 'a'), (3, 'b');
CREATE TABLE p (k INT, w DATE) USING parquet CLUSTERED BY (k) INTO 2 BUCKETS TBLPROPERTIES ('colocate_with' = 'g');
INSERT INTO p VALUES (1, DATE'2024-01-01');
SET spark.sql.autoBroadcastJoinThreshold = -1;
SELECT * FROM d JOIN p USING (k) ORDER BY v;
MERGE INTO d USING p ON d.k = p.k WHEN MATCHED THEN UPDATE SET v = 'c'
  WHEN NOT MATCHED THEN INSERT (k, v) VALUES (p.k, 'n');
EXPLAIN SELECT k, count(*) FROM d GROUP BY k;
"""


def make() -> None:
    """Makes the archive if there is none for this Spark: about half a minute, once for a checkout."""
    if ARCHIVE.exists():
        return
    ARCHIVE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ARCHIVE.parent) as folder:
        partial = Path(folder) / "classes.jsa"
        options = f"-XX:+UseSerialGC -XX:ArchiveClassesAtExit={partial}"
        run_spark_sql(STATEMENTS, Path(folder) / "session", {"spark.driver.extraJavaOptions": options}).ok()
        if partial.exists():  # a Java without archives of its own makes none
            partial.rename(ARCHIVE)  # whole at once: another run may start its sessions meanwhile
