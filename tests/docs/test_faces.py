"""The command lines and HTTP calls that the pages on `colocate` and REST show are ones that there are."""

import re
import shlex

import pytest
import typer
from spark_colocate.faces.cli.main import app as commands
from spark_colocate.faces.rest.app import description

from tests.docs.markdown import ROOT, blocks

PAGES = (ROOT / "docs/how-to/rest.md", ROOT / "docs/how-to/command-line.md")
SHELL = "\n".join(block.text.replace("\\\n", " ") for page in PAGES for block in blocks(page) if block.language == "sh")
COLOCATE = [found.strip() for found in re.findall(r"(?:^|\$\()colocate ([^)#\n]+)", SHELL, re.MULTILINE)]
CURL = re.findall(r"^curl (.+)$", SHELL, re.MULTILINE)


def test_the_pages_have_both() -> None:
    assert len(COLOCATE) >= 8 and len(CURL) >= 4


@pytest.mark.parametrize("line", COLOCATE)
def test_a_command_line_is_understood(line: str) -> None:
    command, words = typer.main.get_command(commands), shlex.split(line)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    rest = command.make_context("colocate", words).args  # raises for an unknown option, or a missing argument
    assert rest == []


@pytest.mark.parametrize("line", CURL)
def test_a_call_is_described(line: str) -> None:
    words = shlex.split(line)
    method = words[words.index("-X") + 1].lower() if "-X" in words else "get"
    (path,) = re.findall(r"http://127\.0\.0\.1:8030(/[^?\s]*)", line.replace("'", ""))
    assert method in description()["paths"][path]


def test_each_call_of_the_table_is_described() -> None:
    page = PAGES[0].read_text()
    calls = re.findall(r"`(GET|PUT|POST|DELETE) (/[\w/{}]*)", page)
    described = {
        (method.upper(), path.replace("{group_id}", "{id}").removeprefix("/api/v1"))
        for path, methods in description()["paths"].items()
        if path.startswith("/api/v1")
        for method in methods
    }
    assert set(calls) - {("GET", "/openapi")} == described
