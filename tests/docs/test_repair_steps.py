"""The quickstart's way from a damaged bucket to its repair, typed as it stands there."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^   ```sh repair\n(.*?)^   ```", re.MULTILINE | re.DOTALL)
STEPS = [re.sub("^   ", "", step, flags=re.MULTILINE) for step in BLOCK.findall(PAGE)]


def _as_it_ends(step: str) -> str:
    """A verify that has found damage ends with 4, every other step with 0."""
    return f"set +e\n{step}[ $? = 4 ] || exit 1\nset -e\n" if step.startswith("colocate verify") else step


def test_there_are_at_most_ten() -> None:
    assert 5 < len(STEPS) <= 10


@pytest.mark.slow
def test_the_steps_show_the_damage_and_mend_it(tmp_path: Path) -> None:
    first, *others = STEPS
    assert first.startswith("./run jar &&")
    typed = [f"set -e\n. {ROOT}/.venv/bin/activate", *map(_as_it_ends, others)]
    env = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "COLOCATE_"))}
    env["COLUMNS"] = "200"  # so that no line of a table is broken
    marked = "\necho '=== step'\n".join(typed)
    done = subprocess.run(
        ["bash", "-c", marked], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    _tables, served, _damage, found, shuffled, repaired, again, listed = done.stdout.split("=== step\n")[1:]
    assert "colocate: true" in served and "stray" not in served
    assert "claims bucket 2 and has a row of bucket 1" in found
    assert "colocate: true" in shuffled and "1 stray shuffled" in shuffled
    assert "1 stray became 1 file of buckets" in repaired
    assert "colocate: true" in again and "stray" not in again
    assert listed.count("done") == 2
