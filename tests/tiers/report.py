"""What a run says in the end: counts, time, the ten slowest; and the table of the last runs of the third tier."""

import datetime
import hashlib
import json
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.tiers.shards import write_seconds

ROOT = Path(__file__).parents[2]
LAST_RUNS = Path(__file__).parent / "last_runs.json"
SLOWEST = 10


def ids_hash(ids: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]


class Report:
    """Of the process that hears of each test: the one that was started, not the workers of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._start = config, time.monotonic()
        self._seconds: Counter[str] = Counter()
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        if report.outcome != "passed" or report.nodeid not in self._outcomes:
            self._outcomes[report.nodeid] = report.outcome

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._outcomes:
            return
        write = terminalreporter.write_line
        write(f"the {SLOWEST} slowest tests, with their set-up:")
        for test, seconds in self._seconds.most_common(SLOWEST):
            write(f"{seconds:7.1f} s  {test}")
        write(f"tier {self._named}: {self._counts} in {self._minutes} minutes; ids {ids_hash(self._outcomes)}")

    def pytest_sessionfinish(self) -> None:
        option = self._config.option
        whole = not (option.names_tests or option.keyword or option.markexpr or option.collectonly)
        if self._outcomes and whole and (option.tier == "all" or option.record):
            write_seconds(option.tier, self._of_files())
        if self._outcomes and whole and option.tier == "all":
            self._write_last_run()

    @property
    def _named(self) -> str:
        shard = self._config.option.shard
        return f"{self._config.option.tier}, shard {shard}" if shard else str(self._config.option.tier)

    @property
    def _counts(self) -> str:
        counts = Counter(self._outcomes.values())
        return ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))

    @property
    def _minutes(self) -> float:
        return round((time.monotonic() - self._start) / 60, 1)

    def _of_files(self) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for test, seconds in self._seconds.items():
            found[test.partition("::")[0]] += seconds
        return found

    def _write_last_run(self) -> None:
        shard = str(self._config.option.shard or "1/1")
        runs = json.loads(LAST_RUNS.read_text())
        runs = {name: run for name, run in runs.items() if name.partition("/")[2] == shard.partition("/")[2]}
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        runs[shard] = {"commit": commit(), "day": today, "counts": self._counts, "minutes": self._minutes}
        in_order = sorted(runs.items(), key=lambda one: int(one[0].partition("/")[0]))
        LAST_RUNS.write_text(json.dumps(dict(in_order), indent=1) + "\n")


def commit() -> str:
    """With a + where files differ from it, but for what such runs write."""
    described = ["git", "describe", "--always", "--abbrev=10", "--exclude=*"]
    changed = ["git", "status", "--porcelain", "--", ".", ":!tests/tiers/*.json"]
    name, changes = (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
        for command in (described, changed)
    )
    return (name or "unknown") + ("+" if changes else "")
