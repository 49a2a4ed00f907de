"""The test of the second tier that finds each mutant: tests/mutants/table.json."""

import json
from collections.abc import Mapping
from pathlib import Path

TABLE = Path(__file__).with_name("table.json")


def read() -> dict[str, str]:
    """From a mutant's name to the id of a test, or of a file of tests."""
    found: dict[str, str] = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    return found


def write(found_by: Mapping[str, str]) -> None:
    TABLE.write_text(json.dumps(found_by, indent=1) + "\n", encoding="utf-8")
