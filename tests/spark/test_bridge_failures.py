"""When the control plane or its store is not to be had: statements fail with the cause, queries go on."""

import stat
from pathlib import Path

import pytest

from tests.spark.sessions import run_python

_TRY = """
from pyspark.errors import AnalysisException
spark.sql("CREATE TABLE plain (k INT) USING parquet")
spark.sql("INSERT INTO plain VALUES (1), (2)")
try:
    spark.sql("CREATE TABLE a (k INT) USING parquet CLUSTERED BY (k) INTO 4 BUCKETS "
              "TBLPROPERTIES ('colocate_with'='g')")
except AnalysisException as error:
    print("REFUSED " + " ".join(str(error).split()))
assert spark.table("plain").count() == 2
assert [t.name for t in spark.catalog.listTables()] == ["plain"]
spark.sql("DROP TABLE plain")
print("queries went on")
"""


def refusal(folder: Path, conf: dict[str, str], before: str = "") -> str:
    done = run_python(before + _TRY, folder, conf).ok()
    assert "queries went on" in done.out
    return next(line for line in done.out.splitlines() if line.startswith("REFUSED"))


def test_a_python_that_is_not_there(tmp_path: Path) -> None:
    text = refusal(tmp_path, {"spark.colocate.python": "/no/such/python"})
    assert "The control plane of colocation groups is not up, so nothing was changed" in text
    assert '"/no/such/python"' in text
    assert "name another Python in spark.colocate.python" in text


def test_a_python_without_the_package_shows_its_last_words(tmp_path: Path) -> None:
    bare = script(tmp_path, "echo 'No module named spark_colocate' >&2; exit 1")
    text = refusal(tmp_path, {"spark.colocate.python": bare})
    assert f"{bare} ended with exit code 1: No module named spark_colocate" in text
    assert "pip install spark-colocate" in text


def test_a_python_that_never_answers(tmp_path: Path) -> None:
    mute = script(tmp_path, "exec sleep 60")
    conf = {"spark.colocate.python": mute, "spark.colocate.bridge.timeoutSeconds": "2"}
    assert "no answer within 2 seconds" in refusal(tmp_path, conf)


def script(folder: Path, body: str) -> str:
    file = folder / "python-of-another-kind"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IEXEC)
    return str(file)


def test_planning_waits_only_once_for_a_process_that_does_not_come(tmp_path: Path) -> None:
    code = """
import time
from tests.spark import control
waits = []
for _ in range(3):
    start = time.monotonic()
    control.plane(spark).ensureAttached(spark._jsparkSession)
    waits.append(time.monotonic() - start)
print("WAITS", *waits)
"""
    mute = script(tmp_path, "exec sleep 60")
    conf = {"spark.colocate.python": mute, "spark.colocate.bridge.timeoutSeconds": "2"}
    out = run_python(code, tmp_path, conf).ok().out
    waits = [float(w) for w in next(line for line in out.splitlines() if line.startswith("WAITS")).split()[1:]]
    assert 2 <= waits[0] < 10
    assert max(waits[1:]) < 0.5


def test_a_store_that_is_locked(tmp_path: Path) -> None:
    lock = """
import sqlite3
file = Path(sys.argv[1]) / "warehouse/_colocate/store.sqlite"
spark.sql("CREATE TABLE b (k INT) USING parquet CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with'='g')")
spark.sql("DROP TABLE b")
holder = sqlite3.connect(file, isolation_level=None)
holder.execute("BEGIN EXCLUSIVE")
"""
    text = refusal(tmp_path, {"spark.colocate.store.timeoutSeconds": "1"}, before=lock)
    assert "another process holds its lock (database is locked). Try again" in text


@pytest.mark.parametrize(
    ("store", "told"),
    [
        (
            "postgresql://me:hush@127.0.0.1:1/none",
            "Cannot reach the store postgresql+psycopg://me:***@127.0.0.1:1/none",
        ),
        ("sqlite:////proc/none/store.sqlite", "Cannot reach the store sqlite:////proc/none/store.sqlite"),
        ("oracle://host/db", "must be the SQLAlchemy URL of a SQLite file or of a PostgreSQL database"),
    ],
)
def test_a_store_that_cannot_be_used(tmp_path: Path, store: str, told: str) -> None:
    text = refusal(tmp_path, {"spark.colocate.store": store})
    assert told in text
    assert "hush" not in text


def test_a_warehouse_that_is_not_local_asks_for_a_store(tmp_path: Path) -> None:
    code = """
from tests.spark import control
assert control.groups(spark) == []
try:
    control.create(spark, "a")
except Exception as error:
    print("REFUSED", error)
"""
    done = run_python(code, tmp_path, {"spark.sql.warehouse.dir": "hdfs://nowhere:1/warehouse"}).ok()
    assert "the warehouse hdfs://nowhere:1/warehouse is not on a local disk" in done.out
    assert "Set spark.colocate.store to a database that all drivers reach" in done.out


def test_a_session_cannot_change_the_store_of_its_application(tmp_path: Path) -> None:
    code = """
from tests.spark import control
control.create(spark, "a")
spark.conf.set("spark.colocate.store", "sqlite:////tmp/elsewhere.sqlite")
try:
    control.groups(spark)
except Exception as error:
    print("REFUSED", error)
"""
    done = run_python(code, tmp_path).ok()
    assert "and the session asks for sqlite:////tmp/elsewhere.sqlite" in done.out
