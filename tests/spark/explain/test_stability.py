"""A group is stable if its layout and its placement are: all faces say the same, and joins do what the setting says."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from spark_colocate import verdicts
from spark_colocate.faces.rest.app import make_app
from spark_colocate.model import AccessRole, Group, Host
from spark_colocate.service import Request, Service
from starlette.testclient import TestClient

from tests.spark.control import call
from tests.spark.members import create_member, database, unstable
from tests.spark.plans import exchanges
from tests.spark.store import forget_host, lost_host, service

INTERPRETED = True

GROUP = "steady.g"
JOIN = "SELECT a.v, b.v FROM a JOIN b ON a.k = b.k"
LOST_BUCKETS = [1, 3]
STATES = [(layout, placement) for layout in (True, False) for placement in (True, False)]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    def make(spark: SparkSession) -> None:
        for table, provider in (("a", "delta"), ("b", "parquet")):
            create_member(spark, table, "k INT, v INT", ["k"], 4, provider)
            spark.sql(f"INSERT INTO {table} SELECT id, id FROM range(20)")

    yield from database(spark, "steady", make)


@pytest.fixture(params=STATES, ids=lambda state: f"layout-{state[0]}-placement-{state[1]}")
def state(session: SparkSession, request: pytest.FixtureRequest) -> Iterator[tuple[bool, bool]]:
    layout, placement = request.param
    with ExitStack() as stack:
        if not placement:
            stack.enter_context(lost_host(session, GROUP, LOST_BUCKETS))
        if not layout:
            stack.enter_context(unstable(session, GROUP))
        yield layout, placement


def test_all_faces_agree(session: SparkSession, state: tuple[bool, bool]) -> None:
    layout, placement = state
    [group] = session.sql(f"SELECT * FROM system.colocation_groups WHERE group_name = '{GROUP}'").collect()
    assert (group.layout_stable, group.placement_stable, group.is_stable) == (layout, placement, layout and placement)
    assert whole_group(session, group.group_id) == {layout and placement}
    expected = [layout and (placement or bucket not in LOST_BUCKETS) for bucket in range(4)]
    assert by_bucket(session, group.group_id) == [expected] * 3


def whole_group(spark: SparkSession, group_id: str) -> set[bool]:
    """IsStable of the group by each face but EXPLAIN."""
    [proc] = [row for row in spark.sql("SHOW PROC '/colocation_group'").collect() if row.GroupId == group_id]
    tables = spark.sql(f"SELECT is_stable FROM system.colocation_tables WHERE `group` = '{GROUP}'").collect()
    there = service(spark)
    rest = rest_of(there)
    documents = rest.get("/api/colocate").json()
    db_id, number = map(int, group_id.split("."))
    ident = {"dbId": db_id, "grpId": number}
    [info] = [info for info in documents["data"]["infos"] if info[0] == group_id]
    return {
        proc.IsStable,
        *(row.is_stable for row in tables),
        {"true": True, "false": False}[info[-1]],
        ident not in documents["data"]["unstableGroupIds"],
        ident not in documents["colocate_meta"]["unstableGroups"],
        rest.get(f"/api/v1/groups/{group_id}").json()["is_stable"],
        *(one["is_stable"] for one in rest.get(f"/api/v1/tables?group={GROUP}").json()["items"]),
        there.group(GROUP).group.is_stable,
    }


def rest_of(there: Service) -> TestClient:
    """The REST interface, for a reader whose token is valid for the test."""
    name = uuid.uuid4().hex
    secret = there.create_token(name, AccessRole.READER, Request(), 1).secret
    return TestClient(make_app(there), "http://127.0.0.1", headers={"Authorization": f"Bearer {secret}"})


def by_bucket(spark: SparkSession, group_id: str) -> list[list[bool]]:
    """Of table a, of table b, and of the group over REST."""
    of_tables = [
        [
            row.is_stable
            for row in spark.sql(
                "SELECT is_stable FROM system.colocation_buckets "
                f"WHERE `group` = '{GROUP}' AND `table` = '{table}' ORDER BY bucket"
            ).collect()
        ]
        for table in "ab"
    ]
    items = rest_of(service(spark)).get(f"/api/v1/groups/{group_id}/buckets").json()
    return [*of_tables, [one["is_stable"] for one in items["items"]]]


@pytest.mark.parametrize("fallback", ["layout", "strict"])
@pytest.mark.every(3)
def test_joins_do_what_the_setting_says(session: SparkSession, state: tuple[bool, bool], fallback: str) -> None:
    layout, placement = state
    session.conf.set("spark.colocate.unstable.fallback", fallback)
    frame = session.sql(JOIN)
    [verdict] = verdicts(frame)
    stays = layout and (placement or fallback == "layout")
    assert verdict.colocated is stays
    assert exchanges(frame) == (0 if stays else 2)
    assert sorted(map(tuple, frame.collect())) == [(v, v) for v in range(20)]
    if stays:
        note = "" if placement else ", placement: 2 of 4 buckets on lost hosts"
        assert verdict.text == f"colocate: true (group {GROUP}, 4 buckets{note})"
    else:
        assert verdict.code == "GROUP_NOT_STABLE"
        assert verdict.text.startswith("colocate: false, reason: group is not stable [GROUP_NOT_STABLE]; cure: ")
    assert verdict.text in session.sql(f"EXPLAIN {JOIN}").first()[0]


@pytest.mark.parametrize("fallback", ["layout", "strict"])
@pytest.mark.every(3)
def test_aggregates_do_so_too(session: SparkSession, state: tuple[bool, bool], fallback: str) -> None:
    layout, placement = state
    session.conf.set("spark.colocate.unstable.fallback", fallback)
    frame = session.sql("SELECT k, count(*) FROM a GROUP BY k")
    stays = layout and (placement or fallback == "layout")
    assert [one.colocated for one in verdicts(frame)] == [stays] * len(verdicts(frame))
    assert exchanges(frame) == (0 if stays else 1)


def noted(spark: SparkSession, group: Group) -> str:
    """What EXPLAIN says of the join while the store has this group."""
    there = service(spark)
    with there.store.write(there.catalog) as tx:
        tx.put_group(group)
    call(spark, "table_rows")
    [verdict] = verdicts(spark.sql(JOIN))
    return verdict.text


def test_explain_says_why_a_placement_is_not_stable(session: SparkSession, tables: str) -> None:
    there = service(session)
    before = there.group(GROUP).group
    moving = replace(before, placement_stable=False)
    try:
        assert noted(session, moving) == f"colocate: true (group {GROUP}, 4 buckets, placement: buckets are moving)"
        with there.store.write(there.catalog) as tx:
            other = Host(tx.next_id(), "one-more-host")
            tx.put_host(other)
        two = [(*entry, other.backend_id) for entry in before.sequence[:3]]
        few = replace(moving, sequence=(*two, before.sequence[3]), schema=replace(before.schema, replication=2))
        assert noted(session, few) == (
            f"colocate: true (group {GROUP}, 4 buckets, placement: 1 of 4 buckets have too few hosts)"
        )
    finally:
        forget_host(session, "one-more-host")
        assert noted(session, before) == f"colocate: true (group {GROUP}, 4 buckets)"
