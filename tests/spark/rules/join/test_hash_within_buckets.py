"""A hash join within buckets builds from the side that surely has fewer rows, also above a join or a shuffle."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare
from tests.spark.plans import nodes
from tools.plans import kind, walk

HASH_JOINS = ("ShuffledHashJoinExec", "BucketHashJoinExec")


def make_tables(spark: SparkSession) -> None:
    """big, small and wide: members; one: each j once, no member; twice: each j twice; other: like small, no member.

    long: texts of 1920 characters. many and lots: members with 100 rows of each k; plenty: the same, no member.
    """
    for name, rows in (("big", 3000), ("small", 60)):
        create_member(spark, name, "k INT, j INT, v BIGINT", ["k"], 4)
        fill(spark, name, f"SELECT cast(id AS INT), cast(id % 7 AS INT), id FROM range({rows})", ["k", "j", "v"])
    create_member(spark, "wide", "k INT, a STRING, b STRING, c STRING, d STRING, e STRING, f STRING", ["k"], 4)
    fill(spark, "wide", "SELECT cast(id AS INT), 'a', 'b', 'c', 'd', 'e', 'f' FROM range(1000)", ["k", *"abcdef"])
    for name, rows in (("one", 7), ("twice", 14)):
        spark.sql(f"CREATE TABLE {name} USING parquet AS SELECT cast(id % 7 AS INT) j, id w FROM range({rows})")
    for name in ("many", "lots"):
        create_member(spark, name, "k INT, v BIGINT", ["k"], 4)
        fill(spark, name, "SELECT cast(id % 15 AS INT), id FROM range(1500)", ["k", "v"])
    spark.sql("CREATE TABLE plenty USING parquet AS SELECT * FROM many")
    create_member(spark, "long", "k INT, t STRING", ["k"], 4)
    text = "concat_ws('', transform(sequence(1, 30), i -> sha2(cast(id * 100 + i AS STRING), 256)))"
    fill(spark, "long", f"SELECT cast(id AS INT), {text} FROM range(400)", ["k", "t"])
    spark.sql("CREATE TABLE other USING parquet AS SELECT cast(id AS INT) k, id v FROM range(60)")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "build", make_tables)


def built_from(spark: SparkSession, sql: str) -> list[str]:
    """The nodes in the build side of the query's one hash join within buckets, such as `ColocatedScan build.big`."""
    (join,) = [node for node in nodes(spark.sql(sql)) if kind(node) in HASH_JOINS]
    side = join.left() if str(join.buildSide()) == "BuildLeft" else join.right()
    return [str(node.nodeName()) for node in walk(side)]


@pytest.mark.each_value
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(("dimension", "small"), [("one", True), ("twice", False)])
def test_a_broadcast_of_unique_keys_multiplies_no_row(
    session: SparkSession, join: str, dimension: str, small: bool
) -> None:
    sql = (
        f"SELECT /*+ BROADCAST(d) */ s.v, d.w, b.v FROM small s {join} {dimension} d ON s.j = d.j "
        "JOIN big b ON s.k = b.k"
    )
    assert compare(session, sql).on.rows
    assert ("BroadcastHashJoin" in built_from(session, sql)) == small


def test_rows_that_were_shuffled_are_counted(session: SparkSession) -> None:
    sql = "SELECT o.v, b.v FROM other o JOIN big b ON o.k = b.k"
    assert compare(session, sql).on.rows
    built = built_from(session, sql)
    assert "ShuffleQueryStage" in built
    assert "ColocatedScan build.big" not in built


def test_few_wide_rows_are_hashed_rather_than_many_narrow_ones(session: SparkSession) -> None:
    sql = "SELECT w.*, b.v FROM wide w JOIN big b ON w.k = b.k"
    assert compare(session, sql).on.rows
    assert "ColocatedScan build.wide" in built_from(session, sql)


@pytest.mark.parametrize(
    ("sql", "hashed"),
    {
        "FROM many m JOIN lots l ON m.k = l.k": False,
        "FROM many m LEFT JOIN lots l ON m.k = l.k AND m.v > l.v": False,
        "FROM many m FULL JOIN (SELECT k, v + 1 AS v FROM lots) l ON m.k = l.k": False,
        "FROM many m JOIN plenty l ON m.k = l.k": False,
        "FROM many m LEFT SEMI JOIN lots l ON m.k = l.k": True,
        "FROM many m JOIN small l ON m.k = l.k": True,
        "FROM many m JOIN (SELECT * FROM lots WHERE v % 100 = 0) l ON m.k = l.k": True,
    }.items(),
)
@pytest.mark.every(3)
def test_a_join_that_is_mostly_pairs_has_both_sides_in_order(session: SparkSession, sql: str, hashed: bool) -> None:
    """Of a filter nobody knows how many pairs it leaves."""
    what = "count(*), sum(m.v)" if "SEMI" in sql else "count(*), sum(m.v * 7 + l.v)"
    pair = compare(session, f"SELECT {what} {sql}")
    assert pair.on.rows
    assert any(name in HASH_JOINS for name in pair.on.kinds) == hashed
    assert ("SortMergeJoinExec" in pair.on.kinds) != hashed


@pytest.mark.parametrize(("column", "hashed"), [("length(l.t)", False), ("l.k", True)])
def test_long_texts_do_not_fit(session: SparkSession, column: str, hashed: bool) -> None:
    """100 rows of a bucket: by the length of a usual text 20 kB, in truth 200 kB."""
    session.conf.set("spark.colocate.join.hashBytesPerTask", "50000")
    pair = compare(session, f"SELECT b.v, {column} FROM big b JOIN long l ON b.k = l.k AND {column} > 0")
    assert pair.on.rows
    assert any(name in HASH_JOINS for name in pair.on.kinds) == hashed


@pytest.mark.parametrize(
    ("condition", "own"), {"": False, "AND b.j < m.k": False, "AND b.j < m.v": True, "AND b.v % 3 = 1": False}.items()
)
def test_one_row_of_a_key_is_kept_where_any_answers_and_all_might_not_fit(
    session: SparkSession, condition: str, own: bool
) -> None:
    session.conf.set("spark.colocate.join.hashBytesPerTask", "1")
    sql = f"SELECT /*+ SHUFFLE_HASH(m) */ b.v FROM big b LEFT SEMI JOIN many m ON b.k = m.k {condition}"
    assert compare(session, sql).on.rows
    (join,) = [node for node in nodes(session.sql(sql)) if kind(node) in HASH_JOINS]
    assert join.hasOwnTable() == own


def test_a_plan_without_any_exchange_is_tuned_once(session: SparkSession) -> None:
    """AQE asks for it twice; what the first pass refused for memory, the second one would look at again."""
    plan = nodes(session.sql("SELECT b.k, s.v FROM big b JOIN small s ON b.k = s.k"))
    tune = session._jvm.org.apache.spark.sql.colocate.phases.OptimizeColocatedPlan
    assert any(tune.isDone(node) for node in plan)
