"""Advice from the event log of a session without us: what it says of the shuffles is what happens."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_colocate.workload.layouts import removed
from spark_colocate.workload.logs import applications, events
from spark_colocate.workload.plans import exchanged
from spark_colocate.workload.queries import queries

from tests.spark.members import create_member, database
from tests.spark.plans import exchanges
from tests.spark.sessions import run_bare
from tests.spark.workload.queries import QUERIES, TABLES
from tests.tiers.params import rest_slow

CODE = (Path(__file__).parent / "stock.py").read_text()
KEYS = {"orders": "o_id", "lines": "l_order"}


@pytest.fixture(scope="module", params=rest_slow(["true", "false"], "true"), ids=["packed and rolling", "one file"])
def logs(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("stock")
    run_bare(CODE, folder, request.param).ok()
    return folder / "logs"


def _make(spark: SparkSession) -> None:
    """The tables as the advice says."""
    for table, (columns, rows, provider) in TABLES.items():
        if table in KEYS:
            create_member(spark, table, columns, [KEYS[table]], 8, group="by_l_order")
        else:
            spark.sql(f"CREATE TABLE {table} ({columns}) USING {provider}")
        spark.sql(f"INSERT INTO {table} {rows}")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "advised", _make)


def test_the_call_names_tables_keys_and_statements(spark: SparkSession, logs: Path) -> None:
    found = spark.sql(f"CALL system.advise(log => '{logs}')").collect()
    assert [(row.rank, row.group_name, row.table, row["keys"], row.buckets, row.queries) for row in found] == [
        (1, "by_l_order", "default.orders", ["o_id"], 8, 4),
        (1, "by_l_order", "default.lines", ["l_order"], 8, 4),
    ]
    assert found[0].statement == (
        "CALL system.colocate(table => 'default.orders', group => 'by_l_order', keys => array('o_id'), buckets => 8)"
    )
    assert all(row.saved_bytes > 100_000 and row.rewritten_bytes > 10_000 for row in found)


def test_the_exchanges_that_it_says_are_saved_are_gone(session: SparkSession, logs: Path) -> None:
    layout = {f"spark_catalog.default.{table}": (1, (key,)) for table, key in KEYS.items()}
    plans = [query.plan for one in applications(logs) for query in queries(events(one))]
    shuffling = [plan for plan in plans if any(exchanged(node) is not None for node in plan.walk())]
    assert len(shuffling) == len(QUERIES)
    for plan, query in zip(shuffling, QUERIES, strict=True):
        before = sum(exchanged(node) is not None for node in plan.walk())
        assert before - len(removed(plan, layout)) == exchanges(session.sql(query)), query


def test_a_path_without_a_log_is_refused_with_what_to_name(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"EVENT_LOG_UNREADABLE.*There is no event log of Spark at"):
        spark.sql(f"CALL system.advise(log => '{tmp_path}/none')")


def test_the_command_shows_the_same(logs: Path) -> None:
    command = [sys.executable, "-m", "spark_colocate.faces.cli.main", "advise", str(logs)]
    text, as_json = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=True, env=os.environ).stdout
        for more in ((), ("-o", "json"))
    )
    rows = json.loads(as_json)["tables"]
    assert [row["statement"] + ";" in text.splitlines() for row in rows] == [True, True]
    assert "1. Group by_l_order, 8 buckets: saves " in text
