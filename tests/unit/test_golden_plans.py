"""Golden plans of versions: a version has the common plans, but for those of its own."""

from pathlib import Path

import pytest

from tests.spark import golden_plans
from tests.spark.golden_plans import NEWEST, assert_golden_plans

PLANS = {"first": "Scan a#1\n\n== More ==\nline", "second": "Scan b#2"}
OTHER = {"first": PLANS["first"], "second": "Scan c#3"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the plans of the newest version, and of 4.0, where one differs."""
    monkeypatch.setattr(golden_plans, "FOLDER", tmp_path)
    monkeypatch.setenv("COLOCATE_REGENERATE", "1")
    assert_golden_plans(PLANS, "served", NEWEST)
    assert_golden_plans(OTHER, "served", "4.0")
    monkeypatch.delenv("COLOCATE_REGENERATE")
    return tmp_path


def test_only_the_plans_that_differ_are_those_of_a_version(folder: Path) -> None:
    assert (folder / "of_versions" / "served_4.0.txt").read_text() == "-- second\nScan c#id\n"
    assert_golden_plans(PLANS, "served", NEWEST)
    assert_golden_plans(PLANS, "served", "4.1")
    assert_golden_plans(OTHER, "served", "4.0")


@pytest.mark.parametrize("plans", [PLANS, {"first": PLANS["first"]}, {**OTHER, "third": "Scan d"}])
def test_a_plan_that_differs_lacks_or_is_new_is_told(plans: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match=r"second|third"):
        assert_golden_plans(plans, "served", "4.0")


def test_a_version_that_plans_alike_again_has_no_file_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOCATE_REGENERATE", "1")
    assert_golden_plans(PLANS, "served", "4.0")
    assert not (folder / "of_versions" / "served_4.0.txt").exists()
