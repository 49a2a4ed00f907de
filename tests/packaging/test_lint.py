"""Lint and types are tests like all others. The Scala stubs are linted by their build, before any test starts."""

from tools.lint import main


def test_ruff_and_strict_mypy_have_nothing_to_say() -> None:
    assert main() == 0, "see the output of ruff and mypy above"
