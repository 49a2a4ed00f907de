"""conf/rules.json and the tree say the same of each rule: its file, its part, what it matches and when it does not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.spark.sessions import ROOT
from tests.streets.arrows import Allowed

SOURCES = ROOT / "jvm-stubs" / "src" / "org" / "apache" / "spark" / "sql" / "colocate"
PARTS = Allowed.read("scala").areas
RULES = json.loads((ROOT / "conf" / "rules.json").read_text())["rules"]
WORDS = ("Matches:", "Produces:", "Not when:")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["name"])
def test_a_rule_is_in_a_file_of_its_name_and_says_what_it_does(rule: dict[str, Any]) -> None:
    (file,) = SOURCES.rglob(f"{rule['name']}.scala")
    assert rule.get("part") == part_of(file)
    doc = scaladoc(file.read_text(), rule["name"])
    assert [word for word in WORDS if word not in doc] == []


def test_a_part_lists_its_own_rules() -> None:
    for part, listed in (("doris", "doris/DorisPart"), ("ops", "ops/OpsPart"), (None, "phases/CoreRules")):
        named = set(re.findall(r'"(\w+)" ->', (SOURCES / f"{listed}.scala").read_text()))
        assert named == {rule["name"] for rule in RULES if rule.get("part") == part}


def part_of(file: Path) -> str | None:
    folder = file.relative_to(SOURCES).parts[0]
    return folder if folder in PARTS else None


def scaladoc(code: str, rule: str) -> str:
    """The comment right before the rule's class or object."""
    start = rf"/\*\*((?:(?!\*/).)*)\*/\s*(?:private\S*\s+)?(?:case )?(?:class|object) {rule}\b"
    found = re.search(start, code, re.DOTALL)
    assert found, f"{rule} has no comment"
    return found.group(1)
