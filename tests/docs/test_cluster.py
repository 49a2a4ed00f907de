"""README's example and the quickstart, as a reader runs them, on a standalone cluster and twice in one folder."""

import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks
from tests.spark.cluster import cluster
from tests.spark.sessions import HADOOP_DEFAULTS, QUICK_JVM, Ran, run_bare

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.executor.memory": "800m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.driver.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.executor.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.driver.extraJavaOptions": QUICK_JVM,
    "spark.colocate.python": sys.executable,
}
MASTER = """
assert spark.sparkContext.master.startswith("spark://")
assert joined.collect() == [(80000,)]
spark.sql("CREATE DATABASE IF NOT EXISTS quickstart")
spark.sql("USE quickstart")
"""


@pytest.mark.slow
def test_readme_and_quickstart_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was fetched before: the first driver fetches Delta's jars into an empty folder, as a reader's does."""
    monkeypatch.delenv("SPARK_COLOCATE_DELTA_JARS", raising=False)
    with cluster(tmp_path / "cluster") as master:
        conf = {**SETTINGS, "spark.master": master, "spark.jars.ivy": str(tmp_path / "ivy")}
        (tmp_path / "conf").mkdir()
        (tmp_path / "conf/spark-defaults.conf").write_text("".join(f"{k} {v}\n" for k, v in conf.items()))
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
        for ran in (drive(tmp_path), drive(tmp_path)):
            assert "colocate: true (group default.sales, 8 buckets)" in ran.out


def drive(folder: Path) -> Ran:
    readme = next(block.text for block in blocks(ROOT / "README.md") if block.language == "python")
    quickstart = "".join(as_python(block) for block in blocks(ROOT / "docs/quickstart.md"))
    return run_bare(readme + MASTER + quickstart, folder / "run").ok()


def as_python(block: Block) -> str:
    if block.language == "python":
        return block.text
    if block.language != "sql" or block.info.startswith("fails:"):
        return ""
    return "".join(f"spark.sql({statement!r}).collect()\n" for statement in block.statements)
