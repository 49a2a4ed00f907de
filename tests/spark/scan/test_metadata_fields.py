"""Fields of `_metadata`, of which row ids are made, are read without making the struct for each row."""

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare
from tests.spark.plans import nodes
from tools.plans import kind

INTERPRETED = True

ROW_IDS = {"delta.enableRowTracking": "true", "delta.enableDeletionVectors": "true"}

FIELDS = (
    "SELECT k, v, _metadata.row_id FROM t",
    "SELECT k, _metadata.row_id, _metadata.file_name, _metadata.row_index FROM t",
    "SELECT v, _metadata.row_id + k AS r FROM t WHERE v % 3 = 0 AND k > 1",
    "SELECT k, max_by(v, _metadata.row_id) FROM t GROUP BY k",
    "SELECT k, max_by(v, _metadata.row_id) FROM deleted GROUP BY k",
    "SELECT a.k, a._metadata.row_id, b.v FROM t a JOIN deleted b ON a.k = b.k",
    "SELECT k, _metadata.file_size, _metadata.row_index FROM native",
    "SELECT k, v FROM keyed WHERE v > 5",
)

# Used as a whole, by the filter, or, of Delta's own fields, by more than one column.
STRUCTS = (
    "SELECT k, _metadata.row_id, _metadata.row_commit_version FROM deleted WHERE v % 3 <> 0",
    "SELECT k, to_json(_metadata) FROM t",
    "SELECT k, to_json(_metadata), _metadata.row_id FROM deleted WHERE v > 3",
    "SELECT k FROM t WHERE _metadata.row_index % 2 = 1",
    "SELECT k, _metadata.row_id FROM deleted WHERE _metadata.row_id % 2 = 1 AND _metadata.file_name LIKE '%parquet'",
)


def _make(spark: SparkSession) -> None:
    for name, provider, properties in (
        ("t", "delta", ROW_IDS),
        ("deleted", "delta", ROW_IDS),
        ("native", "parquet", {}),
    ):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4, provider, properties=properties)
        for first in (0, 30):
            fill(spark, name, f"SELECT cast(id % 13 AS INT), id FROM range({first}, {first + 30})", ["k", "v"])
    spark.sql("DELETE FROM deleted WHERE v % 7 = 0")
    spark.sql("CREATE TABLE keyed (k INT, v BIGINT) UNIQUE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 4")
    for first in (0, 3):
        spark.sql(f"INSERT INTO keyed SELECT cast(id AS INT), id + {first} FROM range({first}, {first + 9})")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "metadata_fields", _make)


def makes_structs(query: DataFrame) -> bool:
    columns = [node.projectList().toString() for node in nodes(query) if kind(node) == "ProjectExec"]
    return any("named_struct(" in text for text in columns)


@pytest.mark.parametrize("sql", FIELDS)
@pytest.mark.every(3)
def test_no_struct_is_made(session: SparkSession, sql: str) -> None:
    assert not makes_structs(session.sql(sql))
    assert compare(session, sql).on.rows


@pytest.mark.parametrize("sql", STRUCTS)
@pytest.mark.every(3)
def test_rows_are_the_same_where_the_struct_is_used(session: SparkSession, sql: str) -> None:
    assert makes_structs(session.sql(sql))
    assert compare(session, sql).on.rows
