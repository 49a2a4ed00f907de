"""Lint and types; the settings stand in pyproject.toml. The Scala stubs are linted by their build (-Xlint -Werror)."""

import subprocess
import sys
from pathlib import Path

CHECKS = (("ruff", "check", "."), ("mypy", "--no-error-summary"))


def main() -> int:
    root = Path(__file__).parent.parent
    return max(subprocess.run([sys.executable, "-m", *check], cwd=root, check=False).returncode for check in CHECKS)


if __name__ == "__main__":
    sys.exit(main())
