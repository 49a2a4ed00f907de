"""What a statement costs on a cluster: stages that are started, CPU seconds on cores, bytes on links.

    seconds = a * stages + b * (sum over stages of CPU seconds / min(tasks, cores)) + c * bytes / (hosts * link)

bytes: from worker to worker; each host has its share of them on its own link. The CPU seconds of each stage, its tasks
and the bytes are measured. a, b and c are the same for all statements, engines and links of a run: they are fitted to
its measured times, so that the relative errors are as small as can be. b is above 1 where tasks wait for what is no CPU
of theirs, such as the collector of garbage; c is below 1 where a stage computes while it fetches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


@dataclass(frozen=True)
class Work:
    """What was measured of a statement. stages: of each the number of tasks and their CPU seconds."""

    stages: tuple[tuple[int, float], ...]
    wire_bytes: float

    def times(self, factor: float) -> Work:
        """The same on more data, in more tasks of the same size."""
        stages = tuple((max(1, round(tasks * factor)), cpu * factor) for tasks, cpu in self.stages)
        return Work(stages, self.wire_bytes * factor)


@dataclass(frozen=True)
class Machines:
    """cores: of all hosts, that can run tasks at the same time. link: bits per second of each host."""

    hosts: int
    cores: int
    link: float


@dataclass(frozen=True)
class Constants:
    """a, b and c."""

    stage: float
    cpu: float
    wire: float

    def seconds(self, work: Work, machines: Machines) -> float:
        """The time that the model expects."""
        terms = _terms(work, machines)
        return sum(one * term for one, term in zip((self.stage, self.cpu, self.wire), terms, strict=True))


@dataclass(frozen=True)
class Point:
    """A measured time."""

    work: Work
    machines: Machines
    seconds: float


def fitted(points: Sequence[Point]) -> Constants:
    """The constants, none of them negative, with the least sum of squared relative errors."""
    terms = np.array([[term / point.seconds for term in _terms(point.work, point.machines)] for point in points])
    candidates = [_solved(terms, chosen) for size in (1, 2, 3) for chosen in combinations(range(3), size)]
    best = min((one for one in candidates if (one >= 0).all()), key=lambda one: float(((terms @ one - 1) ** 2).sum()))
    return Constants(*map(float, best))


def bits(rate: str) -> float:
    """A speed as tc writes it: `100mbit`."""
    found = re.fullmatch(r"([0-9.]+)([kmg]?)bit", rate)
    if not found:
        raise ValueError(f"{rate} is no speed of a link, such as 100mbit")
    return float(found[1]) * _UNITS[found[2]]


def points(record: dict[str, Any]) -> dict[tuple[str, str, str], Point]:
    """The measured times of a result of `./run bench cluster`, by link, statement and engine.

    A statement's work is the mean over all links: only the time may depend on the link.
    """
    cores = min(record["hosts"], record["machine"]["cores"])
    work = {(one["statement"], one["name"]): one for one in _runs(record)}
    measured = {key: _work(record, *key) for key in work}
    return {
        (link, one["statement"], one["name"]): Point(
            measured[one["statement"], one["name"]],
            Machines(record["hosts"], cores, bits(link)),
            one["median_seconds"],
        )
        for link, found in record["links"].items()
        for one in found["runs"]
    }


def _runs(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for found in record["links"].values() for one in found["runs"]]


def _work(record: dict[str, Any], statement: str, engine: str) -> Work:
    """The mean of the measured rounds; their stages are as many, but for those that AQE drops now and then."""
    rounds = [
        one for run in _runs(record) if (run["statement"], run["name"]) == (statement, engine) for one in run["rounds"]
    ]
    usual = sorted(len(one["stages"]) for one in rounds)[len(rounds) // 2]
    alike = [one["stages"] for one in rounds if len(one["stages"]) == usual]
    stages = tuple((int(same[0][0]), float(np.mean([cpu for _, cpu in same]))) for same in zip(*alike, strict=True))
    return Work(stages, float(np.mean([one["between_bytes"] for one in rounds])))


def _terms(work: Work, machines: Machines) -> tuple[float, float, float]:
    cpu = sum(seconds / min(tasks, machines.cores) for tasks, seconds in work.stages)
    return len(work.stages), cpu, 8 * work.wire_bytes / (machines.hosts * machines.link)


def _solved(terms: Any, chosen: tuple[int, ...]) -> Any:
    """The best values of the chosen constants; the others are 0."""
    found, *_ = np.linalg.lstsq(terms[:, chosen], np.ones(len(terms)), rcond=None)
    whole = np.zeros(terms.shape[1])
    whole[list(chosen)] = found
    return whole
