"""Bad surroundings: no control plane, a store that is locked or out of reach. Queries go on, nothing is changed."""

import json
from pathlib import Path

from tests.spark.golden import GOLDENS, assert_golden
from tests.spark.sessions import run_python

GOLDEN = GOLDENS

_HEAD = """
import sqlite3
from tests.spark.bad_input import World, message
told, worlds = {}, {}
spark.sql("CREATE DATABASE d")
spark.sql("CREATE TABLE d.plain (k INT) USING parquet CLUSTERED BY (k) INTO 2 BUCKETS")
spark.sql("INSERT INTO d.plain VALUES (1), (2)")
BUCKETS = "USING parquet CLUSTERED BY (k) INTO 2 BUCKETS TBLPROPERTIES ('colocate_with'='g')"
MEMBER = f"CREATE TABLE d.t (k INT) {BUCKETS}"
QUERIED = f"CREATE TABLE d.t {BUCKETS} AS SELECT 1 AS k"

def statements(name):
    before = World.of(spark, "d")
    told[name] = {
        "CREATE TABLE": message(lambda: spark.sql(MEMBER)),
        "CREATE TABLE AS SELECT": message(lambda: spark.sql(QUERIED)),
        "ALTER TABLE": message(lambda: spark.sql("ALTER TABLE d.plain SET TBLPROPERTIES ('colocate_with'='g')")),
        "SHOW PROC": message(lambda: spark.sql("SHOW PROC '/colocation_group'").collect()),
    }
    worlds[name] = World.of(spark, "d") == before
    told[name]["queries"] = str(spark.sql("SELECT sum(a.k) FROM d.plain a JOIN d.plain b USING (k)").collect())
"""

_PRINT = """
print("RESULT " + json.dumps({"told": told, "worlds": worlds}))
"""


def test_without_a_control_plane_ddl_tells_why_and_with_a_locked_store_too(tmp_path: Path) -> None:
    script = (
        _HEAD
        + """
good = spark.conf.get("spark.colocate.python")
spark.conf.set("spark.colocate.python", "/no/such/python")
statements("no_control_plane")
spark.conf.set("spark.colocate.python", good)
spark.sql(f"CREATE TABLE d.parent (k INT) {BUCKETS}")
path = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")) / "_colocate" / "store.sqlite"
lock = sqlite3.connect(path, isolation_level=None)
lock.execute("BEGIN IMMEDIATE")
statements("locked_store")
lock.execute("ROLLBACK")
spark.sql(MEMBER)
told["after"] = {"members": str(spark.sql("SELECT members FROM system.colocation_groups").collect())}
"""
        + _PRINT
    )
    found = _result(run_python(script, tmp_path, {"spark.colocate.store.timeout": "1"}).ok().out)
    assert found["worlds"] == {"no_control_plane": True, "locked_store": True}
    assert found["told"]["after"] == {"members": "[Row(members=2)]"}
    _golden(found, "no_control_plane", "locked_store")


def test_a_store_that_is_out_of_reach_is_told(tmp_path: Path) -> None:
    script = _HEAD + 'statements("unreachable_store")\n' + _PRINT
    conf = {"spark.colocate.store": "sqlite:////proc/no/such/store.sqlite", "spark.colocate.store.timeout": "1"}
    found = _result(run_python(script, tmp_path, conf).ok().out)
    assert found["worlds"] == {"unreachable_store": True}
    _golden(found, "unreachable_store")


def _golden(found: dict[str, dict[str, dict[str, str]]], *names: str) -> None:
    for name in names:
        told = found["told"][name]
        assert "sum(k)=3" in told.pop("queries")
        text = "\n".join(f"{face}:\n    {error}" for face, error in told.items())
        assert_golden(text, GOLDEN / f"bad_input_{name}.txt")


def _result(out: str) -> dict[str, dict[str, dict[str, str]]]:
    line = next(line for line in out.splitlines() if line.startswith("RESULT "))
    found: dict[str, dict[str, dict[str, str]]] = json.loads(line.removeprefix("RESULT "))
    return found
