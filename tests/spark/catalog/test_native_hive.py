"""Native members in a Hive metastore (embedded Derby): they outlive the session, and so does their group."""

import json
from pathlib import Path

import pytest

from tests.spark.sessions import Ran, run_python

CONF = {"spark.sql.catalogImplementation": "hive"}

_FIRST = """
spark.sql("CREATE DATABASE d")
BUCKETS = "CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with'='g')"
spark.sql(f"CREATE TABLE d.a (k INT, v STRING, p INT) USING parquet PARTITIONED BY (p) {BUCKETS}")
spark.sql("INSERT INTO d.a SELECT CAST(id AS INT), string(id), CAST(id % 2 AS INT) FROM range(0, 100, 1, 3)")
spark.sql(f"CREATE TABLE d.b USING orc {BUCKETS} AS SELECT k, v FROM d.a")
spark.sql("CREATE TABLE d.c (k INT) USING parquet CLUSTERED BY (k) INTO 4 BUCKETS")
spark.sql("ALTER TABLE d.c SET TBLPROPERTIES ('colocate_with'='g')")
spark.sql("ALTER TABLE d.b RENAME TO d.renamed")
told = {}
for name, statement in {
    "STORED AS PARQUET": "CREATE TABLE d.h (k INT) CLUSTERED BY (k) INTO 4 BUCKETS STORED AS PARQUET "
    "TBLPROPERTIES ('colocate_with'='g')",
    "Hive CTAS": "CREATE TABLE d.h STORED AS ORC TBLPROPERTIES ('colocate_with'='g') AS SELECT 1 AS k",
    "bucket count": "CREATE TABLE d.h (k INT) USING parquet CLUSTERED BY (k) INTO 8 BUCKETS "
    "TBLPROPERTIES ('colocate_with'='g')",
}.items():
    try:
        spark.sql(statement)
    except Exception as error:
        told[name] = str(error).split(". ")[0]
"""

_SHOW = """
files = spark.sql("SELECT `table`, format, files, strays FROM system.colocation_tables ORDER BY table_id").collect()
groups = spark.sql("SELECT group_name, members, buckets FROM system.colocation_groups").collect()
tables = sorted(row.tableName for row in spark.sql("SHOW TABLES IN d").collect())
joined = spark.sql("SELECT count(*) FROM d.a JOIN d.renamed USING (k)").collect()[0][0]
print("RESULT " + json.dumps([files, groups, tables, joined]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hive")


@pytest.fixture(scope="module")
def first(folder: Path) -> Ran:
    return run_python(_FIRST + 'print("TOLD " + json.dumps(told))' + _SHOW, folder, CONF).ok()


def told(ran: Ran, mark: str) -> object:
    line = next(line for line in ran.out.splitlines() if line.startswith(mark + " "))
    return json.loads(line.removeprefix(mark + " "))


EXPECTED = [
    [["a", "parquet", 8, 0], ["renamed", "orc", 4, 0], ["c", "parquet", 0, 0]],
    [["d.g", 3, 4]],
    ["a", "c", "renamed"],
    100,
]


def test_members_are_created_joined_and_renamed(first: Ran) -> None:
    assert told(first, "RESULT") == EXPECTED


def test_hive_tables_and_misfits_are_refused(first: Ran) -> None:
    refused = (
        "[FORMAT_REFUSED] Cannot colocate d.h: format HIVE has no bucket layout that can be proven "
        "(supported: DELTA, PARQUET, ORC)"
    )
    differs = "[BUCKETS_DIFFER] Cannot colocate d.h with group d.g: bucket counts differ (table: 8, group: 4)"
    assert told(first, "TOLD") == {"STORED AS PARQUET": refused, "Hive CTAS": refused, "bucket count": differs}


def test_the_next_session_finds_the_same_group(first: Ran, folder: Path) -> None:
    second = run_python(_SHOW + 'spark.sql("DROP DATABASE d CASCADE")' + _AFTER, folder, CONF).ok()
    assert told(second, "RESULT") == EXPECTED
    assert told(second, "AFTER") == []


_AFTER = """
print("AFTER " + json.dumps(spark.sql("SELECT group_name FROM system.colocation_groups").collect()))
"""
