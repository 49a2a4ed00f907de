"""The fenced code blocks of a Markdown page."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """info is what stands behind the language: `fails: <words>` for SQL that must be refused with these words."""

    language: str
    info: str
    text: str

    @property
    def statements(self) -> list[str]:
        return [part.strip() for part in re.split(r";\s*\n", self.text + "\n") if part.strip()]


def names(pages: list[Path]) -> list[str]:
    """Of pages, for the names of test cases."""
    return [str(page.relative_to(ROOT)) for page in pages]


def blocks(page: Path) -> list[Block]:
    return [Block(language, info.strip(), text) for language, info, text in _FENCE.findall(page.read_text())]
