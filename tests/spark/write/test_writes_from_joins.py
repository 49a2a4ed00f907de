"""Every statement that writes into buckets, from joins of all kinds, with and without AQE and broadcasts.

`./run test` has each pair of form, target and settings, and each query; the third tier each query with each form and
target, under one of the four pairs of settings in turn.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, switched_off
from tests.spark.native import misplaced_rows
from tests.spark.oracle import Rows, difference, multiset
from tests.spark.plans import exchanges

INTERPRETED = True
BUCKETS = 4

# Each gives (id BIGINT, v INT). b4, t4: members; n4: a native one; b3: a member by another count; u4: bucketed, in no
# group; d: plain Delta; p: plain Parquet.
QUERIES = {
    "member with member": "SELECT a.id, b.v FROM b4 a JOIN t4 b ON a.id = b.id",
    "member with native member": "SELECT a.id, b.v FROM b4 a JOIN n4 b ON a.id = b.id",
    "member with itself": "SELECT a.id, b.v FROM b4 a JOIN b4 b ON a.id = b.id",
    "member with another count": "SELECT a.id, b.v FROM b4 a JOIN b3 b ON a.id = b.id",
    "another count with member": "SELECT b.id, a.v FROM b3 a JOIN b4 b ON a.id = b.id",
    "member with ungrouped": "SELECT a.id, b.v FROM b4 a JOIN u4 b ON a.id = b.id",
    "member with plain Delta": "SELECT a.id, b.v FROM b4 a JOIN d b ON a.id = b.id",
    "plain Delta with member": "SELECT b.id, a.v FROM d a JOIN b4 b ON a.id = b.id",
    "native member with Parquet": "SELECT a.id, b.v FROM n4 a JOIN p b ON a.id = b.id",
    "member with a range": "SELECT a.id, a.v FROM b4 a JOIN range(0, 40, 1, 3) b ON a.id = b.id",
    "member with VALUES": "SELECT a.id, b.v FROM b4 a JOIN (VALUES (3L, 1), (7L, 2), (9L, 3)) b(id, v) ON a.id = b.id",
    "no member": "SELECT a.id, b.v FROM d a JOIN p b ON a.id = b.id",
    "range with Parquet": "SELECT a.id, b.v FROM range(0, 60, 1, 5) a JOIN p b ON a.id = b.id",
    "no key": "SELECT a.id, b.v FROM b4 a JOIN (SELECT * FROM d LIMIT 3) b ON a.id > b.id + 20",
    "another key": "SELECT a.id, b.v FROM b4 a JOIN d b ON a.v = b.v WHERE a.id < 9",
    "left": "SELECT a.id, b.v FROM b4 a LEFT JOIN d b ON a.id = b.id",
    "left, keys of the extended side": "SELECT b.id, a.v FROM b4 a LEFT JOIN d b ON a.id = b.id",
    "right": "SELECT b.id, a.v FROM d a RIGHT JOIN b4 b ON a.id = b.id",
    "full": "SELECT coalesce(a.id, b.id) AS id, b.v FROM b4 a FULL JOIN d b ON a.id = b.id",
    "full with another count": "SELECT coalesce(a.id, b.id) AS id, b.v FROM b4 a FULL JOIN b3 b ON a.id = b.id",
    "semi": "SELECT a.id, a.v FROM b4 a LEFT SEMI JOIN d b ON a.id = b.id",
    "anti": "SELECT a.id, a.v FROM d a LEFT ANTI JOIN b3 b ON a.id = b.id",
    "exists": "SELECT a.id, a.v FROM b4 a WHERE a.v = 1 OR EXISTS (SELECT 1 FROM d b WHERE b.id = a.id)",
    "three tables": "SELECT a.id, c.v FROM b4 a JOIN d b ON a.id = b.id JOIN b3 c ON b.id = c.id",
    "three keys": "SELECT a.id, c.v FROM b4 a JOIN d b ON a.id = b.id JOIN p c ON b.v = c.v AND c.id < 5",
    "below an aggregate": "SELECT a.id, cast(sum(b.v) AS INT) AS v FROM b4 a JOIN d b ON a.id = b.id GROUP BY a.id",
    "of an aggregate": "SELECT a.id, b.v FROM b4 a JOIN (SELECT v, max(id) AS id FROM d GROUP BY v) b ON a.id = b.id",
    "below a window": "SELECT a.id, cast(row_number() OVER (PARTITION BY a.id ORDER BY b.v) AS INT) AS v "
    "FROM d a JOIN p b ON a.id = b.id",
    "below a union": "SELECT a.id, b.v FROM b4 a JOIN d b ON a.id = b.id UNION ALL "
    "SELECT a.id, b.v FROM b3 a JOIN p b ON a.id = b.id",
    "of a union": "SELECT a.id, b.v FROM (SELECT * FROM b4 UNION ALL SELECT * FROM t4) a JOIN d b ON a.id = b.id",
    "distinct": "SELECT DISTINCT a.id, b.v FROM b4 a JOIN d b ON a.id = b.id",
    "of nothing": "SELECT a.id, b.v FROM b4 a JOIN d b ON a.id = b.id WHERE a.id < 0",
}  # fmt: skip

_CLUSTERED = f"CLUSTERED BY (id) INTO {BUCKETS} BUCKETS"
TARGETS = {
    "Delta member": f"USING delta {_CLUSTERED} TBLPROPERTIES ('colocate_with' = 'g')",
    "Parquet member": f"USING parquet {_CLUSTERED} TBLPROPERTIES ('colocate_with' = 'g')",
    "ungrouped Delta": f"USING delta {_CLUSTERED}",
    "ungrouped Parquet": f"USING parquet {_CLUSTERED}",
}


@dataclass(frozen=True)
class Form:
    """keeps: the rows that the target had stay. only: a word of the targets that can take it."""

    write: Callable[[SparkSession, str, str], object]
    keeps: bool = False
    creates: bool = False
    only: str = ""


def _overwrite_dynamically(spark: SparkSession, query: str, target: str) -> None:
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    spark.sql(f"INSERT OVERWRITE w {query}")
    spark.conf.unset("spark.sql.sources.partitionOverwriteMode")


FORMS = {
    "INSERT INTO": Form(lambda s, q, t: s.sql(f"INSERT INTO w {q}"), keeps=True),
    "INSERT INTO by name": Form(lambda s, q, t: s.sql(f"INSERT INTO w BY NAME SELECT v, id FROM ({q})"), keeps=True),
    "INSERT OVERWRITE": Form(lambda s, q, t: s.sql(f"INSERT OVERWRITE w {q}")),
    "dynamic INSERT OVERWRITE": Form(_overwrite_dynamically),
    "CTAS": Form(lambda s, q, t: s.sql(f"CREATE TABLE w {t} AS {q}"), creates=True),
    "REPLACE": Form(lambda s, q, t: s.sql(f"CREATE OR REPLACE TABLE w {t} AS {q}"), only="Delta"),
    "insertInto": Form(lambda s, q, t: s.sql(q).write.insertInto("w"), keeps=True),
    "insertInto, overwrite": Form(lambda s, q, t: s.sql(q).write.insertInto("w", overwrite=True)),
    "saveAsTable": Form(
        lambda s, q, t: s.sql(q).write.format("delta").mode("append").saveAsTable("w"), keeps=True, only="Delta"
    ),
    "saveAsTable, native": Form(
        lambda s, q, t: s.sql(q).write.bucketBy(BUCKETS, "id").format("parquet").mode("append").saveAsTable("w"),
        keeps=True,
        only="Parquet",
    ),
    "writeTo, append": Form(lambda s, q, t: s.sql(q).writeTo("w").append(), keeps=True, only="Delta"),
    "writeTo, overwrite": Form(lambda s, q, t: s.sql(q).writeTo("w").overwritePartitions(), only="Delta"),
}

Case = tuple[str, str, str, bool, bool]


def cases() -> list[Case]:
    """query, form, target, AQE, broadcasts."""
    fitting = [(form, target) for form, target in itertools.product(FORMS, TARGETS) if FORMS[form].only in target]
    settings = list(itertools.product((True, False), repeat=2))
    return [
        (query, form, target, *settings[(number + place) % len(settings)])
        for number, query in enumerate(QUERIES)
        for place, (form, target) in enumerate(fitting)
    ]



def _make(spark: SparkSession) -> None:
    columns = "id BIGINT, v INT"
    create_member(spark, "b4", columns, ["id"], BUCKETS)
    create_member(spark, "t4", columns, ["id"], BUCKETS)
    create_member(spark, "n4", columns, ["id"], BUCKETS, provider="parquet")
    create_member(spark, "b3", columns, ["id"], 3, group="g3")
    spark.sql(f"CREATE TABLE u4 ({columns}) {TARGETS['ungrouped Delta']}")
    spark.sql(f"CREATE TABLE d ({columns}) USING delta")
    spark.sql(f"CREATE TABLE p ({columns}) USING parquet")
    for number, name in enumerate(("b4", "t4", "n4", "b3", "u4", "d", "p")):
        spark.sql(f"INSERT INTO {name} SELECT id, cast(id % 5 AS INT) FROM range({number}, {45 + number}, 1, 3)")
        spark.sql(f"INSERT INTO {name} VALUES (NULL, 1), (5, NULL), (11, {number})")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "writes_from_joins", _make)


@pytest.fixture
def target(session: SparkSession) -> Iterator[None]:
    yield
    session.sql("DROP TABLE IF EXISTS w")


@pytest.mark.pairs("form", "target_name", "aqe", "broadcasts")
@pytest.mark.parametrize(("query", "form", "target_name", "aqe", "broadcasts"), cases())
def test_rows_and_buckets(
    session: SparkSession, target: None, query: str, form: str, target_name: str, aqe: bool, broadcasts: bool
) -> None:
    text, how, created = QUERIES[query], FORMS[form], TARGETS[target_name]
    with switched_off(session):
        wanted = multiset(session.sql(text).collect())
        if not how.creates:
            session.sql(f"CREATE TABLE w (id BIGINT, v INT) {created}")
            session.sql("INSERT INTO w SELECT id, 99 FROM range(6)")
    session.conf.set("spark.sql.adaptive.enabled", str(aqe).lower())
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "10485760" if broadcasts else "-1")
    how.write(session, text, created)
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    if how.keeps:
        wanted = wanted + multiset([(number, 99) for number in range(6)])
    assert rows(session) == wanted, difference(rows(session), wanted, text)
    assert misplaced(session, created) == 0
    joined = session.sql("SELECT a.id, a.v, b.v FROM w a JOIN w b ON a.id = b.id")
    assert exchanges(joined) == 0


def rows(spark: SparkSession) -> Rows:
    return multiset(spark.sql("SELECT id, v FROM w").collect())


def misplaced(spark: SparkSession, created: str) -> int:
    if "delta" in created:
        return spark.table("w").where(f"_colocate_bucket <> pmod(hash(id), {BUCKETS})").count()
    return misplaced_rows(spark, "w", "id", BUCKETS)
