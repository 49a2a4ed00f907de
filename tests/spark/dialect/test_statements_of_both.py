"""Each statement of the list has its outcome, and none ends in a bare syntax error."""

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.dialect.outcomes import Answer, Statement, answer, statements, table
from tests.spark.golden import GOLDENS, assert_golden

INTERPRETED = True
DOCUMENT = Path(__file__).parents[3] / "docs/how-to/doris.md"


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> list[tuple[Statement, Answer]]:
    return [(one, answer(spark, one)) for one in statements()]


def test_each_statement_has_its_outcome(found: list[tuple[Statement, Answer]]) -> None:
    assert {one.id: (one.text, had) for one, had in found if not had.fits(one.outcome)} == {}


def test_no_statement_ends_in_an_error_that_names_nothing(found: list[tuple[Statement, Answer]]) -> None:
    assert [one.text for one, had in found if not had.is_read and not had.is_clear] == []


def test_the_texts_of_all_refusals(found: list[tuple[Statement, Answer]]) -> None:
    refused = [f"-- {one.id}: {one.text}\n{_own(had.error)}" for one, had in found if not had.is_read]
    assert_golden("\n\n".join(refused), GOLDENS / "doris_refused.txt")


def test_the_document_has_the_table_of_outcomes() -> None:
    listed = statements()
    assert len({one.id for one in listed}) == len(listed) >= 300
    assert {one.system for one in listed} == {"doris", "starrocks"}
    text = DOCUMENT.read_text(encoding="utf-8")
    assert table() in text
    assert f"\n{len(listed)} statements" in text


def _own(error: str) -> str:
    """The line that is ours."""
    line = re.search(r"\[[A-Z_]+\] Cannot (?:read|run|set) [^\n]*", error)
    return line[0] if line else error
