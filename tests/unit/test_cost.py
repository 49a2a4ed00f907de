"""The cost model of the cluster benchmark finds the constants that made the times."""

import argparse
import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import cluster, lab, report
from benchmarks.cost import Constants, Machines, Point, Work, bits, fitted, points

TRUE = Constants(stage=0.2, cpu=1.3, wire=0.8)
WORKS = {
    "delta-shuffle": Work(((4, 6.0), (16, 20.0), (1, 0.1)), 400e6),
    "delta-colocated": Work(((16, 15.0), (1, 0.1)), 20e3),
}


def test_the_constants_are_found() -> None:
    slow, fast = (Machines(3, 2, bits(link)) for link in ("100mbit", "1gbit"))
    measured = [Point(work, at, TRUE.seconds(work, at)) for work in WORKS.values() for at in (slow, fast)]
    found = fitted(measured)
    assert (found.stage, found.cpu, found.wire) == pytest.approx((TRUE.stage, TRUE.cpu, TRUE.wire))


def test_no_constant_is_negative() -> None:
    at = Machines(3, 2, 1e9)
    measured = [Point(Work(((4, cpu),), 8e9 / cpu), at, cpu) for cpu in (1.0, 2.0, 4.0)]
    found = fitted(measured)
    assert min(found.stage, found.cpu, found.wire) >= 0


def test_few_tasks_leave_cores_idle() -> None:
    work = Work(((2, 8.0),), 0)
    assert Constants(0, 1, 0).seconds(work, Machines(3, 48, 1e9)) == 4.0
    assert Constants(0, 1, 0).seconds(work.times(24), Machines(3, 48, 1e9)) == 4.0


@pytest.mark.parametrize(("rate", "expected"), [("10gbit", 1e10), ("100mbit", 1e8), ("1.5kbit", 1500), ("9bit", 9)])
def test_speeds_are_read_as_tc_writes_them(rate: str, expected: float) -> None:
    assert bits(rate) == expected


def test_what_is_no_speed_is_refused() -> None:
    with pytest.raises(ValueError, match="fast is no speed"):
        bits("fast")


def record() -> dict[str, Any]:
    """A result whose times the model explains, but for a hundredth."""
    links = {}
    for link in ("1gbit", "100mbit"):
        runs = []
        for statement, factor in (("join", 1.0), ("merge", 3.0)):
            for name, work in WORKS.items():
                seconds = 1.01 * TRUE.seconds(work.times(factor), Machines(3, 2, bits(link)))
                done = {
                    "seconds": seconds,
                    "exchanges": 0,
                    "stages": [list(stage) for stage in work.times(factor).stages],
                    "shuffle_bytes": 0,
                    "between_bytes": work.wire_bytes * factor,
                    "driver_bytes": 1000,
                    "at_host": 0,
                    "elsewhere": 0,
                }
                run = {"statement": statement, "name": name, "title": name, "median_seconds": seconds}
                runs.append({**run, "rounds": [done, done]})
        links[link] = {"rows_equal": True, "runs": runs}
    return {"scale": 5.0, "hosts": 3, "machine": {"cores": 2}, "links": links, "rows_equal": True}


def test_the_points_of_a_result_are_within_a_quarter() -> None:
    measured = points(record())
    assert len(measured) == 8
    model = fitted(list(measured.values()))
    for point in measured.values():
        assert abs(model.seconds(point.work, point.machines) / point.seconds - 1) < 0.25


def test_a_result_is_shown_with_its_model(capsys: pytest.CaptureFixture[str]) -> None:
    report.print_cluster(record())
    shown = capsys.readouterr().out
    assert "model: 0.202 s for each stage, 1.31 s for each second of CPU" in shown
    assert "expected of 3 hosts with 16 cores and 10gbit, scale 120" in shown


def test_the_rounds_of_a_run_are_a_result_that_is_shown_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each link has its rounds of each statement; only the first link has one to warm up, which is not kept."""
    stock, members = cluster.engines_compared()
    statements = [
        cluster.Statement(name, one, "", check)
        for name, check in (("join", ""), ("merge", "x"))
        for one in (stock, members)
    ]
    ran: list[str] = []

    def run(_spark: Any, _net: Any, statement: cluster.Statement) -> tuple[cluster.Found, list[tuple[int]]]:
        ran.append(statement.key)
        work = WORKS[statement.engine.name]
        return cluster.Found(2.0, 1, list(work.stages), 0, int(work.wire_bytes), 100, 3, 1), [(len(statement.name),)]

    monkeypatch.setattr(cluster, "run_once", run)
    monkeypatch.setattr(lab, "using", lambda _spark, _engine: nullcontext())
    asked = argparse.Namespace(links=["1gbit", "100mbit"], rounds=2, warm_up=1)
    net: Any = SimpleNamespace(limit=lambda _link: None)
    links = {link: cluster._rounds(None, net, statements, link, asked) for link in asked.links}  # type: ignore[arg-type]
    assert len(ran) == (3 + 2) * len(statements)
    assert all(found["rows_equal"] for found in links.values())
    result = {**record(), "links": links}
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(result))
    assert cluster.show(argparse.Namespace(result=file)) == 0
    assert "3 of 4" in capsys.readouterr().out
