"""The same bad statements in the `spark-sql` command line: the same texts, and nothing is created, changed or lost."""

import pytest

from tests.spark.bad_input import DATABASE, PARENTS, Declared
from tests.spark.catalog.test_bad_input_tables import CASES, GOLDEN
from tests.spark.sessions import Ran, run_spark_sql

_STATE = (
    f"SHOW TABLES IN {DATABASE}",
    "SHOW PROC '/colocation_group'",
    "SELECT db, `table`, `group`, files FROM system.colocation_tables",
    "SELECT verb, object, detail FROM system.colocation_audit",
)


def statements(declared: Declared, format: str) -> dict[str, str]:
    query = f"SELECT * FROM {DATABASE}.source"
    made = {"CREATE TABLE": declared.sql(format), "CREATE TABLE AS SELECT": declared.sql(format, query)}
    simple = declared.columns == Declared().columns
    return {face: sql for face, sql in made.items() if declared.told_by(face) and (simple or face == "CREATE TABLE")}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Every bad statement in one process, the state before and after."""
    folder = tmp_path_factory.mktemp("spark_sql")
    bad = [sql for d in CASES.values() for format in d.formats for sql in statements(d, format).values()]
    hint = (
        f"CREATE TABLE {DATABASE}.small USING parquet CLUSTERED BY (k) INTO 500 BUCKETS "
        f"TBLPROPERTIES ('colocate_with'='small') AS SELECT * FROM {DATABASE}.source WHERE k < 0"
    )
    script = [
        f"CREATE DATABASE {DATABASE}",
        *PARENTS,
        f"CREATE TABLE {DATABASE}.source USING parquet AS SELECT CAST(id AS INT) AS k, 'v' AS v FROM range(10)",
        *_marked("before"),
        *bad,
        *_marked("after"),
        hint,
    ]
    conf = {"spark.hadoop.hive.cli.errors.ignore": "true"}
    return run_spark_sql(";\n".join(script) + ";\n", folder, conf)


def _marked(name: str) -> list[str]:
    return [f"SELECT 'state {name}'", *_STATE, f"SELECT 'end {name}'"]


def state(ran: Ran, name: str) -> str:
    return ran.out.split(f"state {name}\n")[1].split(f"end {name}\n")[0]


@pytest.mark.parametrize(("name", "format"), [(n, f) for n, d in CASES.items() for f in d.formats])
def test_spark_sql_tells_the_golden_message(ran: Ran, name: str, format: str) -> None:
    golden = (GOLDEN / f"bad_input_{name}_{format}.txt").read_text()
    errors = dict(_pairs(golden))
    for face in statements(CASES[name], format):
        assert errors[face].split(" (line ")[0] in ran.err, face


def _pairs(golden: str) -> list[tuple[str, str]]:
    """A golden file has a line of faces that ends in a colon, then the indented message."""
    lines = golden.rstrip("\n").split("\n")
    return [
        (face, lines[number + 1].strip())
        for number, line in enumerate(lines)
        if not line.startswith(" ") and line.endswith(":")
        for face in line.removesuffix(":").split(", ")
    ]


def test_nothing_is_created_changed_or_lost(ran: Ran) -> None:
    assert state(ran, "after") == state(ran, "before")
    assert "parent" in state(ran, "before")


def test_a_bucket_count_that_is_far_off_is_told(ran: Ran) -> None:
    assert "500 buckets for about" in ran.err
