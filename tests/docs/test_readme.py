"""README's example in a driver of its own, as a reader would run it, and the two plans that it promises."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks
from tests.spark.golden import normalised
from tests.spark.sessions import QUICK_DRIVER, run_bare

README = blocks(ROOT / "README.md")
AGAIN = """
print("AND NOW STOCK DELTA")
for table in ("orders", "lines"):
    spark.sql(f"CREATE TABLE stock_{table} USING delta AS SELECT * FROM {table}")
spark.sql("SELECT count(*) FROM stock_orders JOIN stock_lines ON order_id = order_ref").explain()
"""


def block(language: str, info: str = "") -> Block:
    (found,) = [one for one in README if one.language == language and one.info == info]
    return found


def shown_in(plan: str, promise: str) -> list[str]:
    """The lines of the promise that the plan does not have. Indentation and the plan's ids are not compared."""
    plan_lines = [re.sub(r"^[\s:+*()\d-]*", "", line) for line in normalised(plan).splitlines()]
    wanted = [re.sub(r"^[\s:+-]*", "", line) for line in promise.splitlines()]
    return [line for line in wanted if not any(line in found for found in plan_lines)]


def test_the_example_runs_and_explains_itself_as_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in QUICK_DRIVER.items():
        monkeypatch.setenv(key, value)
    ran = run_bare(block("python").text + AGAIN, tmp_path).ok()
    after, before = ran.out.split("AND NOW STOCK DELTA")
    assert shown_in(after, block("text", "after").text) == []
    assert shown_in(before, block("text", "before").text) == []
    assert "Exchange hashpartitioning" not in after
