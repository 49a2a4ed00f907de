"""The quickstart and statements of Doris, one by one: in spark-sql, by the Thrift server and by Spark Connect.

Those of Doris' documents (tests/spark/dialect/statements) come from `spark-sql -f`, beeline and a Connect client.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyhive import hive

from tests.docs.markdown import ROOT, Block, blocks
from tests.spark.dialect import clients
from tests.spark.servers import CONNECT, THRIFT, example_settings, run_beeline, server
from tests.spark.sessions import run_bare, run_spark_sql

PAGES = (ROOT / "docs/quickstart.md", ROOT / "docs/how-to/doris.md")
SQL = [block for page in PAGES for block in blocks(page) if block.language == "sql"]
EXCLUDING = "SET spark.colocate.rules.excluded = PlanColocatedScans"
JOINED = "EXPLAIN SELECT price FROM orders JOIN lines ON order_id = order_ref"
EXCLUDED = "the session excludes rule PlanColocatedScans, which would have removed the Exchange [RULE_EXCLUDED]"
DORIS_LINE = "  |  colocate: true (group default.shop, 8 buckets)"
PORT = "spark.hadoop.hive.server2.thrift.port"
GO_ON = "spark.hadoop.hive.cli.errors.ignore"  # after an error, as clients do
HOST = "spark.hadoop.hive.server2.thrift.bind.host"


def run(block: Block, ask: Callable[[str], str]) -> str:
    if not block.info.startswith("fails:"):
        return "\n".join(ask(statement) for statement in block.statements)
    (statement,) = block.statements
    with pytest.raises(Exception, match=block.info.removeprefix("fails:").strip()):
        ask(statement)
    return ""


@pytest.mark.slow
def test_spark_sql_runs_the_quickstart(tmp_path: Path) -> None:
    statements = [text for block in SQL if not block.info for text in block.statements]
    conf = example_settings(tmp_path) | {"spark.colocate.python": os.environ["PYSPARK_PYTHON"]}
    ran = run_spark_sql(";\n".join([*statements, EXCLUDING, JOINED]) + ";\n", tmp_path, conf).ok()
    assert "colocate: true (group default.sales, 8 buckets)" in ran.out
    assert EXCLUDED in ran.out
    assert DORIS_LINE in ran.out


def test_spark_sql_runs_the_statements_of_the_documents(tmp_path: Path) -> None:
    conf = example_settings(tmp_path) | {"spark.colocate.python": os.environ["PYSPARK_PYTHON"], GO_ON: "true"}
    ran = run_spark_sql(clients.script(), tmp_path, conf)
    assert clients.differences(ran.out, ran.err) == {}


@pytest.fixture(scope="module")
def thrift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Thrift server."""
    with server(THRIFT, PORT, tmp_path_factory.mktemp("thrift"), {HOST: "127.0.0.1"}) as port:
        yield port


def test_thrift_clients_run_the_quickstart_after_another_has_left(thrift: int) -> None:
    told = [thrift_client(thrift) for _ in range(2)]
    assert all("colocate: true (group default.sales, 8 buckets)" in one for one in told)
    assert all(DORIS_LINE in one for one in told)


@pytest.mark.slow
def test_beeline_runs_the_statements_of_the_documents(tmp_path: Path) -> None:
    """On a server of its own: the documents list all groups that there are."""
    with server(THRIFT, PORT, tmp_path / "server", {HOST: "127.0.0.1"}) as port:
        ran = run_beeline(clients.script(), port, tmp_path)
    assert clients.differences(ran.out, ran.err) == {}


def thrift_client(port: int) -> str:
    with hive.connect("127.0.0.1", port=port, auth="NONE") as connection, connection.cursor() as cursor:
        return "\n".join(run(block, lambda statement: answer(cursor, statement)) for block in SQL)


def answer(cursor: Any, statement: str) -> str:
    cursor.execute(statement)
    return "\n".join(str(row[0]) for row in cursor.fetchall()) if cursor.description else ""


CLIENT = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[2]).getOrCreate()
"""


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Connect server."""
    with server(CONNECT, "spark.connect.grpc.binding.port", tmp_path_factory.mktemp("connect")) as port:
        yield f"sc://127.0.0.1:{port}"


def test_a_connect_client_runs_the_quickstart(connect: str, tmp_path: Path) -> None:
    code = CLIENT + "".join(as_client(block) for block in SQL)
    code += f"spark.sql({EXCLUDING!r})\nprint(spark.sql({JOINED!r}).collect()[0][0])\n"
    ran = run_bare(code, tmp_path, connect).ok()
    assert re.search(r"colocate: true \(group default\.sales, 8 buckets\)", ran.out)
    assert EXCLUDED in ran.out
    assert DORIS_LINE in ran.out


def test_a_connect_client_runs_the_statements_of_the_documents(connect: str, tmp_path: Path) -> None:
    code = CLIENT + "import json\nfrom tests.spark.dialect.clients import differences_by\n"
    code += "print(json.dumps(differences_by(spark)))\n"
    ran = run_bare(code, tmp_path, connect).ok()
    assert json.loads(ran.out.splitlines()[-1]) == {}


def as_client(block: Block) -> str:
    if not block.info.startswith("fails:"):
        return "".join(f"print(*(row[0] for row in spark.sql({text!r}).collect()))\n" for text in block.statements)
    return f"try:\n    spark.sql({block.statements[0]!r}).collect()\nexcept Exception as refused:\n" + (
        f"    assert {block.info.removeprefix('fails:').strip()!r} in str(refused), refused\n"
        "else:\n    raise AssertionError('not refused')\n"
    )
