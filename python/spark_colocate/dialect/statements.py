"""Which statement a text is, by its first words, and who reads it."""

from __future__ import annotations

import re
from collections.abc import Callable

from spark_colocate.dialect import admin, alter, create
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.values import Options, Translation

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)

_READERS: dict[str, Callable[[Cursor, Options], Translation]] = {
    "CREATE": create.create_table,
    "ALTER": alter.alter_table,
    "TRUNCATE": alter.truncate_table,
    "DROP": alter.drop_table,
    "ADMIN": admin.admin,
    "HELP": admin.show_help,
    "RECOVER": admin.recover,
    "SHOW": admin.show,
}


def translate(text: str, options: Options | None = None) -> Translation | None:
    """The Spark statement that does what the text says; None for a text that is no statement of Doris that we know.

    Raises DialectError with line and column, for a statement of Doris that is wrong or is not translated.
    """
    words = [word.upper() for word in re.findall(r"\w+", _COMMENT.sub("", text))[:2]]
    read = _READERS.get(words[0]) if words else None
    if read is None:
        return None
    cursor = Cursor(text, " ".join(words))
    cursor.takes(words[0])
    return read(cursor, options or Options())
