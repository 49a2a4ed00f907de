"""The Hive metastore, which spark-sql, the Thrift server and most installations use: named modules run under it too.

A process has one catalog for all its sessions. So they run in a pytest of their own, once, and each is one test here.
The first has a statement of each kind; the others are for the third tier.
"""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.spark.sessions import CATALOG_OF_TESTS, ROOT, SMALL

MODULES = (
    "test_statements_of_each_kind",
    "test_delta_hiding",
    "test_delta_ddl",
    "test_delta_overwrite",
    "test_merge_matches",
    "test_dml_exchanges",
    "test_reasons",
    "test_admin_listing",
    "test_admin_show",
)
TIMEOUT = 1800
pytestmark = pytest.mark.timeout(TIMEOUT)


@pytest.fixture(scope="module")
def failures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The texts of what failed under Hive, by module. Every module that was run is there."""
    assert SMALL["spark.sql.catalogImplementation"] == "in-memory", "it runs itself"
    report = tmp_path_factory.mktemp("hive") / "report.xml"
    asked = [item.callspec.params["module"] for item in request.session.items if item.path == request.path]
    files = [str(path) for module in asked for path in Path(ROOT, "tests", "spark").rglob(f"{module}.py")]
    options = ["-n", "0", "-q", "-p", "no:cacheprovider", "--tier", request.config.option.tier, f"--junitxml={report}"]
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
    "module", [MODULES[0], *(pytest.param(module, marks=pytest.mark.slow) for module in MODULES[1:])]
)
def test_a_module_holds_under_the_hive_metastore_too(failures: dict[str, list[str]], module: str) -> None:
    assert module in failures, f"{module} was not run; there are {sorted(failures)}"
    assert not failures[module], "\n\n".join(failures[module])
