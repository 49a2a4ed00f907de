"""The oracle can fail: of each wrong planner that `./run fuzz --planted` knows, one query whose rows betray it."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.fuzz.planted import SEARCHES, dig_out, plant
from tests.spark.members import create_member, database, fill
from tests.spark.oracle import compare, run
from tests.spark.strays import drop_in
from tests.spark.versions import UNIONS_KEEP_PARTITIONING
from tests.tiers.params import marked

INTERPRETED = True

ROWS = "SELECT if(id % 9 = 0, NULL, cast(id % {keys} AS INT)), cast(id % 5 AS INT), id, id % 3 FROM range({rows})"
COLUMNS = ["k", "k2", "v", "p"]
SPLIT_ALL = {"spark.sql.files.openCostInBytes": "1", "spark.colocate.skew.targetTaskBytes": "1"}


@dataclass(frozen=True)
class Betrayed:
    """before: a load that the bug makes wrong; then it is no matter of the plan that reads the rows."""

    sql: str
    settings: dict[str, str] = field(default_factory=dict)
    before: str = ""


JOIN = Betrayed("SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k")
STRAY = Betrayed("SELECT q.k, q.v, b.v FROM q JOIN b ON q.k = b.k")
RANGED = "SELECT _colocate_range, v FROM ranged"
BY = {
    "subset_key": Betrayed("SELECT x.k, count(*) FROM pair x JOIN pair y ON x.k = y.k AND x.k2 = y.k2 GROUP BY x.k"),
    "key_order": Betrayed("SELECT x.v, y.v FROM pair x JOIN turned y ON x.k = y.k AND x.k2 = y.k2"),
    "key_type": Betrayed("SELECT a.v, w.v FROM a JOIN wide w ON a.k = w.k"),
    "wrong_divisor": Betrayed("SELECT a.v, f.v FROM a JOIN five f ON a.k = f.k"),
    "full_outer_keys": Betrayed("SELECT a.k, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY a.k"),
    "null_extended_side": Betrayed("SELECT a.k, count(*) FROM b LEFT JOIN a ON b.k = a.k GROUP BY a.k"),
    "bucket_twice": JOIN,
    "last_bucket_dropped": JOIN,
    "other_snapshot": Betrayed("SELECT r.v, t.v FROM r JOIN three t ON r.k = t.k"),
    "wrong_bucket_pruned": Betrayed("SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k WHERE a.k = 4"),
    "strays_ignored": STRAY,
    "stray_twice": STRAY,
    "stray_unshuffled": STRAY,
    "aggregate_filter_lost": Betrayed("SELECT k, count(*) FILTER (WHERE v % 2 = 0) FROM a GROUP BY k"),
    "union_zipped_wrong": Betrayed(
        "SELECT u.v, b.v FROM (SELECT k, v FROM a UNION ALL SELECT k, v FROM b) u JOIN b ON u.k = b.k"
    ),
    "sort_dropped": Betrayed(JOIN.sql, {"spark.colocate.join.hashBytesPerTask": "1"}),
    "deletion_vectors_ignored": Betrayed("SELECT a.k, count(*) FROM a JOIN deleted d ON a.k = d.k GROUP BY a.k"),
    "partition_filter_lost": Betrayed("SELECT k, count(*) FROM parted WHERE p = 1 GROUP BY k"),
    "full_outer_split": Betrayed("SELECT a.v, b.v FROM a FULL JOIN b ON a.k = b.k AND a.v < b.v", SPLIT_ALL),
    "extended_side_split": Betrayed("SELECT s.v, b.v FROM small s LEFT JOIN b ON s.k = b.k AND s.v < b.v", SPLIT_ALL),
    "expand_key_nulled": Betrayed("SELECT k, p, count(*) FROM a GROUP BY GROUPING SETS ((k, p), (p))"),
    "preserved_side_pruned": Betrayed(
        "SELECT a.v, b.v FROM a LEFT JOIN (SELECT * FROM b WHERE v = 2) b ON a.k = b.k",
        {"spark.sql.autoBroadcastJoinThreshold": "10485760"},
    ),
    "both_sides_split": Betrayed(JOIN.sql, SPLIT_ALL),
    "shared_groups_lost": Betrayed(
        "WITH t AS (SELECT k, sum(v) s FROM a GROUP BY k) SELECT x.s, y.s FROM (SELECT * FROM t WHERE s < 60) x "
        "FULL JOIN (SELECT * FROM t WHERE s > 60) y ON x.k = y.k"
    ),
    "kept_rows_lost": Betrayed(
        "SELECT a.v + b.v AS s, count(*) FROM a JOIN b ON a.k = b.k GROUP BY s",
        {"spark.colocate.shuffle.bufferBytes": "300"},
    ),
    "bound_taken_by_lower_range": Betrayed(RANGED, before="INSERT OVERWRITE ranged SELECT id, id FROM range(5, 15)"),
    "null_taken_by_higher_range": Betrayed(
        RANGED, before="INSERT OVERWRITE ranged SELECT if(id = 5, NULL, id), id FROM range(5, 15)"
    ),
    "hole_filled": Betrayed(RANGED, before="INSERT OVERWRITE ranged SELECT id, id FROM range(15, 25)"),
    "most_buckets_promised": Betrayed("SELECT k, count(*) FROM mixed GROUP BY k"),
    "declared_number_pruned": Betrayed("SELECT k, v FROM mixed WHERE k IN (1, 2, 3, 4, 5, 6, 7, 8, 9)"),
    "first_load_replaces": Betrayed("SELECT k, v FROM keyed"),
    "keys_not_aggregated": Betrayed("SELECT x.k, x.v, y.v FROM keyed x JOIN keyed y ON x.k = y.k"),
    "value_filter_below_keys": Betrayed("SELECT k, v FROM keyed WHERE v < 10"),
    "files_not_merged": Betrayed("SELECT k, v FROM keyed", {"spark.sql.codegen.wholeStage": "true"}),
    "first_load_merged": Betrayed("SELECT k, v FROM keyed", {"spark.sql.codegen.wholeStage": "true"}),
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "planted_bugs", _make)


def _make(spark: SparkSession) -> None:
    for name, keys, buckets, group in (
        ("a", ["k"], 4, "g"),
        ("b", ["k"], 4, "g"),
        ("three", ["k"], 3, "g3"),
        ("five", ["k"], 5, "g5"),
        ("pair", ["k", "k2"], 4, "gp"),
        ("turned", ["k2", "k"], 4, "gp"),
        ("deleted", ["k"], 4, "g"),
    ):
        create_member(spark, name, "k INT, k2 INT, v BIGINT, p BIGINT", keys, buckets, "delta", group)
    create_member(spark, "wide", "k BIGINT, k2 INT, v BIGINT, p BIGINT", ["k"], 4, "delta", "gw")
    create_member(spark, "small", "k INT, v BIGINT", ["k"], 4)
    fill(spark, "small", "SELECT cast(id AS INT), id FROM range(17)", ["k", "v"])
    ends = [("low", ["MINVALUE"], ["10"]), ("high", ["10"], ["20"]), ("top", ["30"], ["MAXVALUE"])]
    ranges = json.dumps([{"name": name, "lower": lower, "upper": upper} for name, lower, upper in ends])
    properties = {"range_partition_by": "k", "range_partitions": ranges}
    create_member(spark, "ranged", "k BIGINT, v BIGINT", ["k"], 4, "delta", "gr", properties=properties)
    own = json.dumps([{"name": "low", "upper": ["20"]}, {"name": "high", "upper": ["MAXVALUE"], "buckets": 8}])
    spark.sql(
        "CREATE TABLE mixed (k BIGINT, v BIGINT) USING delta CLUSTERED BY (k) INTO 4 BUCKETS "
        f"TBLPROPERTIES ('range_partition_by' = 'v', 'range_partitions' = '{own}')"
    )
    fill(spark, "mixed", "SELECT id % 10, id FROM range(40)", ["k", "v"])
    unique = {"key_model": "unique", "key_columns": "k"}
    create_member(spark, "keyed", "k BIGINT, v BIGINT", ["k"], 4, "delta", "gr", properties=unique)
    for first in (0, 20):
        fill(spark, "keyed", f"SELECT id, id + {first} FROM range(10)", ["k", "v"])
    create_member(spark, "parted", "k INT, k2 INT, v BIGINT, p BIGINT", ["k"], 4, partitioned=["p"])
    create_member(spark, "q", "k INT, k2 INT, v BIGINT, p BIGINT", ["k"], 4, "parquet")
    for name in ("a", "b", "three", "five", "pair", "turned", "wide", "parted", "q", "deleted"):
        rows = ROWS.format(keys=23 if name == "b" else 17, rows=40)
        # Two files in each bucket of a and b, to be read in parts, with keys that come unsorted.
        for order in ("v", "-v")[: 2 if name in "ab" else 1]:
            fill(spark, name, f"SELECT * FROM ({rows}) t(k, k2, v, p) ORDER BY {order}", COLUMNS)
    spark.sql("ALTER TABLE deleted SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql("DELETE FROM deleted WHERE v % 4 = 1")
    strays = {"k": pa.array(range(17), pa.int32()), "k2": pa.array([0] * 17, pa.int32())}
    drop_in(spark, "q", "dropped_00000.{ext}", strays | {c: pa.array(range(90, 107), pa.int64()) for c in ("v", "p")})


@pytest.mark.parametrize("bug", marked(BY, {"union_zipped_wrong": UNIONS_KEEP_PARTITIONING}))
@pytest.mark.every(5)
def test_the_oracle_sees_it(session: SparkSession, bug: str) -> None:
    betrayed = BY[bug]
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for key, value in betrayed.settings.items():
        session.conf.set(key, value)
    if bug == "other_snapshot":
        plant(session, bug)
        _relayout(session, 3)
        run(session, betrayed.sql)
        _relayout(session, 4)
        dig_out(session)
    _load(session, betrayed)
    right = compare(session, betrayed.sql).on
    plant(session, bug)
    _load(session, betrayed)
    wrong = run(session, betrayed.sql)
    assert (wrong.colocated or betrayed.before) and wrong.error is None
    assert wrong.rows != right.rows


def _load(session: SparkSession, betrayed: Betrayed) -> None:
    """A load that is refused leaves the rows as they are."""
    if betrayed.before:
        with suppress(Exception):
            session.sql(betrayed.before)


def test_each_bug_has_its_query(spark: SparkSession) -> None:
    assert list(spark._jvm.org.apache.spark.sql.colocate.testing.PlantedBugs.names()) == list(BY)
    assert SEARCHES.keys() <= BY.keys()


def _relayout(session: SparkSession, buckets: int) -> None:
    session.sql(
        "CREATE OR REPLACE TABLE r (k INT, k2 INT, v BIGINT, p BIGINT) USING delta "
        f"CLUSTERED BY (k) INTO {buckets} BUCKETS"
    )
    fill(session, "r", ROWS.format(keys=17, rows=40), COLUMNS)
