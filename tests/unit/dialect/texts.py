"""Golden files of the folder `golden`, compared to the letter. COLOCATE_REGENERATE=1 writes them anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def assert_golden(name: str, found: str) -> None:
    path = FOLDER / f"{name}.txt"
    if os.environ.get("COLOCATE_REGENERATE"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(found + "\n")
    assert found + "\n" == path.read_text()
