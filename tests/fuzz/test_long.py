"""The fuzzer for longer: under both catalogs, with key models, and with each bug that it must find."""

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.fuzz.planted import SEARCHES, SECONDS, Search, dig_out, plant
from tests.fuzz.runner import Fuzzer
from tests.spark.rules.test_planted_bugs import BY
from tests.spark.sessions import run_bare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

MINUTES = 15
SCRIPT = """
import sys
from tests.fuzz.__main__ import main
sys.argv = ["fuzz", *sys.argv[2:]]
sys.exit(main())
"""


@pytest.mark.parametrize(
    "how",
    [
        "--seed 1 --catalog in-memory",
        "--seed 2 --catalog in-memory --key-models",
        "--seed 3 --catalog hive",
        "--seed 4 --catalog hive --key-models",
    ],
)
def test_a_quarter_of_an_hour_finds_no_difference(tmp_path: Path, how: str) -> None:
    arguments = [*how.split(), "--minutes", str(MINUTES)]
    ran = run_bare(SCRIPT, tmp_path, *arguments, timeout=MINUTES * 60 + 300)
    assert ran.code == 0, ran.out[-6000:] + ran.err[-2000:]


@pytest.mark.parametrize("bug", BY)
def test_a_planted_bug_is_found(spark: SparkSession, bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    fuzzer: Fuzzer = SEARCHES.get(bug, Search()).fuzzer(spark, 20261121)
    plant(spark, bug)
    try:
        assert fuzzer.run(SECONDS) is not None, fuzzer.coverage.summary()
    finally:
        dig_out(spark)
