"""A minute of the soak, with its start and end, and twenty minutes, in the third tier; and its own parts."""

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.soak import statements
from tests.soak.assertions import Exit
from tests.soak.gates import Gate
from tests.soak.tables import KEYS, TABLES, Model
from tests.spark.sessions import run_bare

SEED = 20261126


# In a process of its own: the soak kills its driver's JVM, which must not be that of the other tests.
SCRIPT = """
import sys
from tests.soak.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("minutes", [1, 20])
def test_no_wrong_row_and_no_stuck_state_while_things_break(tmp_path: Path, minutes: int) -> None:
    """A machine that is too busy is no fault."""
    ran = run_bare(SCRIPT, tmp_path, "--seed", str(SEED), "--minutes", str(minutes), timeout=minutes * 60 + 900)
    assert ran.code in (Exit.FINE, Exit.TOO_FEW), ran.out[-4000:] + ran.err[-2000:]


def test_duckdb_understands_every_statement_and_a_seed_decides_them() -> None:
    def texts(seed: str) -> list[str]:
        draw, model = random.Random(seed), Model()
        for table in TABLES:
            model.add(table, [(key, key) for key in range(0, KEYS, 3)])
        found = []
        for _ in range(60):
            change, query = statements.change(draw, 100, calm=False), statements.query(draw)
            for text in change.duck:
                model.cursor().execute(text)
            model.rows(query.text)
            found += [change.spark, query.text]
        return found

    assert texts("1") == texts("1")
    assert texts("1") != texts("2")


def test_whoever_is_alone_in_a_gate_is_alone() -> None:
    gate, inside, seen = Gate(), [0], set()

    def shared() -> None:
        for _ in range(200):
            with gate.shared(), gate.shared():
                seen.add(inside[0])

    def alone() -> None:
        for _ in range(50):
            with gate.alone(), gate.shared():
                inside[0] += 1
                seen.add(-1) if inside[0] != 1 else None
                inside[0] -= 1

    _together([shared, shared, alone, alone])
    assert seen == {0}


def _together(work: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
