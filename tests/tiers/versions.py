"""The tier of a version of Spark, `./run test --spark 4.1`: what may differ between versions, in about ten minutes."""

from collections.abc import Iterable, Sequence

import pytest

from tests.tiers.selection import by_test, first_of_each

# Every rule and the golden plans, hiding, DDL, writes and MERGE, key models, dialects, both catalogs, Spark Connect.
OF_VERSIONS = (
    "tests/docs/test_servers.py::test_a_connect_client_runs_the_quickstart",
    "tests/spark/catalog/test_copies.py",
    "tests/spark/catalog/test_delta_ddl.py",
    "tests/spark/catalog/test_native_ddl.py",
    "tests/spark/columns/",
    "tests/spark/compat/test_versions.py::test_another_patch_release_is_told_once_and_works",
    "tests/spark/dialect/",
    "tests/spark/evidence/test_trap_",
    "tests/spark/keys/",
    "tests/spark/rules/",
    "tests/spark/scan/test_hybrid_scan.py",
    "tests/spark/scan/test_metadata_fields.py",
    "tests/spark/scan/test_trap_batches.py",
    "tests/spark/surroundings/test_plain_setup.py::test_spark_sql_with_settings_alone",
    "tests/spark/surroundings/test_statements_of_each_kind.py",
    "tests/spark/surroundings/test_under_hive.py",
    "tests/spark/write/",
    "tests/unit/test_spark_versions.py",
    "tests/unit/test_wrong_row_bugs.py",
)

# All their cases of the second tier; of other tests, the first one.
WHOLE = (
    "tests/spark/rules/test_plan_cases.py::test_not_in_is_a_broadcast_and_says_so",
    "tests/spark/rules/test_plan_cases.py::test_plans_and_verdicts_are_the_golden_ones",
    "tests/spark/surroundings/test_statements_of_each_kind.py",
)

# They take long, and ask a second time, or of many settings, what others in this tier ask.
LEFT_OUT = (
    "tests/spark/columns/test_hiding_absent.py",
    "tests/spark/keys/test_key_models.py::test_an_older_version_has_the_rows_of_its_loads",
    "tests/spark/keys/test_key_models.py::test_what_delta_does_to_files_keeps_the_order_of_loads",
    "tests/spark/keys/test_key_models.py::test_writes_into_a_cached_table_change_the_cache",
    "tests/spark/keys/test_reserved_properties.py",
    "tests/spark/rules/aggregate/test_merge_sorted_files.py::test_a_",
    "tests/spark/rules/aggregate/test_merge_sorted_files.py::test_files_of_other_writers_are_sorted_first",
    "tests/spark/rules/aggregate/test_merge_sorted_files.py::test_settings_change_nothing",
    "tests/spark/rules/scan/test_check_while_reading.py::test_elsewhere_the_check_comes_first",
    "tests/spark/rules/test_nested_keys.py",
    "tests/spark/rules/test_outsiders.py",
    "tests/spark/write/merge/test_merge_exchanges.py::test_other_bucket_counts_meet_at_the_common_divisor",
    "tests/spark/write/merge/test_merge_exchanges.py::test_without_adaptive_execution_nothing_is_shuffled_either",
    "tests/spark/write/merge/test_merge_journal.py",
    "tests/spark/write/test_table_features.py",
)


def in_tier_of_versions(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Of the cases of the second tier, those that one version of Spark is tried with, in the order given."""
    wanted = [item for item in items if item.nodeid.startswith(OF_VERSIONS) and not item.nodeid.startswith(LEFT_OUT)]
    first = set(first_of_each(wanted))
    return [item for item in wanted if item in first or item.nodeid.startswith(WHOLE)]


def files_of_versions() -> list[str]:
    """Beginnings of the paths whose tests are collected."""
    return [prefix.partition("::")[0] for prefix in OF_VERSIONS]


def without_tests(items: Iterable[pytest.Item]) -> list[str]:
    """Prefixes that are those of no test."""
    tests = list(by_test(items))
    return [prefix for prefix in (*OF_VERSIONS, *WHOLE, *LEFT_OUT) if not any(one.startswith(prefix) for one in tests)]
