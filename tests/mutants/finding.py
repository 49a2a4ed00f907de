"""Looks for the test that finds a mutant: among those that come to the refusal, or that are of the rule."""

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.mutants import running, table
from tests.mutants.again import KINDS as IN_ONE_SESSION
from tests.mutants.catalogue import ROOT, mutants

# Tests without a JVM. The stores other than SQLite are in the third tier.
PYTHON = ("tests/unit", "tests/contract", "tests/faces", "-k", "not postgresql")
AT_ONCE = 8
"""So many tests of those that come to a refusal are tried."""

FENCES = ("tests/contract/test_jobs.py", "tests/contract/test_late_statements.py")
SPARK = ROOT / "tests" / "spark"
RULES = "rules/test_plan_cases.py"

# Where to look for rules whose tests have other names; below tests/spark.
ELSEWHERE = {
    "HideBucketColumn": "columns/test_delta_hiding.py",
    "CheckHiding": "columns/test_hiding_absent.py",
    "ShowAsDeclared": "columns/test_delta_hiding.py catalog/test_admin_show.py",
    "CarryWriterOptions": "catalog/test_delta_ddl.py",
    "CheckCreate": "catalog/test_bad_input_tables.py catalog/test_native_hive.py",
    "FillBucketColumn": "columns/test_delta_hiding.py",
    "RewriteUpdates": "keys/test_key_models.py",
    "ExpandMergeStars": "columns/test_delta_hiding.py",
    "ResolutionErrors": "columns/test_errors_of_targets.py",
    "WrapNativeDdl": "catalog/test_native_ddl.py",
    "KeepNativeLayout": "write/test_native_writes.py",
    "RefuseValueFilters": "keys/test_bad_key_models.py",
    "LayOutPathWrites": "columns/test_delta_hiding.py write/test_append_by_writers.py",
    "LayOutWrites": "write/test_delta_write_layout.py",
    "PlainMergeSource": "columns/test_delta_hiding.py",
    "CheckErrors": "columns/test_errors_of_targets.py",
    "FinishVisibleColumns": "columns/test_delta_hiding.py",
    "AggregateByKey": "keys/test_key_models.py",
    "RefuseUnknownSettings": "conf/test_settings.py",
    "RefuseStreams": "keys/test_bad_key_models.py keys/test_key_models.py",
    "FinishRewrites": "jobs/test_unfinished_rewrites.py",
    "WaitForManifests": "write/test_native_writes.py evidence/test_verify_on_read.py",
    "DropStaleRangeFilters": "catalog/test_range_partitions.py catalog/test_range_partition_races.py",
    "SkipKeyAggregation": "keys/test_key_models.py",
    "PlanBucketedWrite": "write/test_delta_write_layout.py",
    "TagSortedLoads": "rules/aggregate/test_merge_sorted_files.py",
    "JoinFileListLocally": "write/merge/test_dml_exchanges.py",
    "PlanExpands": RULES,
    "DisambiguateMergeRowIds": "write/merge",
    "DropExchangeOnNullExtendedKeys": RULES,
    "GroupWithinTask": "write/merge/test_merge_exchanges.py",
    "WriteWithinBuckets": "write/merge/test_merge_exchanges.py write/test_writes_from_joins.py",
    "DisableUnnecessaryColocatedScan": RULES,
    "ReadSmallBucketsTogether": "rules/join/test_spread_joins.py",
    "MergeAdjacentAggregates": "rules/test_failing_rewrites.py " + RULES,
    "GatherFewRows": "write/merge/test_merge_exchanges.py",
    "PlaceWrites": "write/test_hosts_of_files.py",
    "SplitLargeBuckets": "write/test_delta_write_layout.py write/test_native_writes.py rules/test_failing_rewrites.py",
    "DropPlanningNodes": "rules/test_failing_rewrites.py " + RULES,
}  # fmt: skip

# Where to look for planted bugs that the plans' cases do not show, as rules/test_planted_bugs.py does for the fuzz.
BUGS_ELSEWHERE = {
    "rules/join/test_spread_joins.py": "full_outer_split extended_side_split both_sides_split",
    "rules/scan/test_dynamic_bucket_pruning.py": "preserved_side_pruned",
    "rules/aggregate/test_share_aggregates.py": "shared_groups_lost",
    "rules/shuffle/test_buffer_shuffled_rows.py": "kept_rows_lost",
    "rules/semantics/test_zip_unions.py": "union_zipped_wrong",
    "scan/test_hybrid_scan.py": "strays_ignored stray_twice stray_unshuffled",
    "evidence/test_trap_snapshots.py": "other_snapshot deletion_vectors_ignored partition_filter_lost",
    "rules/scan/test_prune_ranges.py": "declared_number_pruned most_buckets_promised",
    "evidence/test_partition_buckets.py": "declared_number_pruned most_buckets_promised",
    "catalog/test_range_partitions.py": "bound_taken_by_lower_range null_taken_by_higher_range hole_filled",
    "keys/test_key_models.py": "first_load_replaces keys_not_aggregated value_filter_below_keys",
    "rules/aggregate/test_merge_sorted_files.py": "files_not_merged first_load_merged",
}

# Where to look for errors whose texts are asserted, without their names.
ERRORS_ELSEWHERE = {
    "HASH_SHADOWED": "write/test_check_computed_buckets_of_shadowed_hash.py",
    "JOB_TARGET": "jobs/test_jobs.py",
    "KEY_MODEL_CLONE": "keys/test_bad_key_models.py",
    "KEY_MODEL_FIXED": "keys/test_bad_key_models.py",
    "KEY_MODEL_FORMAT": "keys/test_bad_key_models.py",
    "KEY_WRITTEN_LOSSY": "write/test_check_computed_buckets_of_lossy_keys.py",
    "NO_PARTITIONS": "columns/test_delta_hiding.py catalog/test_admin_show.py",
    "SETTING_UNKNOWN": "conf/test_settings.py",
}  # fmt: skip


def find(wanted: Sequence[str]) -> int:
    """Adds a row for each mutant that a test finds, and says which have none. Rows of mutants that are gone go."""
    present = set(mutants())
    table.write({name: test for name, test in table.read().items() if name in present})
    missing = [name for name in wanted if name not in table.read()]
    reaching = _reaching() if any(name.startswith("refusal:") for name in missing) else {}
    possible = {name: candidates(name, reaching) for name in missing}
    in_one_session = {name: tests for name, tests in possible.items() if tests and name.startswith(IN_ONE_SESSION)}
    if in_one_session:
        _keep(running.found_in_one_session(in_one_session))
    for name in missing:
        if name not in table.read() and possible[name]:
            test = running.first_failure(name, possible[name])
            _keep({name: test} if test else {})
    for name in wanted:
        if name not in table.read():
            print(f"{name}: NOT FOUND by {possible[name]}")
    return 1 if set(wanted) - set(table.read()) else 0


def _keep(found: Mapping[str, str]) -> None:
    for name, test in found.items():
        print(f"{name}: {test}", flush=True)
    table.write(dict(sorted({**table.read(), **found}.items())))


def candidates(mutant: str, reaching: Mapping[str, Sequence[str]]) -> list[str]:
    kind, _, name = mutant.partition(":")
    if kind == "bug":
        elsewhere = [f"tests/spark/{path}" for path, bugs in BUGS_ELSEWHERE.items() if name in bugs.split()]
        return [f"tests/spark/{RULES}", "tests/spark/rules/test_oracle_matrix.py", *elsewhere]
    if kind == "error":
        return _naming(name)
    if kind == "fence":
        return list(FENCES)
    if kind != "rule":
        return list(reaching.get(mutant, ()))[:AT_ONCE]
    return [*_of_rule(name), f"tests/spark/{RULES}"]


def _of_rule(name: str) -> list[str]:
    own = sorted(SPARK.rglob(f"test_{_snake(name)}*.py"))
    return [str(path.relative_to(ROOT)) for path in own] or [
        f"tests/spark/{each}" for each in ELSEWHERE.get(name, "").split()
    ]


def _naming(condition: str) -> list[str]:
    """The tests that name an error, else those that its place says: a golden text that names it is one of bad input."""
    named = [path for path in sorted(SPARK.rglob("test_*.py")) if condition in path.read_text(encoding="utf-8")]
    elsewhere = ERRORS_ELSEWHERE.get(condition, "catalog/test_bad_input_tables.py").split()
    return [str(path.relative_to(ROOT)) for path in named] or [f"tests/spark/{each}" for each in elsewhere]


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _reaching(tests: Sequence[str] = PYTHON) -> dict[str, list[str]]:
    """From a refusal to the tests that come to it."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "reached"
        lines.touch()
        running.pytest(["-p", "tests.mutants.recording", f"--reached={lines}", *tests], "record")
        found = defaultdict(list)
        for line in lines.read_text(encoding="utf-8").splitlines():
            test, refusals = json.loads(line)
            for refusal in refusals:
                found[refusal].append(test)
    return found
