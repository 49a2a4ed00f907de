"""A plugin of pytest for `./run mutants --find`: which refusals each test comes to, as lines of JSON in a file."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutants import errors


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reached", help="the file that gets a line for each test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    reached: set[str] = sys.modules["mutate"].reached
    reached.clear()
    errors.seen.clear()
    result = yield
    if found := reached | errors.seen:
        with Path(item.config.getoption("--reached")).open("a", encoding="utf-8") as lines:
            print(json.dumps([item.nodeid, sorted(found)]), file=lines)
    return result
