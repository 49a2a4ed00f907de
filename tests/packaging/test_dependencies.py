"""What the package imports is declared, and the versions that the tests run with are in the lock file."""

import ast
import sys
from importlib.metadata import metadata, packages_distributions, version
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tools.lock import LOCK, OWN, ROOT, declared, installed

FOR_USERS = ("", "advise", "rest", "postgres")


def imported(*folders: str) -> set[str]:
    """The packages of others, by the names of the index, that Python files below these folders import."""
    by_module = packages_distributions()
    modules = {
        name.partition(".")[0]
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _names(node)
    }
    others = modules - sys.stdlib_module_names - {path.name.removesuffix(".py") for path in _own()}
    return {canonicalize_name(package) for module in others for package in by_module.get(module, [module])}


def _own() -> list[Path]:
    return [ROOT / "tests", ROOT / "tools", ROOT / "benchmarks", ROOT / "python/spark_colocate", *STARTED.glob("*.py")]


STARTED = ROOT / "tests" / "mutants" / "startup"
"""Its modules are imported without a package."""


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []


def names(*extras: str) -> set[str]:
    return {canonicalize_name(wanted.name) for extra in extras for wanted in declared()[extra]} - {OWN}


def test_what_the_package_imports_is_declared_for_its_users() -> None:
    assert imported("python/spark_colocate") <= names(*FOR_USERS)


def test_what_tests_and_tools_import_is_declared() -> None:
    assert imported("tests", "tools", "benchmarks") <= names(*declared())


def test_the_lock_file_has_the_versions_of_this_environment() -> None:
    lines = LOCK.read_text(encoding="utf-8").splitlines()[1:]
    if (sys.version_info[:2], sys.platform) != ((3, 11), "linux"):
        pytest.skip("made with Python 3.11 on Linux; elsewhere some packages need others")
    assert lines == [f"{name}=={held}" for name, held in installed("test").items()]


def test_each_locked_version_is_in_the_declared_range() -> None:
    wrong = {
        str(wanted): version(wanted.name)
        for wants in declared().values()
        for wanted in wants
        if canonicalize_name(wanted.name) != OWN and not wanted.specifier.contains(version(wanted.name))
    }
    assert wrong == {}


def test_each_declared_extra_is_spelled_as_its_package_does() -> None:
    """pip only warns of one that is not there, and leaves out what it would bring."""
    unknown = {
        str(wanted)
        for wants in declared().values()
        for wanted in wants
        if canonicalize_name(wanted.name) != OWN
        and wanted.extras - set(metadata(wanted.name).get_all("Provides-Extra") or ())
    }
    assert unknown == set()
