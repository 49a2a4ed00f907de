"""conf/errors.json is the list of all errors: what is raised is in it, and what is in it is raised."""

import re
from pathlib import Path

from spark_colocate import errors
from spark_colocate.catalogues import conf

ROOT = Path(__file__).parents[2]
_IN_SCALA = re.compile(r"(?:ColocateException|error)\(\s*\"([A-Z_]{4,})\"")
_IN_PYTHON = re.compile(r"\bCode\.([A-Z_]+)")
_PLANTED = "PLANTED"  # raised by tests' planted faults alone


def _found(folder: str, suffix: str, pattern: re.Pattern[str]) -> set[str]:
    texts = (path.read_text() for path in (ROOT / folder).rglob(f"*.{suffix}"))
    return {code for text in texts for code in pattern.findall(text)}


def _listed() -> list[dict[str, str]]:
    entries: list[dict[str, str]] = conf.load("errors.json")["errors"]
    return entries


def test_what_is_raised_is_listed_and_what_is_listed_is_raised() -> None:
    raised = _found("jvm-stubs/src", "scala", _IN_SCALA) | _found("python/spark_colocate", "py", _IN_PYTHON)
    assert raised - {_PLANTED} == {entry["code"] for entry in _listed()}


def test_pythons_codes_are_of_the_list_and_each_is_raised() -> None:
    assert {str(code) for code in errors.Code} == _found("python/spark_colocate", "py", _IN_PYTHON)


def test_each_code_is_listed_once_with_an_sqlstate_of_five_characters() -> None:
    entries = _listed()
    assert len({entry["code"] for entry in entries}) == len(entries)
    assert [e for e in entries if not re.fullmatch(r"[0-9A-Z]{5}", e["sqlState"])] == []
    assert [e for e in entries if not e["headline"].endswith(".")] == []
