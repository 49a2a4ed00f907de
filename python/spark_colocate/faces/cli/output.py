"""Values as a table or as JSON."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from spark_colocate.faces.cli.options import Output

WIDE = 10_000
"""Columns of a table that is written to a file or a pipe: nothing is cut off there."""

_TIME_OR_NUMBER = re.compile(r"|[0-9.]+|\d{4}-\d\d-\d\d[T ][0-9:.+]+|\d+/\d+|(\d+[dhms] ?)+")

Columns = Mapping[str, str]
"""The fields that a table shows, with the heads of their columns."""


def show(items: Sequence[Any], columns: Columns, output: Output) -> None:
    """Rows (dataclasses): the columns as a table, or all fields as JSON."""
    if output is Output.JSON:
        show_json([asdict(item) for item in items])
    else:
        show_table([asdict(item) for item in items], columns)


def show_json(value: Any) -> None:
    print(json.dumps(value, indent=2, default=str))


def show_table(rows: Sequence[Mapping[str, Any]], columns: Columns) -> None:
    """A table without lines. Names are shown as they are, without Rich's markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    fixed = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(width=None if fixed else WIDE, highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, head in columns.items():
        table.add_column(head, overflow="fold", no_wrap=all(_is_one_word(row[name]) for row in rows))
    for row in rows:
        table.add_row(*(Text(_cell(row[name])) for name in columns))
    console.print(table)


def _is_one_word(value: Any) -> bool:
    """A number or a time is of no use in parts; of others, what does not fit goes on in the next line."""
    return value is None or isinstance(value, int | float) or bool(_TIME_OR_NUMBER.fullmatch(str(value)))


def minute(instant: str) -> str:
    """A time as `rows.instant` spells it, without seconds and zone."""
    return instant[:16].replace("T", " ")


def duration(seconds: float) -> str:
    """`42s`, `5m 3s`, `2h 5m` or `3d 4h`."""
    left = max(0, round(seconds))
    parts = []
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)):
        parts.append((left // size, unit))
        left %= size
    first = next((at for at, (number, _) in enumerate(parts) if number), 3)
    return " ".join(f"{number}{unit}" for number, unit in parts[first : first + 2] if number or first == 3)


def show_fact(name: str, value: Any) -> None:
    """A line with a name and its value."""
    print(f"{name + ':':<18}{_cell(value)}".rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    return str(value)


def done(message: str, values: Mapping[str, Any], output: Output, dry_run: bool) -> None:
    """The outcome of a change."""
    if output is Output.JSON:
        show_json({**values, "dry_run": dry_run})
        return
    if dry_run:
        print("Dry run: nothing was changed. The outcome would be:")
    print(message)
