"""Writes that public reports about Delta, Hudi, Iceberg and Spark tell of, on a bucketed table and on a plain one."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, switched_off
from tests.spark.oracle import multiset

INTERPRETED = True
COLUMNS = "id BIGINT, v INT, s STRUCT<a: INT, b: ARRAY<STRING>>"
KEYED = "a JOIN d b ON a.id = b.id"
ROW = "named_struct('a', cast({0} % 3 AS INT), 'b', array(cast({0} AS STRING)))"


def _make(spark: SparkSession) -> None:
    create_member(spark, "m", COLUMNS, ["id"], 4)
    spark.sql(f"CREATE TABLE d ({COLUMNS}) USING delta")
    for name in ("m", "d"):
        spark.sql(f"INSERT INTO {name} SELECT id, cast(id % 5 AS INT), {ROW.format('id')} FROM range(0, 40, 1, 3)")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "writes_as_reported", _make)


@pytest.fixture(params=["true", "false"], ids=["AQE", "without AQE"])
def written(session: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    session.conf.set("spark.sql.adaptive.enabled", request.param)
    create_member(session, "w", COLUMNS, ["id"], 4)
    session.sql(f"CREATE TABLE w_plain ({COLUMNS}) USING delta")
    for name in ("w", "w_plain"):
        session.sql(f"INSERT INTO {name} SELECT * FROM d WHERE id < 20")
    yield session
    for name in ("w", "w_plain"):
        session.sql(f"DROP TABLE IF EXISTS {name}")


def _checkpointed(spark: SparkSession, name: str) -> None:
    frame = spark.sql(f"SELECT a.* FROM {name} {KEYED}").localCheckpoint()
    frame.write.insertInto(name)


def _cached(spark: SparkSession, name: str) -> None:
    frame = spark.sql(f"SELECT a.id, b.v, a.s FROM {name} {KEYED}").cache()
    try:
        frame.count()
        frame.writeTo(name).append()
        frame.write.insertInto(name, overwrite=True)
    finally:
        frame.unpersist()


def _evolved(spark: SparkSession, name: str) -> None:
    frame = spark.sql(f"SELECT a.*, b.v AS more FROM {name} {KEYED}")
    frame.write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable(name)


def _at_once(spark: SparkSession, name: str) -> None:
    text = f"INSERT INTO {name} SELECT b.* FROM m a JOIN d b ON a.id = b.id WHERE a.v = {{}}"
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda v: spark.sql(text.format(v)), range(3)))


def _sql(text: str) -> Callable[[SparkSession, str], object]:
    return lambda spark, name: spark.sql(text.format(w=name))


REPORTED = {
    "self join into itself": _sql(f"INSERT INTO {{w}} SELECT a.id, b.v, b.s FROM {{w}} {KEYED}"),
    "overwrite of the table that is read": _sql(f"INSERT OVERWRITE {{w}} SELECT a.id, b.v + 1, a.s FROM {{w}} {KEYED}"),
    "overwrite by less rows": _sql(f"INSERT OVERWRITE {{w}} SELECT a.* FROM m {KEYED} WHERE b.v = 2"),
    "overwrite by nothing": _sql(f"INSERT OVERWRITE {{w}} SELECT a.* FROM m {KEYED} WHERE b.v = 99"),
    "the first rows of an order": _sql(f"INSERT INTO {{w}} SELECT a.* FROM m {KEYED} ORDER BY a.id LIMIT 7 OFFSET 3"),
    "an order": _sql(f"INSERT INTO {{w}} SELECT a.* FROM m {KEYED} ORDER BY a.v, a.id"),
    "a distribution of the user's": _sql(f"INSERT INTO {{w}} SELECT a.* FROM m {KEYED} DISTRIBUTE BY a.v SORT BY a.id"),
    "a rebalance": _sql(f"INSERT INTO {{w}} SELECT /*+ REBALANCE(v) */ a.* FROM m {KEYED}"),
    "a hint for as many ranges as buckets": _sql(
        f"INSERT INTO {{w}} SELECT /*+ REPARTITION_BY_RANGE(4, id) */ a.* FROM m {KEYED}"
    ),
    "a hint for as many tasks as buckets": _sql(f"INSERT INTO {{w}} SELECT /*+ REPARTITION(4) */ a.* FROM m {KEYED}"),
    "a lateral view": _sql(f"INSERT INTO {{w}} SELECT x, a.v, a.s FROM m {KEYED} LATERAL VIEW explode(array(1)) AS x"),
    "another key": _sql(f"INSERT INTO {{w}} SELECT a.id + 1, b.v, named_struct('a', 1, 'b', b.s.b) FROM m {KEYED}"),
    "MERGE with a source of several rows per key": _sql(
        "MERGE INTO {w} t USING (SELECT a.* FROM m a JOIN d b ON a.v = b.v) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ),
    "MERGE from a join with the target": _sql(
        f"MERGE INTO {{w}} t USING (SELECT a.id, b.v + 1 AS v, b.s FROM {{w}} {KEYED}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE THEN DELETE"
    ),
    "from a checkpoint of a join": _checkpointed,
    "from a cached join, then over itself": _cached,
    "a column more": _evolved,
    "several at once": _at_once,
}  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("how", REPORTED.values(), ids=REPORTED.keys())
@pytest.mark.every(3)
def test_rows_are_those_of_a_plain_table(written: SparkSession, how: Callable[[SparkSession, str], object]) -> None:
    ours = _error(how, written, "w")
    with switched_off(written):
        theirs = _error(how, written, "w_plain")
        assert ours == theirs
        assert multiset(written.table("w").collect()) == multiset(written.table("w_plain").collect())
    assert written.table("w").where("_colocate_bucket <> pmod(hash(id), 4)").count() == 0


def _error(how: Callable[[SparkSession, str], object], spark: SparkSession, name: str) -> str | None:
    try:
        how(spark, name)
    except PySparkException as error:
        return error.getCondition() or str(error).splitlines()[0]
    return None
