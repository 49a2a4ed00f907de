"""Lint and types are tests like all others. The Scala stubs are linted by their build, before any test starts."""

from pathlib import Path

from tools.lint import long_scala_lines, main


def test_ruff_and_strict_mypy_have_nothing_to_say() -> None:
    assert main() == 0, "see the output of ruff and mypy above"


def test_a_scala_line_of_more_than_120_characters_is_found(tmp_path: Path) -> None:
    source = tmp_path / "jvm-stubs" / "src" / "A.scala"
    source.parent.mkdir(parents=True)
    source.write_text("x" * 120 + "\n" + "x" * 121 + "\n", encoding="utf-8")
    assert long_scala_lines(tmp_path) == ["jvm-stubs/src/A.scala:2: 121 characters, at most 120 are allowed"]
