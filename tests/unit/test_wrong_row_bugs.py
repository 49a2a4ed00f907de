"""Which wrong-row bugs the installed Spark has: what the page of versions says of it is what Spark's classes show."""

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest
from spark_colocate.support.spark_version import minor_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "spark-versions.md").read_text()
TESTS = ROOT / "tests" / "spark"
CLASSES = "org/apache/spark/sql/"

# The fix of a bug by a name that it brought into a class; and the class without which there is no such bug.
PARTITIONING = "catalyst/plans/physical/Key(Group)?edPartitioning"
FIXES = {
    "SPARK-55848": (PARTITIONING, b"isPartiallyClustered|isGrouped"),
    "SPARK-58996": ("execution/exchange/EnsureRequirements", b"rewriteGroupPartitions"),
    "SPARK-59050": (PARTITIONING, b"mayContainUnknownPartitionKeys"),
}
CONCERNS = {"SPARK-58996": "execution/datasources/v2/GroupPartitionsExec"}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|\n").split("|")]


def column() -> int:
    """Of the installed Spark, in the table of bugs."""
    (header,) = [cells(line) for line in PAGE.splitlines() if line.startswith("| bug |")]
    return header.index(f"Spark {pyspark.__version__}")


def said_of(bug: str) -> str:
    (row,) = [cells(line) for line in PAGE.splitlines() if line.startswith(f"| {bug}:")]
    return row[column()]


def sparks(name: str) -> Iterator[bytes]:
    """The class files of this name, a pattern."""
    for jar in (Path(pyspark.__file__).parent / "jars").glob("spark-*.jar"):
        with ZipFile(jar) as classes:
            found = [one for one in classes.namelist() if re.fullmatch(f"{CLASSES}{name}\\.class", one)]
            yield from map(classes.read, found)


@pytest.mark.parametrize("bug", FIXES)
def test_the_page_says_what_the_classes_show(bug: str) -> None:
    name, word = FIXES[bug]
    concerned = bug not in CONCERNS or any(sparks(CONCERNS[bug]))
    fixed = any(re.search(word, one) for one in sparks(name))
    assert said_of(bug) == ("fixed" if fixed else "has it" if concerned else "has no such code")


def test_each_bug_names_a_test() -> None:
    table = PAGE[PAGE.index("| bug |") :].splitlines()
    bugs = [cells(line) for line in table[2:] if line.startswith("| ")]
    assert len(bugs) == 6
    for *_, test in bugs:
        named = re.fullmatch(r"`(\w+\.py)::(\w+)`|the same", test)
        assert named
        assert test == "the same" or any(f"def {named[2]}(" in file.read_text() for file in TESTS.rglob(named[1]))


def test_each_version_of_the_tree_has_a_column_in_both_tables() -> None:
    versions = (ROOT / "tools" / "spark_versions.txt").read_text().split()
    headers = [cells(line) for line in PAGE.splitlines() if line.startswith(("| |", "| bug |"))]
    named = [[cell.removeprefix("Spark ") for cell in header if cell.startswith("Spark ")] for header in headers]
    assert named == [versions, versions]
    assert minor_of(pyspark.__version__) in map(minor_of, versions)
