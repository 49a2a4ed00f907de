"""A plugin of pytest: errors that the JVM raises, as PySpark shows them, here and in the processes that tests start.

With the mutant `error:<condition>`, another error comes in its place. No statement of the JVM is taken out; but a test
that asserts the condition or the text could not pass without the refusal either, and one that looks at neither passes
with both.
"""

import os
import re
from typing import Any

from pyspark.errors.exceptions.captured import CapturedException

from tests.spark.sessions import MUTANT

CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+)\]")
OTHER = "REFUSED_FOR_ANOTHER_REASON"

seen: set[str] = set()
"""`error:<condition>` of each error that came since the last test began."""

renamed = ""
"""The condition that comes under another name."""


def _rename() -> None:
    text, condition = CapturedException.__str__, CapturedException.getCondition

    def renamed_text(self: CapturedException) -> str:
        is_it = renamed and f"[{renamed}]" in (self._desc or "")
        return f"[{OTHER}] Something else is wrong." if is_it else text(self)

    def renamed_condition(self: CapturedException) -> str | None:
        found = condition(self)
        return OTHER if renamed and found == renamed else found

    CapturedException.__str__ = renamed_text  # type: ignore[method-assign]
    CapturedException.getCondition = renamed_condition  # type: ignore[method-assign]


def _note() -> None:
    init = CapturedException.__init__

    def noting(self: CapturedException, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        seen.update(f"error:{name}" for name in CONDITION.findall(self._desc or ""))

    CapturedException.__init__ = noting  # type: ignore[method-assign]


def rename_as_told() -> None:
    """By the environment."""
    global renamed
    kind, _, name = os.environ.get(MUTANT, "").partition(":")
    if kind == "error":
        renamed = name
    _rename()


def pytest_configure() -> None:
    if not os.environ.get(MUTANT, "").startswith("error:"):  # else startup/sitecustomize.py has done it
        rename_as_told()
    _note()
