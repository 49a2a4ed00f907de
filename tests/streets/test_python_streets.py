"""The packages of the Python tree import each other only as allowed.toml says, and in no circle; nor do its modules."""

from pathlib import Path

import pytest

from tests.streets.arrows import Allowed, circles, faults
from tests.streets.python_imports import module_imports, python_imports


def test_the_tree_keeps_to_the_list() -> None:
    assert faults(python_imports(), Allowed.read("python")) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles({used.arrow for used in module_imports()}) == []


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import made.b.other\n", 1),
        ("import os, made.b.other as other\n", 1),
        ("\nfrom made.b.other import (\n    thing,\n)\n", 2),
        ("from made.b import other\n", 1),
        ("from made.b import *\n", 1),
        ("from ..b import other\n", 1),
        ("def late():\n    from made.b.other import thing\n", 2),
        ("if TYPE_CHECKING:\n    from made.b.other import thing\n", 2),
    ],
    ids=["plain", "renamed", "names", "module", "all", "relative", "in a function", "for types"],
)
def test_an_import_that_the_list_has_not_is_named(tmp_path: Path, code: str, line: int) -> None:
    fault = faults(python_imports(drawn(tmp_path, code)), Allowed(frozenset()))[0]
    assert fault.startswith(f"python/made/a/x.py:{line}: a must not import b: "), fault


@pytest.mark.parametrize(
    "code",
    ["# import made.b.other\n", 'text = "import made.b"\n', "from made.a import y\n", "from madeb import other\n"],
    ids=["comment", "text", "itself", "stranger"],
)
def test_what_is_no_use_of_another_package(tmp_path: Path, code: str) -> None:
    assert python_imports(drawn(tmp_path, code)) == []


def test_a_module_without_a_subpackage_is_a_package_of_its_own(tmp_path: Path) -> None:
    found = python_imports(drawn(tmp_path, "import made\nfrom made import leaf\nfrom made.leaf import Thing\n"))
    assert [used.arrow for used in found] == [("a", "made"), ("a", "leaf"), ("a", "leaf")]


def test_a_circle_of_modules_within_a_package_is_found(tmp_path: Path) -> None:
    tree = drawn(tmp_path, "from made.a import y\n", y="def late():\n    from made.a.x import thing\n")
    assert circles({used.arrow for used in module_imports(tree)}) == [("made.a.x", "made.a.y")]


def drawn(folder: Path, x: str, y: str = "") -> Path:
    tree = folder / "python" / "made"
    files = {"__init__": "", "leaf": "", "a/__init__": "", "a/x": x, "a/y": y, "b/__init__": "", "b/other": ""}
    for name, code in files.items():
        path = tree / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    return tree
