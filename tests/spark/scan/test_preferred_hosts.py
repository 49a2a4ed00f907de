"""Tasks run on the hosts of their buckets, on a cluster whose workers have addresses of their own."""

import json
import sys

import pytest

from tests.spark.cluster import cluster, worker_host
from tests.spark.sessions import HADOOP_DEFAULTS, QUICK_JVM, run_bare

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "800m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.driver.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.executor.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.driver.extraJavaOptions": QUICK_JVM,
    "spark.colocate.python": sys.executable,
    "spark.colocate.hosts.grace": "4s",
}
SCRIPT = """
import json, os, signal, sys, time
from pyspark.sql import SparkSession
from spark_colocate.session import configure
from tools.plans import kind, walk
builder = SparkSession.builder
for key, value in json.loads(sys.argv[2]).items():
    builder = builder.config(key, value)
spark = configure(builder).getOrCreate()
for table in ("a", "b"):
    spark.sql(f"CREATE TABLE {table} (k INT, v INT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS "
              "TBLPROPERTIES ('colocate_with' = 'g')")
    spark.sql(f"INSERT INTO {table} SELECT id, id FROM range(1000)")
spark.sql("CREATE TABLE keyed (k INT, v INT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS "
          "TBLPROPERTIES ('colocate_with' = 'g', 'key_model' = 'unique', 'key_columns' = 'k')")
for load in range(2):
    spark.sql(f"INSERT INTO keyed SELECT id, id * {load} FROM range(1000)")

def hosts():
    return {row["host"]: row["state"] for row in spark.table("system.colocation_hosts").collect()}

def placed():
    rows = spark.table("system.colocation_buckets").where("table = 'a'").orderBy("bucket").collect()
    return [list(row["hosts"]) for row in rows]

def wait_until(done):
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end, (hosts(), placed())
        time.sleep(0.2)

def tasks(rows="a JOIN b USING (k)", reader="ColocatedScanExec"):
    frame = spark.sql(f"SELECT count(k), sum(a.v) FROM {rows}")
    assert [tuple(row) for row in frame.collect()] == [(1000, 499500)]
    plan = frame._jdf.queryExecution().executedPlan()
    found = [0, 0]
    assert reader in [kind(node) for node in walk(plan)]
    for scan in walk(plan):
        if kind(scan) == "ColocatedScanExec":
            for index, name in enumerate(("tasksAtHost", "tasksElsewhere")):
                if scan.metrics().contains(name):
                    found[index] += scan.metrics().apply(name).value()
    return found

def hit_rates():
    rows = spark.table("system.colocation_buckets").where("table = 'a'").orderBy("bucket").collect()
    return [row["host_hit_rate"] for row in rows]

told = {"unread": hit_rates(), "sequence": placed(), "hosts": hosts(), "tasks": tasks(), "hit rates": hit_rates()}
told["tasks that merge"] = tasks("keyed a", "MergeFilesExec")
told["explain"] = spark.sql("EXPLAIN FORMATTED SELECT count(*) FROM a JOIN b USING (k)").collect()[0][0]
spark.conf.set("spark.colocate.hosts.preferred", "false")
told["switched off"] = tasks()
told["hit rates, switched off"] = hit_rates()
spark.conf.set("spark.colocate.hosts.preferred", "true")
pid = int(open(sys.argv[3]).read())
for child in os.popen(f"ps -o pid= --ppid {pid}").read().split():
    os.kill(int(child), signal.SIGKILL)
os.kill(pid, signal.SIGKILL)
told["after the cut"] = tasks()
told["hit rates after the cut"] = hit_rates()
wait_until(lambda: "lost" in hosts().values() and all(len(entry) == 1 for entry in placed()))
told["healed"] = {"sequence": placed(), "hosts": hosts(), "tasks": tasks()}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:  # type: ignore[type-arg]
    folder = tmp_path_factory.mktemp("hosts")
    with cluster(folder / "cluster", workers=2, hosts=True) as master:
        settings = {**SETTINGS, "spark.master": master, "spark.sql.warehouse.dir": str(folder / "warehouse")}
        ran = run_bare(SCRIPT, folder / "run", json.dumps(settings), str(folder / "cluster/worker1.pid")).ok()
    return json.loads(ran.out.splitlines()[-1])  # type: ignore[no-any-return]


def test_a_new_group_has_its_buckets_on_the_executors_hosts_in_turn(told: dict) -> None:  # type: ignore[type-arg]
    one, two = worker_host(0), worker_host(1)
    assert told["hosts"] == {one: "alive", two: "alive"}
    assert told["sequence"] == [[one], [two], [one], [two]]


def test_all_tasks_of_a_join_run_on_the_hosts_of_their_buckets(told: dict) -> None:  # type: ignore[type-arg]
    assert told["tasks"] == [8, 0]
    assert "BucketHosts: 2 hosts" in told["explain"]


def test_tasks_that_merge_files_run_on_the_hosts_of_their_buckets(told: dict) -> None:  # type: ignore[type-arg]
    assert told["tasks that merge"] == [4, 0]


def test_the_hit_rate_of_a_bucket_counts_tasks_at_its_hosts_and_elsewhere(told: dict) -> None:  # type: ignore[type-arg]
    """Two tasks have read each bucket of each table. One whose host was cut is read elsewhere, until it is healed."""
    assert told["unread"] == [None] * 4
    assert told["hit rates"] == told["hit rates, switched off"] == [1.0] * 4
    misses_of_one_table = sum(2 * (1 - rate) for rate in told["hit rates after the cut"])
    assert misses_of_one_table * 2 == told["after the cut"][1]


def test_switched_off_no_host_is_preferred(told: dict) -> None:  # type: ignore[type-arg]
    assert told["switched off"] == [0, 0]


def test_rows_are_right_after_a_host_was_cut_and_its_buckets_go_to_the_other(told: dict) -> None:  # type: ignore[type-arg]
    one, two = worker_host(0), worker_host(1)
    assert sum(told["after the cut"]) == 8
    assert told["healed"] == {"sequence": [[one]] * 4, "hosts": {one: "alive", two: "lost"}, "tasks": [8, 0]}
