"""Queries of TPC-H and TPC-DS at a tiny scale give the same rows on colocated as on stock Delta; all: `./run bench`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import run

# An aggregate by the key with HAVING, EXISTS and NOT EXISTS, a scalar subquery beside a join, joins of both groups.
TPCH = ("q4", "q9", "q18", "q21", "q22")

# Joins of sales with returns on the whole key, inner with a third table and left outer, below others and aggregates.
TPCDS = ("q29", "q78")

# Their plan has one side of a join in place, and the other is shuffled to it.
ONE_SIDE = {"q9", "q22", "q78"}

# So small tables would all be broadcast.
ENGINES = ("--engines", "delta-shuffle", "delta-colocated-shuffle")


def suite(name: str, folder: Path, *more: str) -> dict[str, Any]:
    common = ("--scale", "0.01", "--rounds", "0", "--memory", "1g", "--buckets", "4", "--out", str(folder))
    run("benchmarks.run", name, *common, *more)
    (result,) = folder.rglob("*.json")
    found: dict[str, Any] = json.loads(result.read_text())
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "some"), [("tpch", TPCH), ("tpcds", TPCDS)])
def test_queries_give_the_rows_of_stock_delta(name: str, some: tuple[str, ...], tmp_path: Path) -> None:
    queries = suite(name, tmp_path, *ENGINES, "--queries", *some)["queries"]
    assert len(queries) == len(some)
    assert [one["query"] for one in queries if not one["rows_equal"]] == []
    assert [one["query"] for one in queries if one["lost_exchanges"] < 1] == []
    assert {one["query"] for one in queries if not _is_colocated(one)} <= ONE_SIDE


def _is_colocated(query: dict[str, Any]) -> bool:
    return any(text.startswith("colocated ") for text in query["verdicts"])
