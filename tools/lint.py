"""Lint and types; the settings stand in pyproject.toml. The Scala stubs are linted by their build (-Xlint -Werror); the
length of their lines, which scalac does not check, is checked here."""

import subprocess
import sys
from pathlib import Path

CHECKS = (("ruff", "check", "."), ("mypy", "--no-error-summary"))
SCALA_COLUMNS = 120


def long_scala_lines(root: Path) -> list[str]:
    """Scala lines that are too long, as `file:line: length`."""
    return [
        f"{file.relative_to(root)}:{number}: {len(line)} characters, at most {SCALA_COLUMNS} are allowed"
        for file in sorted((root / "jvm-stubs").rglob("*.scala"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > SCALA_COLUMNS
    ]


def main() -> int:
    root = Path(__file__).parent.parent
    codes = [subprocess.run([sys.executable, "-m", *check], cwd=root, check=False).returncode for check in CHECKS]
    long = long_scala_lines(root)
    print(*long, sep="\n", end="\n" if long else "")
    return max(*codes, bool(long))


if __name__ == "__main__":
    sys.exit(main())
