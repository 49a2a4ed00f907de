"""Drivers that are killed in the middle of an adoption, while a program without Spark writes and another one reads.

The sums at each version are those that the writer has in its ledger: no row is lost, and none comes twice.
"""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import TableNotFoundError

from tests.spark.sessions import WRONG_PLANNERS, Ran, run_python

HIVE = {**WRONG_PLANNERS, "spark.sql.catalogImplementation": "hive"}

MAKE = """
spark.sql("CREATE TABLE t (k INT, v BIGINT) USING delta LOCATION '{root}'")
spark.sql("INSERT INTO t SELECT CAST(id AS INT), id FROM range(1000)")
"""
START = """
spark.sql("CALL system.colocate(table => 't', group => 'g', keys => array('k'), buckets => 4)").collect()
"""
KILLED_AT = """
import os, signal
pauses = spark._jvm.org.apache.spark.sql.colocate.testing.Pauses
pauses.plan("{point}")
{body}
spark.sql("SELECT * FROM system.colocation_jobs").collect()  # the control plane starts, and takes the job
assert any(pauses.isReached() for _ in range(5)), 'a busy machine needs minutes'
print("killed", flush=True)
os.kill(spark._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
os._exit(0)
"""
FINISH = """
import time
for _ in range(600):
    jobs = spark.sql("SELECT state, error FROM system.colocation_jobs").collect()
    if all(job.state in ("done", "failed", "cancelled") for job in jobs): break
    time.sleep(0.3)
plan = spark.sql("SELECT k, count(*) FROM t GROUP BY k")._jdf.queryExecution().executedPlan().toString()
members = [list(row) for row in spark.sql("SELECT db, `table`, `group` FROM system.colocation_tables").collect()]
found = {"jobs": [list(job) for job in jobs], "members": members, "shuffles": plan.count("Exchange")}
print(json.dumps(found))
"""


class Ledger:
    """What delta-rs has appended, rows and their sum since each version, and what a reader has seen of the versions."""

    def __init__(self, root: Path) -> None:
        self.root, self.entries = root, {1: (1000, 499500)}
        self.seen: list[tuple[int, int, int]] = []
        self.stopped = threading.Event()

    def write(self) -> None:
        """A second after each commit the next one, until it is stopped. Spark has made the first two versions."""
        while not self.stopped.wait(1.0):
            try:
                if DeltaTable(str(self.root)).version() < 1:
                    continue
                rows = pa.table({"k": pa.array([7, -1], pa.int32()), "v": pa.array([10, 1], pa.int64())})
                write_deltalake(str(self.root), rows, mode="append")
                count, total = self.entries[max(self.entries)]
                self.entries[DeltaTable(str(self.root)).version()] = (count + 2, total + 11)
            except TableNotFoundError:
                continue

    def read(self) -> None:
        """The newest version, again and again."""
        while not self.stopped.wait(0.3):
            with suppress(TableNotFoundError):
                self.see(DeltaTable(str(self.root)))

    def see(self, table: DeltaTable) -> None:
        found = table.to_pyarrow_table(columns=["v"])["v"].to_pylist()
        self.seen.append((table.version(), len(found), sum(found)))

    def wrong(self) -> list[tuple[int, int, int]]:
        """Versions that had other rows than the last entry before them."""
        return [
            (version, count, total)
            for version, count, total in self.seen
            if version and (count, total) != self.entries[max(v for v in self.entries if v <= version)]
        ]


def _driver(folder: Path, code: str) -> Ran:
    return run_python(code, folder, HIVE, timeout=900)


def _killed(folder: Path, point: str, body: str = "") -> None:
    ran = _driver(folder, KILLED_AT.format(point=point, body=body))
    assert "killed" in ran.out, ran.all[-5000:]


@pytest.mark.parametrize("second", ["adopt:committed", "adopt:ready"])
@pytest.mark.every(2)
def test_two_drivers_are_killed_and_the_third_one_finishes(tmp_path: Path, second: str) -> None:
    root, folder = tmp_path / "t", tmp_path / "session"
    ledger = Ledger(root)
    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(ledger.write), pool.submit(ledger.read)]
        _killed(folder, "adopt:staged", MAKE.format(root=root) + START)
        time.sleep(2)  # it writes while no driver lives
        ledger.stopped.set()
        assert [other.result(timeout=60) for other in others] == [None, None]
        _killed(folder, second)
        last = json.loads(_driver(folder, FINISH).ok().out.strip().splitlines()[-1])
    assert last == {"jobs": [["done", None]], "members": [["default", "t", "default.g"]], "shuffles": 0}
    assert len(ledger.entries) > 3
    for version in range(1, DeltaTable(str(root)).version() + 1):
        ledger.see(DeltaTable(str(root), version=version))
    assert ledger.wrong() == []
    assert not (root / "_colocate").exists()
    live = {str(Path(uri).relative_to(root)) for uri in DeltaTable(str(root)).file_uris()}
    written = {str(path.relative_to(root)) for path in root.glob("adopt-*/**/*.parquet")}
    assert written == live
