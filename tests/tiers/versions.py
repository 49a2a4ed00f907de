"""The tier of a version of Spark, `./run test --spark 4.1`: what may differ between versions, in about ten minutes."""

from collections.abc import Iterable, Sequence

import pytest

from tests.tiers.selection import by_test, first_of_each

# Every rule and the golden plans, hiding, DDL, writes and MERGE, key models, dialects, both catalogs, Spark Connect.
OF_VERSIONS = (
    "tests/docs/test_servers.py::test_a_connect_client_runs_the_quickstart",
    "tests/fuzz/test_slice.py",
    "tests/spark/catalog/test_copies.py",
    "tests/spark/catalog/test_delta_ddl.py",
    "tests/spark/catalog/test_native_ddl.py",
    "tests/spark/columns/",
    "tests/spark/compat/",
    "tests/spark/dialect/",
    "tests/spark/evidence/",
    "tests/spark/keys/",
    "tests/spark/rules/",
    "tests/spark/scan/",
    "tests/spark/surroundings/",
    "tests/spark/write/",
    "tests/unit/test_spark_versions.py",
    "tests/unit/test_wrong_row_bugs.py",
)

# All their cases of the second tier; of other tests, the first one.
WHOLE = (
    "tests/spark/rules/test_plan_cases.py::test_plans_and_verdicts_are_the_golden_ones",
    "tests/spark/surroundings/test_statements_of_each_kind.py",
)

# They take long, and what they try does not depend on the version of Spark.
LEFT_OUT: tuple[str, ...] = ()


def in_tier_of_versions(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Of the cases of the second tier, those that one version of Spark is tried with, in the order given."""
    wanted = [item for item in items if item.nodeid.startswith(OF_VERSIONS) and not item.nodeid.startswith(LEFT_OUT)]
    first = set(first_of_each(wanted))
    return [item for item in wanted if item in first or item.nodeid.startswith(WHOLE)]


def files_of_versions() -> list[str]:
    """The files and folders whose tests are collected."""
    return [prefix.partition("::")[0] for prefix in OF_VERSIONS]


def without_tests(items: Iterable[pytest.Item]) -> list[str]:
    """Prefixes that are those of no test."""
    tests = list(by_test(items))
    return [prefix for prefix in (*OF_VERSIONS, *WHOLE, *LEFT_OUT) if not any(one.startswith(prefix) for one in tests)]
