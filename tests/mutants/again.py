"""A plugin of pytest: each test runs once as it is and, if it passes, again with mutants, all in one JVM.

A mutant of this kind is a setting of a new session (a rule, a planted bug), or a name that PySpark shows (an error).
The session that the fixtures have is exchanged for a new one before each run, also before the one without a mutant:
what a new session does not have, such as a module's temporary view, is then seen by a test that fails without a mutant.
Such a test says nothing here, and needs a process of its own for each mutant.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from pyspark.sql import SparkSession

from tests.mutants import errors
from tests.spark.sessions import DROPPED_RULES, MUTANT, mutant_settings

KINDS = ("rule:", "bug:", "error:")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--again", help="JSON: from mutants to the ids of tests or files that may find them")
    parser.addoption("--found", help="the file that gets a line for each mutant that is found: its name and the test")


def pytest_configure(config: pytest.Config) -> None:
    wanted = json.loads(Path(config.getoption("--again")).read_text(encoding="utf-8"))
    config.pluginmanager.register(Again(wanted, Path(config.getoption("--found"))))


class Again:
    """wanted: from mutants to the beginnings of the ids of tests; a mutant that is found is looked for no more."""

    def __init__(self, wanted: dict[str, Sequence[str]], found: Path) -> None:
        self.wanted = wanted
        self.found = found

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        if self._due(item) and _passes(item):
            others = {name for name in self.wanted if not name.startswith("error:")} - _without_effect()
            for mutant in sorted((errors.seen & set(self.wanted) | others) & set(self._due(item))):
                with _switched_on(mutant):
                    if not _passes(item):
                        self._note(mutant, item)
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def _due(self, item: pytest.Item) -> list[str]:
        return [name for name, tests in self.wanted.items() if item.nodeid.startswith(tuple(tests))]

    def _note(self, mutant: str, item: pytest.Item) -> None:
        del self.wanted[mutant]
        with self.found.open("a", encoding="utf-8") as lines:
            print(json.dumps([mutant, item.nodeid]), file=lines)


def _passes(item: pytest.Item) -> bool:
    """Runs the test in a new session. The first one makes the session; then the test runs once more."""
    is_first = not _renew_session()
    errors.seen.clear()
    if not is_first:
        _without_effect()  # of what ran before
    item._initrequest()  # type: ignore[attr-defined]
    reports = runtestprotocol(item, log=False, nextitem=_Sibling(item))  # type: ignore[arg-type]
    passed = not any(report.failed for report in reports)
    return _passes(item) if passed and is_first and SparkSession._instantiatedSession else passed


def _without_effect() -> set[str]:
    """The rules that have run in the test, and have changed no plan."""
    session = SparkSession._instantiatedSession
    if session is None:
        return set()
    assert session._jvm is not None
    rules = session._jvm.org.apache.spark.sql.colocate.testing.ChangedPlans.unchanged()
    return {f"rule:{name}" for name in rules.split(",")}


class _Sibling:
    """Stands for another test of the same module: what the module's tests share is not taken down."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item

    def listchain(self) -> list[Any]:
        return list(self.item.listchain()[:-1])


def _renew_session() -> bool:
    """The fixtures' session is a new one from now on, with the mutant that is on. False if there is none yet."""
    session = SparkSession._instantiatedSession
    if session is None:
        return False
    assert session._jvm is not None
    session._jsparkSession = session._jsparkSession.newSession()
    for cached in ("conf", "catalog", "streams"):
        vars(session).pop(cached, None)
    for change in (session._jvm.SparkSession.setDefaultSession, session._jvm.SparkSession.setActiveSession):
        change(session._jsparkSession)
    for key, value in mutant_settings(os.environ.get(MUTANT, "")).items():
        session.conf.set(key, value)
    return True


@contextmanager
def _switched_on(mutant: str) -> Iterator[None]:
    """For the session, for those that tests start in other processes, and for what reads the application's settings."""
    os.environ[MUTANT] = mutant
    errors.renamed = mutant.removeprefix("error:") if mutant.startswith("error:") else ""
    session = SparkSession._instantiatedSession
    assert session is not None and session._jvm is not None
    conf = session._jvm.org.apache.spark.SparkEnv.get().conf()
    dropped = mutant_settings(mutant).get(DROPPED_RULES)
    if dropped:
        conf.set(DROPPED_RULES, dropped)
    try:
        yield
    finally:
        conf.remove(DROPPED_RULES)
        errors.renamed = ""
        del os.environ[MUTANT]
