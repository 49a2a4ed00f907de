"""The packages of the Scala tree import each other only as allowed.toml says, and in no circle."""

from pathlib import Path

import pytest

from tests.streets.arrows import Allowed, Import, circles, faults
from tests.streets.scala_imports import scala_imports

A, B, C = (f"package org.apache.spark.sql.colocate.{name}\n" for name in "abc")
OWN = "org.apache.spark.sql.colocate"


def test_the_tree_keeps_to_the_list() -> None:
    assert faults(scala_imports(), Allowed.read("scala")) == []


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (f"{A}import {OWN}.b.Other\n", 2),
        (f"{A}\nimport {OWN}.b.{{\n  Other, Third => Fourth}}\n", 3),
        (f"{A}import java.util.UUID, {OWN}.b.Other\n", 2),
        (f"{A}import {OWN}.b._\n", 2),
        (f"{A}import {OWN}.b\n", 2),
        (f"{A}import {OWN}.{{b => other}}\n", 2),
        ("package org.apache.spark.sql\npackage colocate\npackage a\nobject X {\n  import b.Other\n}\n", 5),
        (f"{A}object X {{\n  val other = _root_.{OWN}.b.Other\n}}\n", 3),
    ],
    ids=["plain", "braces", "two", "all", "package", "renamed", "relative", "full name"],
)
def test_an_import_that_the_list_has_not_is_named(tmp_path: Path, code: str, line: int) -> None:
    found = drawn(tmp_path, x=code, other=f"{B}object Other\n")
    fault = faults(found, Allowed(frozenset()))[0]
    assert fault.startswith(f"jvm/src/x.scala:{line}: a must not import b: "), fault


@pytest.mark.parametrize(
    "code",
    [
        f"{A}// import {OWN}.b.Other\n",
        f"{A}/** [[{OWN}.b.Other]] */\n",
        f'{A}val name = "_root_.{OWN}.b.Other"\n',
        f"{A}import {OWN}.a.Self\n",
        f"{A}import org.apache.spark.sql.colocateb.Other\n",
    ],
    ids=["comment", "scaladoc", "text", "itself", "stranger"],
)
def test_what_is_no_use_of_another_package(tmp_path: Path, code: str) -> None:
    assert drawn(tmp_path, x=code, other=f"{B}object Other\n") == []


def test_the_list_holds_no_circle_and_no_arrow_without_an_import(tmp_path: Path) -> None:
    found = drawn(tmp_path, x=f"{A}import {OWN}.b.Other\n", y=f"{B}import {OWN}.a.Some\n", z=f"{C}object Third\n")
    allowed = Allowed(frozenset({("a", "b"), ("b", "a"), ("b", "c")}))
    assert faults(found, allowed) == [
        "allowed.toml: no import is left of b -> c, take it out",
        "allowed.toml: a circle: a b",
    ]


def test_nothing_leads_into_an_area_but_itself(tmp_path: Path) -> None:
    ops = f"package {OWN}.ops.jobs\n"
    use = f"import {OWN}.ops.jobs.Job\n"
    found = drawn(tmp_path, x=f"{A}{use}", y=f"package {OWN}.ops.hosts\n{use}", job=f"{ops}object Job\n")
    allowed = Allowed(frozenset({("a", "ops.jobs"), ("ops.hosts", "ops.jobs")}), frozenset({"ops"}))
    assert faults(found, allowed) == ["allowed.toml: a -> ops.jobs leads into an area"]


def test_circles_are_found_over_any_number_of_packages() -> None:
    assert circles({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "e2"), ("e2", "e")}) == [
        ("a", "b", "c"),
        ("e", "e2"),
    ]


def drawn(folder: Path, **files: str) -> list[Import]:
    for name, code in files.items():
        (folder / "jvm" / "src").mkdir(parents=True, exist_ok=True)
        (folder / "jvm" / "src" / f"{name}.scala").write_text(code)
    return scala_imports(folder / "jvm" / "src")
