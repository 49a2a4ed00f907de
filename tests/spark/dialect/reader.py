"""The statements of the folder `statements`, each with a title and what must come of it."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "statements"
FILES = sorted(path.stem for path in FOLDER.glob("*.sql"))


@dataclass(frozen=True)
class Case:
    """outcome: runs, rows or refused. detail: the condition. rows: as they are written."""

    title: str
    outcome: str
    detail: str
    rows: tuple[tuple[str, ...], ...]
    sql: str


def cases(name: str) -> list[Case]:
    """Those of a file, in order. What stands before the first title says how to read it."""
    blocks = (FOLDER / f"{name}.sql").read_text().split("-- title: ")[1:]
    return [_case(block) for block in blocks]


def _case(block: str) -> Case:
    title, outcome, *lines = block.strip().splitlines()
    comments = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
    sql = "\n".join(line for line in lines if not line.startswith("-- "))
    found = re.fullmatch(r"-- (runs|rows|refused):? ?(.*)", outcome)
    assert found, f"{title}: {outcome}"
    rows = tuple(tuple(cell.strip() for cell in line.split("|")) for line in comments)
    return Case(title, found[1], found[2], rows, sql.removesuffix(";"))
