"""Statements and clauses without a counterpart: which texts they are, and where the error points."""

import pytest
from spark_colocate.dialect import refusals, translate
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.patterns import pattern
from spark_colocate.errors import DialectError


def _error(text: str, at: int | None = None) -> DialectError:
    with pytest.raises(DialectError) as refused:
        translate(text, at=at)
    return refused.value


def test_each_entry_says_why_and_what_to_write() -> None:
    for one in (*refusals.families(), *refusals.clauses()):
        assert one.why and not one.why.endswith(".")
        assert one.cure.endswith((".", "!"))


def test_no_statement_is_in_two_families() -> None:
    listed = [words for family in refusals.families() for words in family.statements]
    assert sorted({words for words in listed if listed.count(words) > 1}) == []


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("PAUSE ROUTINE LOAD FOR a", (1, 1), "Cannot run PAUSE ROUTINE LOAD at line 1, column 1"),
        ("-- one\nALTER TABLE db.t\n  ADD ROLLUP r (k)", (3, 3), "Cannot run ALTER TABLE db.t ADD ROLLUP at"),
        ("CREATE FUNCTION f(INT) RETURNS INT PROPERTIES ('a' = 'b')", (1, 36), "Cannot run CREATE FUNCTION f"),
        ("BEGIN;", (1, 1), "Cannot run BEGIN at"),
        ("SELECT k FROM t LIMIT 5, 10", (1, 17), "Cannot run LIMIT 5, at"),
    ],
)
def test_the_error_points_at_the_word_that_spark_lacks(text: str, place: tuple[int, int], words: str) -> None:
    error = _error(text)
    assert (error.line, error.column) == place
    assert words in str(error)


def test_a_clause_counts_only_where_sparks_parser_failed() -> None:
    text = "SELECT a && b FROM t LIMIT 5, 10"
    assert "LIMIT" in str(_error(text, at=text.index(",")))
    assert "&&" in str(_error(text, at=text.index("&&")))
    assert translate(text, at=len(text)) is None


@pytest.mark.parametrize(
    ("words", "text", "fits"),
    [
        ("A [B] C", "a c", True),
        ("A [B] C", "a b c", True),
        ("A [B] C", "a b b c", False),
        ("A|B *", "b db.t", True),
        ("A * C", "a `x y`.t c", True),
        ("A * C", "a (c", False),
        ("A ... C", "a x (y) 'z' c", True),
        ("A $", "a;", True),
        ("A $", "a b", False),
        ("A", "'a'", False),
    ],
)
def test_patterns(words: str, text: str, fits: bool) -> None:
    assert (pattern(words).first(Cursor(text)) is not None) is fits
