"""Finds the translation of a statement by its first words."""

from __future__ import annotations

import re
from collections.abc import Callable

from spark_colocate.dialect import admin, alter, create, partitions
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.values import Options, Translation

Reader = Callable[[Cursor, Options], Translation | None]

# By the first two words; the reader starts at the second one. A reader gives None for what is Spark's alone.
_READERS: dict[tuple[str, str], Reader] = {
    ("CREATE", "TABLE"): create.create_table,
    ("CREATE", "EXTERNAL"): create.create_table,
    ("ALTER", "TABLE"): alter.alter_table,
    ("DROP", "TABLE"): alter.drop_table,
    ("INSERT", "INTO"): partitions.insert,
    ("INSERT", "OVERWRITE"): partitions.insert,
    ("DELETE", "FROM"): partitions.delete,
    ("TRUNCATE", "TABLE"): partitions.truncate_table,
    ("ADMIN", "SET"): admin.set_config,
    ("ADMIN", "SHOW"): admin.show_config,
    ("HELP", "ADMIN"): admin.show_help,
    ("RECOVER", "DATABASE"): admin.recover,
    ("RECOVER", "TABLE"): admin.recover,
    ("RECOVER", "PARTITION"): admin.recover,
    ("SHOW", "DATA"): admin.show_data,
    ("SHOW", "PARTITIONS"): admin.show_partitions,
}

_FIRST_WORDS = re.compile(r"(?:\s|--[^\n]*|/\*.*?\*/)*(\w+)\s+(\w+)", re.DOTALL)


def translate(text: str, options: Options | None = None) -> Translation | None:
    """The Spark statement that does what the text says; None for a text that is not a known statement of Doris.

    Raises DialectError with line and column, for a statement of Doris that is wrong or is not translated.
    """
    words = _FIRST_WORDS.match(text)
    first, second = (words[1].upper(), words[2].upper()) if words else ("", "")
    read = _READERS.get((first, second))
    if read is None:
        return None
    cursor = Cursor(text, f"{first} {second}")
    cursor.takes(first)
    return read(cursor, options or Options())
