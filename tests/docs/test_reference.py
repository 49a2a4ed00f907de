"""The generated pages of docs/reference say what conf/ says."""

import pytest

from tools.reference import FOLDER, pages


@pytest.mark.parametrize("name", pages())
def test_a_reference_page_is_what_the_tool_writes(name: str) -> None:
    assert (FOLDER / name).read_text() == pages()[name], "run: .venv/bin/python tools/reference.py"
