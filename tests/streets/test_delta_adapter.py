"""Delta's classes are used by one package alone, and each of its objects is tried when a session starts."""

import re
from pathlib import Path

import pytest

from tests.streets.scala_imports import NO_CODE, TREE

ADAPTER = TREE / "org/apache/spark/sql/colocate/compat/delta"
DELTAS = re.compile(r"\borg\.apache\.spark\.sql\.delta\b|\bio\.delta\b|\bDelta(?:Merge\w*|UpdateTable|Delete)\b")
HOOKS = ADAPTER.parent / "hooks/DeltaHooks.scala"
# What asks whether Delta is there at all.
BEFORE_ALL = {"DeltaVersion"}


def code(path: Path) -> str:
    return NO_CODE.sub(" ", path.read_text())


def strangers(tree: Path) -> list[Path]:
    """Files outside of the adapter whose code names a class of Delta's; texts and comments do not count."""
    inside = {path for path in tree.rglob("*.scala") if path.is_relative_to(ADAPTER)}
    return sorted(path for path in set(tree.rglob("*.scala")) - inside if DELTAS.search(code(path)))


def test_no_other_package_names_a_class_of_deltas() -> None:
    assert strangers(TREE) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import org.apache.spark.sql.delta.DeltaLog\n", True),
        ("val version = io.delta.VERSION\n", True),
        ("case merge: DeltaMergeInto => merge\n", True),
        ('val Merge = "org.apache.spark.sql.delta.commands.MergeIntoCommand" // DeltaMergeInto\n', False),
        ("import org.apache.spark.sql.colocate.compat.delta.DeltaSnapshot\n", False),
    ],
)
def test_a_use_of_deltas_is_found(tmp_path: Path, text: str, found: bool) -> None:
    (tmp_path / "x.scala").write_text(text)
    assert bool(strangers(tmp_path)) == found


def test_each_object_that_calls_delta_is_tried_at_the_start() -> None:
    calling = {
        name
        for path in ADAPTER.glob("*.scala")
        if DELTAS.search(code(path))
        for name in re.findall(r"^(?:private\[\w+\] )?object (\w+)", path.read_text(), re.MULTILINE)
    }
    assert calling
    assert calling - BEFORE_ALL == set(re.findall(r"\bLinkCheck\((\w+)\)", HOOKS.read_text()))
