"""The commands of README end well and leave what they promise; at a scale so small that only that is tested."""

import json
from pathlib import Path

import pytest
from matplotlib.image import imread

from tests.acceptance.commands import run


@pytest.mark.slow
def test_bench_join_writes_every_engine_with_rows_times_and_bytes(tmp_path: Path) -> None:
    common = ("--scale", "0.01", "--rounds", "1", "--memory", "1g", "--buckets", "4", "--out", str(tmp_path))
    printed = run("benchmarks.run", "join", *common)
    (result,) = tmp_path.rglob("*.json")
    assert str(result) in printed
    image = imread(result.with_suffix(".png"))
    assert min(image.shape[:2]) > 300
    assert len({tuple(colour) for row in image[::10, ::10, :3] for colour in row.round(2)}) > 5  # something is drawn
    record = json.loads(result.read_text())
    assert record["rows_equal"]
    found = {one["name"]: one["rounds"][0] for one in record["engines"]}
    assert found["delta-shuffle"]["join_shuffle_bytes"] > 0
    assert found["delta-shuffle"]["exchanges"] == 2
    assert found["native-colocated"]["join_shuffle_bytes"] == 0
    assert found["delta-colocated"]["exchanges"] == 0
    assert {"commit", "machine", "settings", "time"} <= record.keys()


def test_the_demo_shows_both_plans_equal_rows_the_group_and_both_fallbacks(tmp_path: Path) -> None:
    printed = run("benchmarks.demo", "--scale", "0.01", "--memory", "1g")
    for part in (
        "EXPLAIN with colocation",
        "equal",
        "SHOW PROC '/colocation_group'",
        "_orders",
        "group is not stable",
    ):
        assert part in printed
    assert "DIFFER" not in printed


def test_the_demo_in_doris_spelling_shows_the_documents_outcomes() -> None:
    printed = run("benchmarks.demo", "--doris", "--memory", "1g")
    for part in (
        "[BUCKETS_DIFFER]",
        "[RANGE_NO_PARTITION]",
        "[RANGE_OTHER_PARTITION]",
        "[2019-05-31, 2019-06-30)",
        "SHOW PROC '/colocation_group/",
        "_group1",
        "colocate: true (group example_db.group1, 8 buckets)",
        "colocate: false, reason: group is not stable",
        "EXCHANGE",
    ):
        assert part in printed
    assert printed.count("100000") >= 2
