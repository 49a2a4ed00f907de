"""One session for the whole run. A test that needs another set-up starts a subprocess (tests/spark/sessions.py)."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.sessions import INTERPRETED, STEADY_JVM, WRONG_PLANNERS, builder

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """local[2] with our jar, Delta's jars, both extensions, our catalog, in-memory tables, a temporary warehouse."""
    session = builder(tmp_path_factory.mktemp("session"), WRONG_PLANNERS, STEADY_JVM).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.sql("SELECT 1").collect()  # Delta's extension sets some settings now: no test's, to be taken back after it
    yield session
    session.stop()


@pytest.fixture
def db(spark: SparkSession) -> Iterator[str]:
    """A fresh current database, dropped with its tables afterwards, and with all temporary views of the session."""
    name = f"db{next(_numbers)}"
    spark.sql(f"CREATE DATABASE {name}")
    spark.sql(f"USE {name}")
    yield name
    spark._jsparkSession.sessionState().catalog().clearTempTables()  # a view hides a later test's table of its name
    spark.sql("USE default")
    spark.sql(f"DROP DATABASE {name} CASCADE")


@pytest.fixture
def session(spark: SparkSession, tables: str) -> SparkSession:
    """For a module with a fixture `tables`, a database: it is the current one, and small sides are not broadcast."""
    spark.sql(f"USE {tables}")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    return spark


@pytest.fixture(autouse=True)
def _settings_are_put_back() -> Iterator[None]:
    """What a test SETs ends with the test, `disable_colocate_join` above all."""
    yield from settings_put_back()


def settings_put_back() -> Iterator[None]:
    session = SparkSession.getActiveSession()
    before = _settings(session) if session else None
    yield
    if session is None or _settings(session).equals(before):
        return
    # Read one by one only where they differ: that takes tens of milliseconds.
    was, after = dict(before), dict(session.conf.getAll)
    for key in after.keys() - was.keys():
        session.conf.unset(key)
    for key, value in was.items():
        if after.get(key) != value:
            session.conf.set(key, value)


def _settings(session: SparkSession) -> Any:
    """A copy of them that stays in the JVM."""
    return session._jsparkSession.conf().getAllAsJava()


@pytest.fixture(scope="module", autouse=True)
def _without_generated_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """For a module that says `INTERPRETED = True`: its tests look at plans and files, over a few rows."""
    if not getattr(request.module, "INTERPRETED", False):
        yield
        return
    session: SparkSession = request.getfixturevalue("spark")
    for key, value in INTERPRETED.items():
        session.conf.set(key, value)
    yield
    for key in INTERPRETED:
        session.conf.unset(key)
