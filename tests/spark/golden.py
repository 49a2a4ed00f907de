"""Golden texts: what a user sees, with everything that changes from run to run replaced by a word."""

import os
import re
from pathlib import Path

# The golden files of the suites.
GOLDENS = Path(__file__).parent / "golden"

_RULES = (
    (re.compile(r"#\d+L?"), "#id"),
    (re.compile(r"\b(plan_id|rdd_id|id)=\d+"), r"\1=id"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "uuid"),
    (re.compile(r"(file:)?/{1,3}[\w./=%-]*/(warehouse|pytest-of-\w+)/[\w./=%-]*"), "path"),
    (re.compile(r"\[path\]?,"), "[path],"),  # Spark cuts long texts, and with them the bracket
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?"), "time"),
    (re.compile(r"\b[0-9.]+ (B|KiB|MiB|GiB)\b"), "size"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


def normalised(text: str) -> str:
    for pattern, word in _RULES:
        text = pattern.sub(word, text)
    return text.strip() + "\n"


def assert_golden(text: str, path: Path) -> None:
    """Compares `text`, normalised, with the file. COLOCATE_REGENERATE=1 ./run test <file> writes the files anew."""
    found = normalised(text)
    if os.environ.get("COLOCATE_REGENERATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found)
    assert path.is_file(), f"{path} is missing. Write it with: COLOCATE_REGENERATE=1 ./run test"
    assert found == path.read_text(), f"differs from {path}"
