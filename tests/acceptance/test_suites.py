"""TPC-H and TPC-DS at a tiny scale: every query gives the same rows on colocated as on stock Delta."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

# Of the 99: joins of sales with returns on the whole key, set operations, windows, grouping sets, all three channels.
TPCDS = ("q5", "q16", "q17", "q25", "q29", "q40", "q49", "q50", "q64", "q75", "q78", "q80", "q85", "q93", "q94", "q95")


def suite(name: str, folder: Path, *more: str) -> dict[str, Any]:
    common = ("--scale", "0.01", "--rounds", "0", "--memory", "1g", "--buckets", "4", "--out", str(folder))
    command = [sys.executable, "-m", "benchmarks.run", name, *common, *more]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    (result,) = folder.rglob("*.json")
    found: dict[str, Any] = json.loads(result.read_text())
    return found


@pytest.mark.parametrize(("name", "count", "more"), [("tpch", 22, ()), ("tpcds", len(TPCDS), ("--queries", *TPCDS))])
def test_every_query_gives_the_rows_of_stock_delta(
    name: str, count: int, more: tuple[str, ...], tmp_path: Path
) -> None:
    queries = suite(name, tmp_path, *more)["queries"]
    assert len(queries) == count
    assert [one["query"] for one in queries if not one["rows_equal"]] == []
    assert any(one["verdicts"] for one in queries)
