"""The statements of the folder `statements`, each with a title and what must come of it."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "statements"

# The document's GroupId is another one here.
DOCUMENTS_GROUP = "10005.10008"
FILES = sorted(path.stem for path in FOLDER.glob("*.sql"))


@dataclass(frozen=True)
class Answer:
    """The rows, each cell as text, or the error."""

    rows: tuple[tuple[str, ...], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Case:
    """outcome: runs, rows, says or refused. detail: the condition, or a part of the answer.

    rows: as they are written; of a statement that is refused, parts of the error.
    """

    title: str
    outcome: str
    detail: str
    rows: tuple[tuple[str, ...], ...]
    sql: str

    def difference(self, answer: Answer) -> str:
        """What came of the statement, where it is not as expected; else empty."""
        if self.outcome == "refused":
            parts = [self.detail, *(" | ".join(row) for row in self.rows)]
            return "" if answer.error and all(part in answer.error for part in parts) else str(answer)
        return "" if not answer.error and self._fits(answer.rows) else str(answer)

    def _fits(self, rows: tuple[tuple[str, ...], ...]) -> bool:
        """Cells after those that are written do not matter. A word in braces stands for any number, as ids differ."""
        if self.outcome == "says":
            return any(self.detail in cell for row in rows for cell in row)
        if self.outcome == "runs":
            return True
        patterns = [re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(" | ".join(row))) for row in self.rows]
        found = [" | ".join(row[: len(self.rows[0])]) for row in rows] if self.rows else rows
        return len(patterns) == len(found) and all(
            re.fullmatch(pattern, row, re.IGNORECASE) for pattern, row in zip(patterns, found, strict=True)
        )


def cases(name: str) -> list[Case]:
    """Those of a file, in order. What stands before the first title says how to read it."""
    blocks = (FOLDER / f"{name}.sql").read_text().split("-- title: ")[1:]
    return [_case(block) for block in blocks]


def _case(block: str) -> Case:
    title, outcome, *lines = block.strip().splitlines()
    comments = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
    sql = "\n".join(line for line in lines if not line.startswith("-- "))
    found = re.fullmatch(r"-- (runs|rows|says|refused):? ?(.*)", outcome)
    assert found, f"{title}: {outcome}"
    rows = tuple(tuple(cell.strip() for cell in line.split("|")) for line in comments)
    return Case(title, found[1], found[2], rows, sql.removesuffix(";"))
