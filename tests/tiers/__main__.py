"""`python -m tests.tiers`: writes `cases.json` anew, by collecting all tests and running none; --check: is it true?"""

import json
import sys

import pytest

from tests.tiers.selection import TABLE, choose, problems, read_table
from tests.tiers.versions import without_tests


class Collected:
    """Hears of the tests before any is left out."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = list(items)


def collect(*arguments: str) -> list[pytest.Item]:
    heard = Collected()
    code = pytest.main(["--collect-only", "-qqq", "--tier", "all", "-p", "no:cacheprovider", *arguments], [heard])
    assert code == pytest.ExitCode.OK, code
    return heard.items


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        items = collect("tests")
        strangers = [f"{prefix}: no test in tests/tiers/versions.py begins with it" for prefix in without_tests(items)]
        sys.exit("\n".join([*problems(items, read_table()), *strangers]) or 0)
    TABLE.write_text(json.dumps(choose(collect("tests")), indent=1, ensure_ascii=False) + "\n")
