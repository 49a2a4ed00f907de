"""docs/how-to/other-engines.md, made anew by the engines themselves: what each of them can do with a member."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession
from spark_colocate.session import DELTA_EXTENSION, delta_jars

from benchmarks.data import duck
from tests.docs.markdown import ROOT
from tests.spark.members import folder
from tests.spark.sessions import run_bare, small_options

PAGE = (ROOT / "docs/how-to/other-engines.md").read_text()
VERBS = ("read", "append", "update", "delete", "merge")
NEW = pa.table({"k": pa.array([100], pa.int64()), "v": pa.array([1], pa.int32())})


def promised(engine: str) -> dict[str, str]:
    (line,) = re.findall(rf"^\| {re.escape(engine)}.*\|$", PAGE, re.MULTILINE)
    return dict(zip(VERBS, [cell.strip() for cell in line.split("|")[3:-1]], strict=True))


@pytest.fixture
def member(spark: SparkSession, db: str) -> Path:
    spark.sql(
        "CREATE TABLE m (k BIGINT, v INT) USING delta CLUSTERED BY (k) INTO 2 BUCKETS "
        "TBLPROPERTIES ('colocate_with' = 'g')"
    )
    spark.sql("INSERT INTO m SELECT id, id FROM range(20)")
    return folder(spark, "m")


def check(promise: str, deed: Callable[[], object], refusal: str) -> None:
    """`deed` does what the docs' table promises: it works, or it is refused with words like `refusal`."""
    if promise == "yes":
        deed()
        return
    assert promise == "no"
    with pytest.raises(Exception, match=refusal):
        deed()


def merge_by_delta_rs(path: Path) -> object:
    merged = DeltaTable(path).merge(NEW, "s.k = t.k", source_alias="s", target_alias="t")
    return merged.when_not_matched_insert({"k": "s.k", "v": "s.v"}).execute()


def test_delta_rs(spark: SparkSession, member: Path) -> None:
    deeds = {
        "read": lambda: DeltaTable(member).count(),
        "append": lambda: write_deltalake(member, NEW, mode="append"),
        "update": lambda: DeltaTable(member).update(updates={"v": "7"}, predicate="k = 3"),
        "merge": lambda: merge_by_delta_rs(member),
        "delete": lambda: DeltaTable(member).delete("k = 3"),
    }
    for verb, promise in promised("delta-rs").items():
        check(promise, deeds[verb], "Invalid function 'pmod'")
    assert spark.table("m").count() == 19


DUCKDB = {
    "append": ("INSERT INTO m VALUES (100, 1, 0)", "'generatedColumns' is not supported"),
    "update": ("UPDATE m SET v = 7 WHERE k = 3", "Can only update base table"),
    "delete": ("DELETE FROM m WHERE k = 3", "Can only delete from base table"),
    "merge": ("MERGE INTO m USING (SELECT 1 AS k) s USING (k) WHEN MATCHED THEN DELETE", "only merge into base table"),
}


def test_duckdb(spark: SparkSession, member: Path) -> None:
    promises = promised("DuckDB")
    with duck("delta") as engine:
        assert engine.execute(f"SELECT count(*) FROM delta_scan('{member}')").fetchone() == (20,)
    for verb, (statement, refusal) in DUCKDB.items():
        with duck("delta") as engine:
            engine.execute(f"ATTACH '{member}' AS m (TYPE delta)")
            check(promises[verb], partial(engine.execute, statement), refusal)
    assert promises["read"] == "yes" and spark.table("m").count() == 20


PLAIN = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]")
for key, value in json.loads(sys.argv[2]).items():
    builder.config(key, value)
spark = builder.getOrCreate()
m = f"delta.`{sys.argv[3]}`"
into = f"MERGE INTO {m} t USING (SELECT 200L AS k, 2 AS v) s ON s.k = t.k WHEN NOT MATCHED THEN INSERT "
assert spark.sql(f"SELECT * FROM {m}").count() == 20
spark.sql(f"INSERT INTO {m} (k, v) VALUES (100, 1)")
spark.sql(f"UPDATE {m} SET v = 7 WHERE k = 3")
spark.sql(f"DELETE FROM {m} WHERE k = 4")
spark.sql(into + "(k, v) VALUES (s.k, s.v)")
try:
    spark.sql(into + "*")
except Exception as refused:
    assert "DELTA_MERGE_UNRESOLVED_EXPRESSION" in str(refused), refused
else:
    raise AssertionError("the docs say that this fails")
"""


def test_spark_and_delta_without_the_extension(spark: SparkSession, member: Path, tmp_path: Path) -> None:
    plain = small_options(tmp_path) | {
        "spark.jars": ",".join(delta_jars()),
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    run_bare(PLAIN, tmp_path, json.dumps(plain), str(member)).ok()
    assert promised("Spark 4.2") == dict.fromkeys(VERBS, "yes")
    rows = {row.k: row.v for row in spark.table("m").collect()}
    assert rows[100] == 1 and rows[200] == 2 and rows[3] == 7 and 4 not in rows


def test_pyarrow_reads_and_its_file_is_a_foreign_one(spark: SparkSession, db: str) -> None:
    spark.sql("CREATE TABLE p (k BIGINT, v INT) USING parquet CLUSTERED BY (k) INTO 2 BUCKETS")
    spark.sql("INSERT INTO p SELECT id, id FROM range(20)")
    path = folder(spark, "p")
    assert pq.read_table(path).num_rows == 20
    pq.write_table(NEW, path / "export.parquet")
    spark.sql("REFRESH TABLE p")
    assert spark.table("p").count() == 21
    assert promised("PyArrow")["append"] == "foreign file"
