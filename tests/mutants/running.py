"""Tests with a mutant, in processes of their own: each has its JVM and its control plane, which all have the mutant."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from tests.mutants.catalogue import ROOT
from tests.spark.sessions import MUTANT

STARTUP = Path(__file__).parent / "startup"
SECONDS = 900
FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\n]*?)(?: - [^\n]*)?$", re.MULTILINE)


class Outcome(StrEnum):
    FOUND = "found"
    SURVIVED = "NOT FOUND"
    NO_TEST = "NO SUCH TEST"


def run(mutant: str, tests: Sequence[str]) -> Outcome:
    """Stops at the first test that fails."""
    return _outcome(pytest(["-x", *tests], mutant))


def first_failure(mutant: str, tests: Sequence[str]) -> str | None:
    """The first of the tests that finds the mutant. A test that only fails to be set up has found it as well."""
    done = pytest(["-x", *tests], mutant)
    failed = FAILED.search(done.stdout)
    if _outcome(done) is not Outcome.FOUND:
        return None
    return failed[1] if failed else tests[0]


def passing(tests: Sequence[str]) -> list[str]:
    """Runs them without a mutant; those that fail."""
    if not tests:
        return []
    done = pytest(["--numprocesses", "2", "--dist", "loadfile", *tests])
    return [] if done.returncode == 0 else FAILED.findall(done.stdout) or [done.stdout[-3000:] + done.stderr[-3000:]]


def found_in_one_session(candidates: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """From mutants to the test that finds them, of those that need no process of their own. See again.py."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, found = Path(folder) / "wanted.json", Path(folder) / "found"
        wanted.write_text(json.dumps(candidates), encoding="utf-8")
        found.touch()
        # Those that many mutants may be found by come last, when few are left to be found.
        asked = Counter(test for some in candidates.values() for test in some)
        tests = sorted(asked, key=lambda test: asked[test])
        plugins = ["-p", "tests.mutants.errors", "-p", "tests.mutants.again"]
        done = pytest([*plugins, f"--again={wanted}", f"--found={found}", "--tier=default", *tests])
        if not found.stat().st_size:
            print(done.stdout[-2000:], done.stderr[-2000:])
        return dict(json.loads(line) for line in found.read_text(encoding="utf-8").splitlines())


def pytest(arguments: Sequence[str], mutant: str = "") -> "subprocess.CompletedProcess[str]":
    path = [str(STARTUP), str(ROOT / "python"), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), MUTANT: mutant}
    plugin = ["-p", "tests.mutants.errors"] if mutant == "record" or mutant.startswith("error:") else []
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", f"--timeout={SECONDS}", *plugin, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def _outcome(done: "subprocess.CompletedProcess[str]") -> Outcome:
    if done.returncode == 0:
        return Outcome.SURVIVED
    return Outcome.FOUND if done.returncode == 1 else Outcome.NO_TEST
