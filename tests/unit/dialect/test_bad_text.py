"""Golden texts: what a user reads for each fault of a statement in Doris' spelling, with line and column."""

import re
from pathlib import Path

import pytest
from spark_colocate.dialect import translate
from spark_colocate.errors import DialectError

from tests.spark.dialect.reader import FILES, cases
from tests.unit.dialect.texts import assert_golden

STATEMENTS = [block.split("\n", 1) for block in (Path(__file__).parent / "bad.sql").read_text().split("-- title: ")[1:]]


def _error(sql: str) -> DialectError:
    with pytest.raises(DialectError) as refused:
        translate(sql)
    return refused.value


def test_each_error_says_where_and_what_was_expected() -> None:
    errors = {title: _error(sql) for title, sql in STATEMENTS}
    assert_golden("bad", "\n\n".join(f"-- {title}\n[{error.code}] {error}" for title, error in errors.items()))


def test_line_and_column_are_values_of_the_error_and_stand_in_its_text() -> None:
    for _title, sql in STATEMENTS:
        error = _error(sql)
        assert f"at line {error.line}, column {error.column}: " in str(error)
        lines = sql.splitlines()
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1


def test_a_text_that_is_cut_or_lacks_a_word_never_fails_in_another_way() -> None:
    whole = [sql for _title, sql in STATEMENTS] + [case.sql for name in FILES for case in cases(name)]
    for sql in whole:
        words = list(re.finditer(r"\w+|[^\w\s]", sql))
        cut = [sql[: word.end()] for word in words]
        for text in {*cut, *(sql[: word.start()] + sql[word.end() :] for word in words)}:
            error = _fault(text)
            assert error is None or (error.headline.endswith(".") and 1 <= error.line <= text.count("\n") + 1)


def _fault(text: str) -> DialectError | None:
    try:
        translate(text)
    except DialectError as error:
        return error
    return None
