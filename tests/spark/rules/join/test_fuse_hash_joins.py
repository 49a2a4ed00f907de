"""The hash join of our own gives the rows of stock Spark's: every kind of join and of key, generated code and none."""

from collections.abc import Collection, Iterable, Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare
from tests.spark.plans import nodes
from tests.spark.versions import UNIONS_HAVE_CODE
from tests.tiers.params import rest_slow
from tools.plans import kind

OWN = "BucketHashJoinExec"

# Kind -> k of row `id` in the built and in the streamed table.
KEYS = {
    "ascending": ("id", "id + 100"),
    "repeated": ("id div 7", "id div 3"),
    "nulls": ("if(id % 50 < 20, null, id)", "if(id % 40 < 20, null, id)"),
    "scattered": ("id * 2654435761 % 1000003", "id * 2654435761 % 1000003 + id % 2"),
    "whole_range": (
        "id * 9223372036854775 - 9223372036854775807",
        "id * 9223372036854775 - 9223372036854775807 + id % 2",
    ),
    # All but one in a tiny part of the range: in order they would all want one slot.
    "crowded": ("if(id = 7, 4611686018427387904, id)", "if(id % 100 = 7, 4611686018427387904, id - 50)"),
    "extremes": (
        "element_at(array(-9223372036854775807 - 1, 9223372036854775807, 0, -1), int(id % 4 + 1))",
        "element_at(array(9223372036854775807, -9223372036854775807 - 1, 1, -1), int(id % 4 + 1))",
    ),
    "one": ("5", "id % 10"),
}
BUILT = {"extremes": 8, "one": 3}  # rows, where they are not 300; twice as many are streamed

JOINS = {
    "inner": "SELECT s.v, b.w, b.text FROM streamed s JOIN built b ON s.k = b.k",
    "condition": "SELECT s.v, b.w, b.text FROM streamed s JOIN built b ON s.k = b.k AND s.v % 5 < b.w % 7",
    "left": "SELECT s.v, b.w, b.text FROM streamed s LEFT JOIN built b ON s.k = b.k AND b.w % 2 = 0",
    "right": "SELECT s.v, b.w, b.text FROM built b RIGHT JOIN streamed s ON s.k = b.k AND s.v % 3 = 0",
    "semi": "SELECT s.v, 0, '' FROM streamed s LEFT SEMI JOIN built b ON s.k = b.k",
    "semi_condition": "SELECT s.v, 0, '' FROM streamed s LEFT SEMI JOIN built b ON s.k = b.k AND s.v > b.w",
    "anti": "SELECT s.v, 0, '' FROM streamed s LEFT ANTI JOIN built b ON s.k = b.k",
    "anti_condition": "SELECT s.v, 0, '' FROM streamed s LEFT ANTI JOIN built b ON s.k = b.k AND s.v > b.w",
    "exists": (
        "SELECT s.v, 0, '' FROM streamed s "
        "WHERE s.v % 11 = 0 OR EXISTS (SELECT 1 FROM built b WHERE b.k = s.k AND b.w <> s.v)"
    ),
    "nothing_built": "SELECT s.v, b.w, b.text FROM streamed s LEFT JOIN built b ON s.k = b.k AND b.w < -1",
    "full": "SELECT s.v, b.w, b.text FROM streamed s FULL JOIN built b ON s.k = b.k",
    "full_condition": "SELECT s.v, b.w, b.text FROM built b FULL JOIN streamed s ON s.k = b.k AND s.v % 5 < b.w % 7",
    "kept_left": "SELECT s.v, b.w, b.text FROM built b LEFT JOIN streamed s ON s.k = b.k AND s.v % 2 = 0",
    "kept_right": "SELECT s.v, b.w, b.text FROM streamed s RIGHT JOIN built b ON s.k = b.k",
    "kept_texts": (
        "SELECT s.w, b.w, coalesce(s.t, 'none') FROM (SELECT *, if(w % 3 = 0, null, text) AS t FROM streamed) s "
        "RIGHT JOIN built b ON s.k = b.k AND s.v % 5 < b.w % 7"
    ),
    "nothing_streamed": "SELECT s.v, b.w, b.text FROM streamed s FULL JOIN built b ON s.k = b.k AND s.v < -1",
}
FEW = ("inner", "left", "semi", "semi_condition", "anti", "full", "kept_left", "kept_texts")


def union(kind: str, names: Iterable[str] = JOINS) -> str:
    """The joins of these names, each between the rows of one kind."""
    sides = ", ".join(
        f"{side} AS (SELECT k, v, w, text FROM {table} WHERE kind = '{kind}')"
        for side, table in (("built", "b0"), ("streamed", "s0"))
    )
    joins = " UNION ALL ".join(f"SELECT '{name}' AS join, * FROM ({JOINS[name]}) AS t(v, w, text)" for name in names)
    return f"WITH {sides} {joins}"


def make_tables(spark: SparkSession) -> None:
    """b0 and s0, twice as large, with the rows of each kind. A text of 100 kB is larger than a page.

    many_b has 50 rows of each key, and many_s asks for each about 99 times.
    """
    for at, table in enumerate(("b0", "s0")):
        create_member(spark, table, "k BIGINT, v BIGINT, w BIGINT, text STRING, kind STRING", ["k"], 2)
        text = "repeat(cast(id AS STRING), if(id % 97 = 3, 33000, 1))"
        rows = [
            f"SELECT {keys[at]}, id, id + 1, {text if kind == 'ascending' else 'cast(id AS STRING)'}, '{kind}' "
            f"FROM range({(at + 1) * BUILT.get(kind, 300)})"
            for kind, keys in KEYS.items()
        ]
        fill(spark, table, " UNION ALL ".join(rows), ["k", "v", "w", "text", "kind"])
    for table, value, rows_of in (
        ("many_b", "w", "id % 80 AS k, id FROM range(4000)"),
        ("many_s", "v", "id % 81 AS k, id FROM range(8000)"),
    ):
        create_member(spark, table, f"k BIGINT, {value} BIGINT", ["k"], 2)
        fill(spark, table, f"SELECT {rows_of}", ["k", value])


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "fused", make_tables)


def test_every_join_gives_the_rows_of_stock_spark(session: SparkSession) -> None:
    assert_fused(session, "ascending", JOINS)


@pytest.mark.parametrize(
    "kind", rest_slow([kind for kind in KEYS if kind != "ascending"], "nulls", "whole_range", "crowded")
)
def test_every_kind_of_key_gives_the_rows_of_stock_spark(session: SparkSession, kind: str) -> None:
    assert_fused(session, kind, FEW)


def assert_fused(session: SparkSession, kind: str, names: Collection[str]) -> None:
    pair = compare(session, union(kind, names))
    assert pair.on.exchanges == 0
    assert pair.on.rows
    assert pair.on.kinds.count(OWN) == len(names)


def test_rows_are_the_same_without_generated_code(session: SparkSession) -> None:
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    assert_fused(session, "nulls", JOINS)


@UNIONS_HAVE_CODE
def test_below_a_union_with_code_of_its_own_joins_stay_sparks(session: SparkSession) -> None:
    """Spark's union has room for one input of each child, and asks for its own joins by name."""
    session.conf.set("spark.sql.codegen.wholeStage.union.enabled", "true")
    pair = compare(session, union("nulls", ("inner", "left")))
    assert pair.on.rows
    assert pair.on.colocated
    assert OWN not in pair.on.kinds


@pytest.mark.each_value
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN"])
@pytest.mark.parametrize("condition", ["true", "b.w <= s.v AND b.w >= s.v"])
def test_rows_of_a_key_are_put_side_by_side_in_the_middle_of_a_join(
    session: SparkSession, join: str, condition: str
) -> None:
    """Of two equal rows, one finds its partner before, one after. Known to make so many pairs, it would be merged."""
    unknown = "(SELECT * FROM many_s WHERE v >= 0) s"
    sql = f"SELECT count(*), sum(hash(s.v, b.w)) FROM {unknown} {join} many_b b ON s.k = b.k AND {condition}"
    found = [node for node in nodes(session.sql(sql)) if kind(node) == OWN]
    assert [node.metrics().apply("gathered").value() for node in found] == [2]
    assert compare(session, sql).on.rows


def test_joins_above_joins_and_broadcasts_in_between(session: SparkSession) -> None:
    """Generated code has two inputs at most: of two joins within buckets only the lower one streams its scan."""
    dimension = "(SELECT /*+ BROADCAST */ * FROM VALUES (0L, 'even'), (1L, 'odd') AS d(parity, name))"
    three = (
        f"SELECT s.v, b.w, c.w, d.name FROM s0 s JOIN {dimension} d ON s.v % 2 = d.parity "
        "JOIN b0 b ON s.k = b.k AND b.kind = 'ascending' JOIN b0 c ON s.k = c.k AND c.kind = 'nulls' "
        "WHERE s.kind = 'ascending'"
    )
    pair = compare(session, three)
    assert pair.on.exchanges == 0
    assert pair.on.rows
    assert pair.on.kinds.count(OWN) == 2
    assert pair.on.kinds.count("BroadcastHashJoinExec") == 1


def test_a_limit_may_leave_the_join_in_the_middle(session: SparkSession) -> None:
    sql = "SELECT s.v, b.w FROM s0 s JOIN b0 b ON s.k = b.k AND s.kind = b.kind LIMIT 20"
    on = session.sql(sql).collect()
    assert len(on) == 20


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, count(v), sum(w) FROM j GROUP BY k",
        "SELECT w IS NULL, v IS NULL, count(*), max(text) FROM j GROUP BY 1, 2",
        "SELECT v, w FROM j WHERE coalesce(v, w) % 3 = 0 AND text IS NOT NULL",
        "SELECT v, w, explode(array(v, w)) FROM j",
        "SELECT j.v, j.w, c.w FROM j JOIN b0 c ON j.k = c.k AND c.kind = 'repeated'",
        "SELECT v, w, row_number() OVER (PARTITION BY k ORDER BY v, w) FROM j",
    ],
)
@pytest.mark.every(3)
def test_what_follows_a_full_outer_join_sees_both_kinds_of_rows(session: SparkSession, sql: str) -> None:
    sides = "(SELECT * FROM b0 WHERE kind = 'nulls') b FULL JOIN (SELECT * FROM s0 WHERE kind = 'repeated') s"
    rows = f"SELECT coalesce(b.k, s.k) AS k, s.v, b.w, b.text FROM {sides} ON b.k = s.k AND b.w % 4 > 0"
    pair = compare(session, f"WITH j AS ({rows}) {sql}")
    assert pair.on.rows
    assert OWN in pair.on.kinds


@pytest.mark.parametrize("rows", [1, 700])
def test_a_limit_may_leave_a_full_outer_join_in_the_middle(session: SparkSession, rows: int) -> None:
    sql = f"SELECT s.v, b.w FROM s0 s FULL JOIN b0 b ON s.k = b.k AND s.kind = b.kind LIMIT {rows}"
    assert len(session.sql(sql).collect()) == rows


def test_where_rows_are_not_known_to_fit_only_a_long_is_in_our_table(session: SparkSession) -> None:
    """Spark's table serves the other keys, but not where its rows without a partner are part of the result."""
    rows = "(SELECT k, kind, w FROM b0 LATERAL VIEW explode(array(1, 2)) e AS n) b"
    for join, keys, own in (("FULL", "k", True), ("FULL", "k, kind", False), ("LEFT", "k, kind", True)):
        on = " AND ".join(f"s.{key} = b.{key}" for key in keys.split(", "))
        pair = compare(session, f"SELECT /*+ SHUFFLE_HASH(b) */ s.v, b.w FROM s0 s {join} JOIN {rows} ON {on}")
        assert (OWN in pair.on.kinds) == own
