"""The mutants: each has its test in the table, and a place of the sources is really taken out."""

import ast
import subprocess
import sys
from textwrap import dedent

import pytest

from tests.mutants import table
from tests.mutants.catalogue import ROOT, mutants
from tests.mutants.running import STARTUP
from tests.mutants.startup import mutate

MODULE = dedent("""
    def check(n):
        if n < 0:
            raise LayoutError(Code.NEGATIVE, "n is negative")
        if n > 9:
            return LayoutError(Code.LARGE, "n is large")
        if n == 5:
            cursor.fail(n, Code.FIVE)
        return n
    class Claims:
        def holds(self, claim):
            return claim == 1
""")


class LayoutError(Exception):
    pass


def _run(mutant: str | None) -> dict[str, object]:
    tree = ast.parse(MODULE)
    names: dict[str, object] = {"LayoutError": LayoutError, "Code": _Code(), "cursor": _Cursor()}
    exec(compile(mutate.mutated(mutant, "spark_colocate.made", tree) if mutant else tree, "made", "exec"), names)
    return names


class _Code:
    def __getattr__(self, name: str) -> str:
        return name


class _Cursor:
    def fail(self, *args: object) -> None:
        raise LayoutError(*args)


def test_a_mutant_takes_out_its_refusal_alone() -> None:
    check = _run("refusal:made.check:NEGATIVE")["check"]
    assert check(-1) == -1  # type: ignore[operator]
    assert isinstance(check(10), LayoutError)  # type: ignore[operator]
    assert _run("refusal:made.check:LARGE")["check"](10) is None  # type: ignore[operator]
    assert _run("refusal:made.check:FIVE")["check"](5) == 5  # type: ignore[operator]
    with pytest.raises(LayoutError):
        _run(None)["check"](-1)  # type: ignore[operator]


def test_a_fence_lets_everybody_through() -> None:
    assert _run("fence:made.Claims.holds")["Claims"]().holds(7)  # type: ignore[operator]
    assert not _run(None)["Claims"]().holds(7)  # type: ignore[operator]


def test_a_place_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ImportError, match=r"there is no refusal:made\.check:GONE"):
        _run("refusal:made.check:GONE")


def test_a_new_process_has_the_mutant() -> None:
    code = "from spark_colocate.checks.table_checks import bucket_count; print(bucket_count('t', 0))"
    path = f"{STARTUP}:{ROOT / 'python'}"
    taken_out = "refusal:checks.table_checks.bucket_count:BUCKETS_INVALID"
    for mutant, shown in (("", "must be between 1 and"), (taken_out, "None")):
        environment = {"PYTHONPATH": path, "COLOCATE_MUTANT": mutant}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert shown in ran.stdout


def test_the_table_names_mutants_and_tests_that_there_are() -> None:
    found_by = table.read()
    assert found_by.keys() <= set(mutants())
    for test in found_by.values():
        assert (ROOT / test.partition("::")[0]).is_file()
