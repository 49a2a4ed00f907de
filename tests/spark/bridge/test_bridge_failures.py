"""When the control plane or its store is not to be had: statements fail with the cause, queries go on."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.spark.sessions import run_python

_TRY = """
from pyspark.errors import AnalysisException
from tests.spark import control

MEMBER = "(k INT) USING parquet CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with'='g')"

def refused(**conf):
    for key, value in conf.items():
        spark.conf.set("spark.colocate." + key.replace("_", "."), value)
    spark.sql("CREATE TABLE plain (k INT) USING parquet")
    spark.sql("INSERT INTO plain VALUES (1), (2)")
    try:
        spark.sql("CREATE TABLE a " + MEMBER)
        text = "not refused"
    except AnalysisException as error:
        text = " ".join(str(error).split())
    assert spark.table("plain").count() == 2
    assert "a" not in [t.name for t in spark.catalog.listTables()]
    spark.sql("DROP TABLE plain")
    return text

told = {}
"""


def told(code: str, folder: Path, conf: dict[str, str] | None = None) -> dict[str, Any]:
    """Runs `code` in a session of its own; what it put into `told`."""
    done = run_python(_TRY + code + "\nprint('TOLD' + json.dumps(told))", folder, conf).ok()
    answer: dict[str, Any] = json.loads(done.out.rpartition("TOLD")[2])
    return answer


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One session that is given one Python after another that does not serve."""
    folder = tmp_path_factory.mktemp("pythons")
    starts = folder / "starts"
    mute = script(folder / "mute", f"echo started >> {starts}; exec sleep 60")
    bare = script(folder / "bare", "echo 'No module named spark_colocate' >&2; exit 1")
    code = f"""
for _ in range(3):
    control.plane(spark).ensureAttached(spark._jsparkSession)
told["starts"] = len(Path("{starts}").read_text().splitlines())
told["mute"] = refused()
told["absent"] = refused(python="/no/such/python")
told["bare"] = refused(python="{bare}")
"""
    return told(code, folder, {"spark.colocate.python": mute, "spark.colocate.bridge.timeout": "2"})


def script(file: Path, body: str) -> str:
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IEXEC)
    return str(file)


def test_a_python_that_is_not_there_is_named_with_the_cure(pythons: dict[str, Any]) -> None:
    text = pythons["absent"]
    assert "The control plane of colocation groups is not up, so nothing was changed" in text
    assert '"/no/such/python"' in text
    assert "name another Python in spark.colocate.python" in text


def test_a_python_without_the_package_shows_its_last_words(pythons: dict[str, Any]) -> None:
    assert "bare ended with exit code 1: No module named spark_colocate" in pythons["bare"]
    assert "pip install spark-colocate" in pythons["bare"]


def test_a_python_that_never_answers_is_waited_for_as_long_as_the_setting_says(pythons: dict[str, Any]) -> None:
    assert "no answer within 2 seconds" in pythons["mute"]


def test_planning_waits_once_for_a_process_that_does_not_come_and_never_again(pythons: dict[str, Any]) -> None:
    assert pythons["starts"] == 1


def test_a_locked_store_fails_the_statement_and_a_free_one_takes_it(tmp_path: Path) -> None:
    code = """
import sqlite3
control.create(spark, "b")
holder = sqlite3.connect(Path(sys.argv[1]) / "warehouse/_colocate/store.sqlite", isolation_level=None)
holder.execute("BEGIN EXCLUSIVE")
told["locked"] = refused()
holder.execute("ROLLBACK")
control.create(spark, "c")
try:
    spark.conf.set("spark.colocate.store", "sqlite:////elsewhere/store.sqlite")
except AnalysisException as error:
    told["other"] = str(error)
"""
    texts = told(code, tmp_path, {"spark.colocate.store.timeout": "1"})
    assert "another process holds its lock (database is locked). Try again" in texts["locked"]
    assert "CANNOT_MODIFY_STATIC_CONFIG" in texts["other"]


def test_a_store_that_cannot_be_reached_is_named_without_its_password(tmp_path: Path) -> None:
    conf = {"spark.colocate.store": "postgresql://me:hush@127.0.0.1:1/none", "spark.colocate.store.timeout": "1"}
    text = told("told['text'] = refused()", tmp_path, conf)["text"]
    assert "Cannot reach the store postgresql+psycopg://me@127.0.0.1:1/none" in text
    assert "or name another one in spark.colocate.store" in text
    assert "hush" not in text


def test_a_warehouse_that_is_not_local_asks_for_a_store(tmp_path: Path) -> None:
    code = """
told["groups"] = control.groups(spark)
try:
    control.create(spark, "a")
except AnalysisException as error:
    told["text"] = str(error)
"""
    # A folder that Hadoop reads by another scheme than `file`: no cluster is needed to be remote.
    conf = {
        "spark.sql.warehouse.dir": f"viewfs://lake{tmp_path}/warehouse",
        "spark.hadoop.fs.viewfs.mounttable.lake.linkFallback": f"file://{tmp_path}",
    }
    answer = told(code, tmp_path, conf)
    assert answer["groups"] == []
    assert "is not on a local disk, where SQLite could live, and spark.colocate.store is empty" in answer["text"]
    assert "Set spark.colocate.store to a database that all drivers reach" in answer["text"]
