"""`colocate explain` and `colocate sql` in the tests' session: what they show, and that `explain` runs nothing."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_colocate import verdicts
from spark_colocate.bridge import driver
from spark_colocate.faces.cli import spark as commands
from spark_colocate.faces.cli.main import run

from tests.spark.members import create_member

INTERPRETED = True

Command = Callable[..., tuple[int, str, str]]
JOIN = "SELECT * FROM a JOIN b ON a.k = b.k"


@pytest.fixture
def colocate(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    @contextmanager
    def session(_conf: list[str] | None, _store: str | None) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(commands, "session", session)
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run(list(arguments))
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out, told.err

    return command


@pytest.fixture
def tables(spark: SparkSession, db: str) -> str:
    for name in ("a", "b"):
        create_member(spark, name, "k INT, v INT", ["k"], 4)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    return db


def test_explain_shows_the_verdicts_of_a_query(spark: SparkSession, tables: str, colocate: Command) -> None:
    code, out, err = colocate("explain", f"{JOIN};")
    assert (code, err) == (0, "")
    assert "OPERATOR" in out and f"colocate: true (group {tables}.g, 4 buckets)" in out
    (shown,) = json.loads(colocate("explain", JOIN, "-o", "json")[1])
    (same,) = verdicts(spark.sql(JOIN))
    assert (shown["operator"], shown["colocated"], shown["text"]) == (same.operator, True, same.text)
    (other,) = json.loads(colocate("explain", "SELECT * FROM a JOIN b ON a.v = b.v", "-o", "json")[1])
    assert (other["colocated"], other["code"]) == (False, "KEYS_NOT_COVERED")


def test_explain_of_a_query_without_members_has_no_line(colocate: Command) -> None:
    assert json.loads(colocate("explain", "SELECT 1", "-o", "json")[1]) == []


@pytest.mark.parametrize(
    "statement",
    ["DROP TABLE a", "INSERT INTO a VALUES (1, 1)", "CREATE TABLE c AS SELECT * FROM a", "TRUNCATE TABLE a", "SET a=b"],
)
def test_explain_runs_nothing(spark: SparkSession, tables: str, colocate: Command, statement: str) -> None:
    spark.sql("INSERT INTO a VALUES (7, 7)")
    before = spark.table("a").collect(), spark.sql("SHOW TABLES").collect()
    assert colocate("explain", statement)[0] == 0
    driver.verdicts_json_of(spark, statement)
    assert (spark.table("a").collect(), spark.sql("SHOW TABLES").collect()) == before
    assert spark.conf.get("a", None) is None


def test_sql_runs_statements_of_both_spellings_and_shows_rows(tables: str, colocate: Command) -> None:
    text = """
    -- In Doris' spelling; with a comment.
    CREATE TABLE t (k INT, v VARCHAR(10)) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("colocate_with" = "g");
    INSERT INTO t VALUES (1, 'x;y'), (2, NULL);
    SELECT k, v, k FROM t ORDER BY k; SELECT count(*) AS n FROM t
    """
    code, out, err = colocate("sql", "-", "-o", "json", stdin=text)
    assert (code, err) == (0, "")
    shown = [json.loads(line) for line in out.splitlines()]
    assert shown[-2:] == [
        {"columns": ["k", "v", "k"], "rows": [[1, "x;y", 1], [2, None, 2]], "more": False},
        {"columns": ["n"], "rows": [[2]], "more": False},
    ]
    code, out, err = colocate("sql", "-", "--max-rows", "1", stdin="SELECT k, v, k FROM t ORDER BY k")
    assert [line.split() for line in out.splitlines()] == [["k", "v", "k"], ["1", "x;y", "1"]]
    assert err == "Only the first 1 rows are shown (--max-rows).\n"


def test_sql_stops_at_the_first_statement_that_fails(
    spark: SparkSession, tables: str, colocate: Command, tmp_path: Path
) -> None:
    file = tmp_path / "file.sql"
    file.write_text("CREATE TABLE one (k INT) USING parquet;\nSELECT nothing FROM one;\nDROP TABLE one;")
    code, out, err = colocate("sql", str(file))
    assert (code, out) == (1, "")
    assert err.startswith("Error: Spark refuses statement 2: [UNRESOLVED_COLUMN")
    first, second = err.splitlines()
    assert "SQLSTATE: 42703" in first and second == "Correct it, and run the command again."
    assert spark.catalog.tableExists("one")
