"""Each trap of docs/traps.md names tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [line for line in (ROOT / "docs" / "traps.md").read_text().splitlines() if line.startswith("| ")]
TRAPS = [line for line in ROWS if not line.startswith("| trap ")]
TEST = re.compile(r"`((?:tests/)?[\w/]+\.py)(?:::(\w+))?`")


@pytest.mark.parametrize("line", TRAPS, ids=lambda line: line.split("|")[1].strip())
def test_a_trap_has_its_tests(line: str) -> None:
    named = TEST.findall(line)
    assert named
    for file, function in named:
        (path,) = [ROOT / file] if file.startswith("tests/") else (ROOT / "tests/spark").rglob(file)
        text = path.read_text()
        assert f"def {function}(" in text if function else "def test_" in text


def test_the_traps_of_spark_and_delta_are_all_there() -> None:
    codes = {line.split("|")[1].strip() for line in TRAPS}
    expected = {"S2", "S5"}
    for section, points in ((1, 8), (3, 14), (4, 6)):
        expected |= {f"S{section}.{point}" for point in range(1, points + 1)}
    assert expected <= codes
