"""The Hive metastore, which spark-sql, the Thrift server and most installations use: named modules run under it too.

A process has one catalog for all its sessions. So they run in a pytest of their own, once, and each is one test here.
Half of them run on one day, the other half on the next.
"""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.rotation import is_due, on_its_day
from tests.spark.sessions import CATALOG_OF_TESTS, ROOT, SMALL

# Hiding, DDL, writes, MERGE, EXPLAIN and listing. Every second one has the same day, so each day has most subjects.
MODULES = (
    "test_delta_hiding",
    "test_delta_ddl",
    "test_delta_overwrite",
    "test_merge_matches",
    "test_dml_exchanges",
    "test_reasons",
    "test_admin_listing",
    "test_admin_show",
)
DAYS = 2
TIMEOUT = 1800
pytestmark = pytest.mark.timeout(TIMEOUT)


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The texts of what failed under Hive, by module. Every module that was run is there."""
    assert SMALL["spark.sql.catalogImplementation"] == "in-memory", "it runs itself"
    report = tmp_path_factory.mktemp("hive") / "report.xml"
    due = [module for number, module in enumerate(MODULES) if is_due(number % DAYS, DAYS)]
    files = [str(path) for module in due for path in Path(ROOT, "tests", "spark").rglob(f"{module}.py")]
    options = ["-n", "0", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    command = [sys.executable, "-m", "pytest", *options, *files]
    # Of the worker that this runs in, the nested pytest must know nothing.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment[CATALOG_OF_TESTS] = "hive"
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert report.exists(), f"pytest under Hive: exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        texts = found.setdefault(case.get("classname", "").rpartition(".")[2], [])
        bad = [one for one in case if one.tag in ("failure", "error", "skipped")]
        texts.extend(f"{case.get('name')} ({one.tag})\n{(one.text or '')[-4000:]}" for one in bad)
    return found


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=on_its_day(number % DAYS, DAYS)) for number, name in enumerate(MODULES)]
)
def test_a_module_holds_under_the_hive_metastore_too(failures: dict[str, list[str]], module: str) -> None:
    assert module in failures, f"{module} was not run; there are {sorted(failures)}"
    assert not failures[module], "\n\n".join(failures[module])
