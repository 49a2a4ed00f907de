"""The entry point for a text that Spark's parser refused: it is translated, or refused by name."""

from __future__ import annotations

from dataclasses import replace

from spark_colocate.dialect import refusals, spellings, statements
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.named_reads import with_named_reads
from spark_colocate.dialect.plain_text import PlainText, plain
from spark_colocate.dialect.values import Options, Translation
from spark_colocate.dialect.variables import changing


def translate(text: str, options: Options | None = None, at: int | None = None) -> Translation | None:
    """The Spark statement that does what the text says; None for a text that is not a known statement of Doris.

    at: where Spark's parser failed. A clause of Doris elsewhere did not make it fail.
    Raises DialectError with line and column, for a statement of Doris that is wrong or has no counterpart.
    """
    given = plain(text)
    _check_variables(text, given)
    done = _translated(given.text, options or Options())
    bare = with_named_reads(given.text)
    if done is None and bare != text:
        done = Translation(bare)
    if done is None:
        refusals.refuse_clause(text, at)
        return None
    done = replace(done, statement=with_named_reads(done.statement))
    return replace(done, warnings=(*given.warnings, *done.warnings)) if given.warnings else done


def _check_variables(text: str, given: PlainText) -> None:
    """A variable that changes the rows of a query is not left out."""
    for name, value, at in given.variables:
        found = changing(name, value)
        if found:
            Cursor(text, "SET_VAR").unsupported(f"{found.why}, so {name} = {value} can't be set", found.cure, at)


def _translated(text: str, options: Options) -> Translation | None:
    if not text.strip():
        return None
    refusals.refuse_statement(text)
    return spellings.translated(text, options) or statements.translate(text, options)
