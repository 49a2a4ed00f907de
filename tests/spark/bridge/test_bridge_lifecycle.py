"""The control plane's process: started when it is needed, started again when it dies, ended with its driver."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_colocate.catalogues import conf
from spark_colocate.store import CatalogId, open_store

from tests.contract.plane import Plane
from tests.spark import control
from tests.spark.sessions import ROOT, run_bare, run_python, run_spark_sql

MEMBER = "USING parquet CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with'='g')"


@pytest.fixture
def attached(spark: SparkSession) -> SparkSession:
    control.plane(spark).ensureAttached(spark._jsparkSession)
    assert control.plane(spark).pid() > 0
    return spark


def test_one_process_serves_all_sessions_and_threads(attached: SparkSession) -> None:
    sessions = [attached.newSession() for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: control.groups(sessions[n % 4]), range(40)))
    assert len(answers) == 40
    assert control.control_planes_of(control.jvm_pid(attached)) == [control.plane(attached).pid()]


def test_python_registers_the_rules_in_effect(attached: SparkSession) -> None:
    registry = attached._jvm.org.apache.spark.sql.colocate.rules.RuleTable
    named = conf.load("rules.json")["rules"]
    listed = attached._jvm.org.apache.spark.sql.colocate.conf.RuleList.names()
    assert [listed.apply(n) for n in range(listed.size())] == [rule["name"] for rule in named]
    assert all(registry.isActive(rule["name"]) is rule["active"] for rule in named)


def test_a_killed_process_is_started_again_by_the_next_statement(attached: SparkSession) -> None:
    begun = control.begin(attached, "killed_between", "again")
    before = control.plane(attached).pid()
    os.kill(before, signal.SIGKILL)
    control.call(attached, "finish", ticket=begun["ticket"], outcome="commit")
    assert control.plane(attached).pid() not in (0, before)
    assert "default.again" in control.groups(attached)
    control.call(attached, "drop_database", db="default")


def test_a_process_killed_between_begin_and_abort_leaves_no_group(attached: SparkSession) -> None:
    begun = control.begin(attached, "never", "never")
    os.kill(control.plane(attached).pid(), signal.SIGKILL)
    control.call(attached, "finish", ticket=begun["ticket"], outcome="abort")
    assert "default.never" not in control.groups(attached)


def test_the_process_does_not_end_by_ctrl_c(attached: SparkSession) -> None:
    pid = control.plane(attached).pid()
    os.kill(pid, signal.SIGINT)
    control.groups(attached)
    assert control.plane(attached).pid() == pid


def test_no_secret_shows_in_the_list_of_processes(attached: SparkSession) -> None:
    command = Path(f"/proc/{control.plane(attached).pid()}/cmdline").read_bytes().split(b"\0")
    assert command[1:] == [b"-m", b"spark_colocate.bridge", b""]


def test_a_change_of_another_driver_is_seen_within_2_seconds(attached: SparkSession) -> None:
    control.create(attached, "watched", "watched")
    warehouse = attached.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    store = open_store(f"sqlite:///{warehouse}/_colocate/store.sqlite")
    [catalog] = [c for c in store.catalogs() if attached.sparkContext.applicationId in c.identity]
    other = Plane(store, "other driver", CatalogId(catalog.identity))
    assert control.is_stable(attached, "default.watched")
    other.call("set_group_stable", group="default.watched", stable=False)
    assert control.eventually(lambda: not control.is_stable(attached, "default.watched"), seconds=2.5)
    control.call(attached, "drop_database", db="default")


def test_a_statement_of_the_session_is_seen_by_its_next_query(attached: SparkSession) -> None:
    control.create(attached, "flagged", "flagged")
    for stable in (False, True):
        control.call(attached, "set_group_stable", group="default.flagged", stable=stable)
        assert control.is_stable(attached, "default.flagged") is stable
    control.call(attached, "drop_database", db="default")


def test_pysparks_own_gateway_still_calls_back(attached: SparkSession, tmp_path: Path) -> None:
    seen: list[int] = []
    source = tmp_path / "source"
    attached.range(5).write.parquet(str(source))
    stream = attached.readStream.schema("id LONG").parquet(str(source))
    query = (
        stream.writeStream.foreachBatch(lambda batch, _id: seen.append(batch.count()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(60)
    assert seen == [5]
    control.groups(attached)


def test_the_threads_of_the_bridge_do_not_keep_the_jvm_alive(attached: SparkSession) -> None:
    threads = list(attached._jvm.java.lang.Thread.getAllStackTraces().keySet())
    assert any(thread.getName().startswith("colocate-") for thread in threads)
    assert all(thread.isDaemon() for thread in threads if thread.getName().startswith("colocate-"))


_DRIVER = """
import json, sys
from pathlib import Path
from tests.spark import control
from tests.spark.sessions import builder
spark = builder(Path(sys.argv[1])).getOrCreate()
control.create(spark, "a")
print(json.dumps({"jvm": control.jvm_pid(spark), "child": control.plane(spark).pid()}), flush=True)
sys.stdin.readline()
"""


def test_the_process_ends_when_the_driver_is_killed_and_its_catalog_with_it(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), str(ROOT / "python")])
    command = [sys.executable, "-c", _DRIVER, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": path}
    driver = subprocess.Popen(
        command, env=environment, cwd=tmp_path, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert driver.stdout is not None
    pids = json.loads(next(line for line in driver.stdout if line.startswith("{")))
    assert control.is_running(pids["child"])
    store = open_store(f"sqlite:///{control.store_file(tmp_path)}")
    assert len(store.catalogs()) == 1
    os.kill(pids["jvm"], signal.SIGKILL)
    driver.kill()
    driver.communicate(timeout=30)
    assert control.eventually(lambda: not control.is_running(pids["child"]))
    assert store.catalogs() == []


def test_the_end_of_the_application_ends_the_process_and_the_next_one_starts_afresh(tmp_path: Path) -> None:
    code = """
from tests.spark import control
control.create(spark, "a", buckets=4)
first, jvm = control.plane(spark).pid(), control.jvm_pid(spark)
spark.stop()
assert control.eventually(lambda: not control.is_running(first))
spark = builder(Path(sys.argv[1])).getOrCreate()
assert control.jvm_pid(spark) == jvm
assert control.groups(spark) == []
control.create(spark, "a", buckets=8)
assert control.plane(spark).pid() != first
print("done")
"""
    assert "done" in run_python(code, tmp_path).ok().out


def test_the_groups_of_a_hive_metastore_outlive_the_application(tmp_path: Path) -> None:
    database = f"jdbc:derby:;databaseName={tmp_path}/metastore_db;create=true"
    conf = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": database,
    }
    first = "from tests.spark import control\ncontrol.create(spark, 'a')\nprint(control.groups(spark))"
    second = "from tests.spark import control\nprint(control.groups(spark))"
    assert "['default.g']" in run_python(first, tmp_path, conf).ok().out
    assert "['default.g']" in run_python(second, tmp_path, conf).ok().out
    [catalog] = open_store(f"sqlite:///{control.store_file(tmp_path)}").catalogs()
    assert catalog.identity.startswith("hive:")
    assert str(tmp_path) not in catalog.identity


def test_a_pyspark_driver_needs_no_setting_to_find_its_python(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from tests.spark.sessions import builder
from tests.spark import control
os.environ.pop("PYSPARK_PYTHON", None)
spark = builder(Path(sys.argv[1]), {"spark.colocate.python": ""}).getOrCreate()
assert control.groups(spark) == []
command = Path(f"/proc/{control.plane(spark).pid()}/cmdline").read_bytes()
print("COMMAND", command.split(bytes(1))[0].decode())
"""
    assert f"COMMAND {sys.executable}" in run_bare(code, tmp_path).ok().out


def test_the_spark_sql_command_line_starts_it_and_ends(tmp_path: Path) -> None:
    done = run_spark_sql(f"CREATE TABLE a (k INT) {MEMBER}; SHOW PROC '/colocation_group'", tmp_path, delta=False)
    assert re.search(r"\d+_g\b", done.ok().out)
    assert open_store(f"sqlite:///{control.store_file(tmp_path)}").catalogs() == []


@pytest.mark.parametrize("switched_off", [False, True])
def test_a_query_over_a_member_starts_the_process_while_it_is_analysed(
    spark: SparkSession, db: str, tmp_path: Path, switched_off: bool
) -> None:
    spark.sql(f"CREATE TABLE t (k INT) USING delta {MEMBER.removeprefix('USING parquet')} LOCATION '{tmp_path}/t'")
    code = f"""
import time
plane = spark._jvm.org.apache.spark.sql.colocate.bridge.ControlPlane
spark.conf.set("disable_colocate_join", {str(switched_off).lower()!r})
assert plane.pid() == 0
spark.sql("SELECT * FROM delta.`{tmp_path}/t`")
for _ in range({4 if switched_off else 60}):
    if plane.pid() > 0:
        break
    time.sleep(0.5)
print("STARTED", plane.pid() > 0)
"""
    assert f"STARTED {not switched_off}" in run_python(code, tmp_path / "driver").ok().out
