"""The core without the parts `doris` and `ops`: it compiles, and its suites pass."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from spark_colocate.session import jar_path

from tests.spark.sessions import ROOT
from tests.streets.arrows import Allowed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PARTS = Allowed.read("scala").areas

# Joins, aggregates, writes, MERGE and EXPLAIN of members. No statement of a part is in them.
SUITES = (
    "tests/spark/rules/test_plan_cases.py",
    "tests/spark/rules/test_oracle_matrix.py",
    "tests/spark/write/test_native_writes.py",
    "tests/spark/write/merge/test_merge_matches.py",
    "tests/spark/explain/test_verdicts.py",
)

# Some of its plans read range partitions, of which a rule of `doris` leaves some out.
WITH_PARTS = "tests/spark/rules/test_plan_cases.py::test_plans_and_verdicts_are_the_golden_ones[served]"


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which the parts' folders were deleted, and their services and rules with them."""
    folder = tmp_path_factory.mktemp("core") / "checkout"
    names = ("conf", "jvm-stubs", "python", "tests", "tools", "pyproject.toml")
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True)  # the package's conf is one
        else:
            shutil.copy(ROOT / name, folder / name)
    for part in PARTS:
        deleted = [path for path in (folder / "jvm-stubs").rglob(part) if path.is_dir()]
        assert deleted
        for path in deleted:
            shutil.rmtree(path)
    for service in (folder / "jvm-stubs").rglob("META-INF/services/*"):
        kept = [name for name in service.read_text().split() if PARTS.isdisjoint(name.split("."))]
        service.write_text("".join(f"{name}\n" for name in kept))
    rules = folder / "conf" / "rules.json"
    listed = json.loads(rules.read_text())
    rules.write_text(json.dumps({**listed, "rules": [rule for rule in listed["rules"] if "part" not in rule]}))
    return folder


def test_it_compiles_and_passes_its_suites(core: Path) -> None:
    options = ["-q", "-x", "--tier", "default", "-p", "no:cacheprovider", "--deselect", WITH_PARTS]
    command = [sys.executable, "-m", "pytest", *options, *SUITES]
    paths = os.pathsep.join([str(core / "python"), str(core)])
    done = subprocess.run(
        command, cwd=core, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    with zipfile.ZipFile(core / "python/spark_colocate/jars" / jar_path().name) as jar:
        assert [name for name in jar.namelist() if not PARTS.isdisjoint(name.split("/"))] == []
