"""Members on HDFS, on a cluster whose hosts are network namespaces: where blocks lie, and what a join sends."""

import json
import sys
from dataclasses import asdict
from typing import Any

import pytest

from tests.cluster import hdfs_driver
from tests.spark.sessions import HADOOP_DEFAULTS, QUICK_JVM
from tools.cluster.network import NoNamespaces
from tools.cluster.spark import cluster

pytestmark = pytest.mark.slow

FAVORED = "org.apache.spark.sql.colocate.ops.hosts.FavoredNodesFileSystem"
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.driver.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.executor.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.driver.extraJavaOptions": QUICK_JVM,
    "spark.colocate.python": sys.executable,
    "spark.hadoop.fs.hdfs.impl": FAVORED,
}
WRITES = ("insert", "few rows", "optimize", "merge", "overwrite", "native", "native again", "ctas")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("hdfs")
    try:
        with cluster(folder / "cluster", memory="1g", with_hdfs=True) as started:
            assert started.hdfs
            given = {
                "network": asdict(started.network),
                "settings": {**SETTINGS, **started.settings()},
                "data_node": started.hdfs.data_nodes["worker1"],
                "out": str(folder / "told.json"),
            }
            assert started.run([sys.executable, "-m", hdfs_driver.__name__, json.dumps(given)]) == 0
    except NoNamespaces as refused:
        pytest.skip(str(refused))
    return json.loads((folder / "told.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize("write", WRITES)
def test_blocks_lie_on_the_hosts_of_their_buckets(told: dict[str, Any], write: str) -> None:
    at_home, blocks = told[write]
    assert blocks >= hdfs_driver.BUCKETS
    assert at_home >= 0.95 * blocks


def test_a_join_reads_from_its_own_hosts_while_the_blocks_lie_there(told: dict[str, Any]) -> None:
    shares = {name: told[name]["wire"] / told[name]["scanned"] for name in ("join", "permuted")}
    print(f"from worker to worker, of the bytes that were read: {shares}")
    assert told["hit rate"] == 1
    assert shares["join"] <= 0.05
    assert shares["permuted"] >= 0.5


def test_a_repair_moves_the_blocks_of_all_tables_to_the_new_hosts(told: dict[str, Any]) -> None:
    assert told["buckets to repair"] >= hdfs_driver.BUCKETS * len(hdfs_driver.SIDES)
    assert told["repair"] == ["done"]
    at_home, blocks = told["repaired"]
    assert at_home >= 0.95 * blocks
    assert told["left"] == []
    assert told["join after repair"]["wire"] <= 0.05 * told["join after repair"]["scanned"]


def test_a_data_node_that_died_is_no_failure_of_a_write(told: dict[str, Any]) -> None:
    assert told["rows after a data node died"] == 40_000
