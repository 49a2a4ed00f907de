"""PySpark's error for a row that a load, an UPDATE or a MERGE refuses.

PySpark turns the errors of classes that it knows into its own. Of the errors in a task of a write, Delta rethrows
only its InvariantViolationException unchanged, which PySpark does not know.
"""

from __future__ import annotations

import re
from typing import Any

from pyspark.errors.exceptions import captured

_CLASS = "org.apache.spark.sql.delta.schema.InvariantViolationException"
# Spark 4.0 has no function of its own for the part without an error of Python.
_CONVERT = "_convert_exception" if hasattr(captured, "_convert_exception") else "convert_exception"
_TEXT = re.compile(r"\[(RANGE_\w+)\] .* SQLSTATE: (\w{5})", re.DOTALL)


class RowRefused(captured.SparkRuntimeException):
    """A row that is to be written belongs to no range partition, or to none of those that the statement names."""

    def getCondition(self) -> str | None:
        found = _TEXT.search(self._desc)
        return found[1] if found else None

    def getSqlState(self) -> str | None:
        found = _TEXT.search(self._desc)
        return found[2] if found else None


def install() -> None:
    """From now on PySpark gives RowRefused instead of Py4JJavaError. Calling it again changes nothing."""
    convert = getattr(captured, _CONVERT)
    if getattr(convert, "knows_refused_rows", False):
        return

    def with_refused_rows(e: Any) -> captured.CapturedException:
        is_ours = e.getClass().getName() == _CLASS and _TEXT.search(e.getMessage() or "")
        return RowRefused(origin=e) if is_ours else convert(e)

    with_refused_rows.knows_refused_rows = True  # type: ignore[attr-defined]
    setattr(captured, _CONVERT, with_refused_rows)
