"""The faults that users' trials have found, and the tests that hold the statements that showed them."""

import ast
import json
from pathlib import Path

TESTS = Path(__file__).parents[1]
FINDINGS = json.loads((TESTS / "findings.json").read_text())


def _functions(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_each_fault_that_was_found_has_a_test_that_there_is() -> None:
    """A golden file counts as one: whoever runs it compares all of it."""
    for finding in FINDINGS:
        assert finding["fault"].endswith(".") and finding["tests"], finding
        for test in finding["tests"]:
            path, _, name = test.partition("::")
            file = TESTS.parent / path
            assert file.is_file(), test
            assert name in _functions(file) if name else file.suffix == ".txt", test


def test_no_fault_is_listed_twice() -> None:
    faults = [finding["fault"] for finding in FINDINGS]
    assert len(faults) == len(set(faults)) == 39
