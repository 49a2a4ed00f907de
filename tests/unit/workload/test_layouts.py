"""Which Exchanges go, rule by rule of the proof table, with what keeps them beside it."""

from spark_colocate.workload.layouts import Layout, removed
from spark_colocate.workload.plans import Node

from tests.unit.workload.trees import broadcast, exchange, join, over, project, scan, shuffled

A, B, C = "spark_catalog.db.a", "spark_catalog.db.b", "spark_catalog.db.c"
BOTH: Layout = {A: (1, ("k",)), B: (1, ("k",))}


def sides(kind: str = "Inner", sizes: tuple[int, int] = (100, 100)) -> Node:
    left = exchange(scan("a", "k#1", "v#2"), "k#1", size=sizes[0])
    return join(left, exchange(scan("b", "k#3"), "k#3", size=sizes[1]), "k#1", "k#3", kind)


def test_both_sides_of_a_join_by_the_keys() -> None:
    plan = sides()
    assert removed(plan, BOTH) == shuffled(plan)


def test_a_side_alone_has_the_other_shuffled_to_it() -> None:
    plan = sides()
    assert removed(plan, {A: (1, ("k",))}) == shuffled(plan)[:1]


def test_tables_of_two_groups_have_one_side_shuffled() -> None:
    plan = sides(sizes=(10, 20))
    assert removed(plan, {A: (1, ("k",)), B: (2, ("k",))}) == shuffled(plan)[1:]


def test_a_layout_by_other_columns_saves_nothing() -> None:
    assert removed(sides(), {A: (1, ("v",)), B: (1, ("x",))}) == []


def test_more_keys_than_those_of_the_buckets() -> None:
    left, right = exchange(scan("a", "k#1", "j#2"), "k#1", "j#2"), exchange(scan("b", "k#3", "j#4"), "k#3", "j#4")
    plan = join(left, right, "k#1, j#2", "k#3, j#4")
    assert removed(plan, BOTH) == shuffled(plan)


def test_keys_that_meet_crosswise_do_not_lie_alike() -> None:
    left, right = exchange(scan("a", "k#1", "j#2"), "k#1", "j#2"), exchange(scan("b", "k#3", "j#4"), "j#4", "k#3")
    assert len(removed(join(left, right, "k#1, j#2", "j#4, k#3"), BOTH)) == 1


def test_part_of_the_buckets_keys_is_not_enough() -> None:
    assert removed(sides(), {A: (1, ("k", "v")), B: (1, ("k", "v"))}) == []


def test_a_third_table_is_joined_where_the_first_two_met() -> None:
    third = exchange(scan("c", "k#5"), "k#5")
    plan = join(sides(), third, "k#1", "k#5")
    assert removed(plan, BOTH | {C: (1, ("k",))}) == shuffled(plan)
    assert removed(plan, {A: (1, ("k",)), C: (1, ("k",))}) == [shuffled(plan)[0], third]


def test_a_side_that_an_exchange_further_below_brought_together_stays_so() -> None:
    plan = join(sides(), exchange(scan("c", "k#5"), "k#5"), "k#1", "k#5")
    assert removed(plan, {C: (1, ("k",))}) == []


def test_what_is_grouped_by_the_keys() -> None:
    partial = over("HashAggregate", scan("a", "k#1", "v#2"))
    plan = over("HashAggregate", exchange(partial, "v#2", "k#1"))
    assert removed(plan, BOTH) == shuffled(plan)


def test_names_that_a_query_gives() -> None:
    plan = over("Window", exchange(project(scan("a", "k#1"), "k#1 AS x#9", "upper(v#2) AS y#10"), "x#9"))
    assert removed(plan, BOTH) == shuffled(plan)


def test_what_is_computed_of_a_key_is_another_value() -> None:
    plan = over("Window", exchange(project(scan("a", "k#1"), "(k#1 + 1) AS x#9"), "x#9"))
    assert removed(plan, BOTH) == []
    assert removed(over("Window", exchange(scan("a", "k#1"), "cast(k#1 as bigint)")), BOTH) == []


def test_keys_of_a_side_that_is_extended_with_nulls_prove_nothing() -> None:
    for kind, key in (("LeftOuter", "k#3"), ("RightOuter", "k#1"), ("FullOuter", "k#1")):
        plan = over("HashAggregate", exchange(sides(kind), key))
        assert removed(plan, BOTH) == shuffled(plan)[1:], kind
    plan = over("HashAggregate", exchange(sides("LeftOuter"), "k#1"))
    assert len(removed(plan, BOTH)) == 3


def test_the_side_that_is_not_broadcast_keeps_its_place() -> None:
    small = over("BroadcastExchange", scan("c", "v#7"))
    left = broadcast(scan("a", "k#1", "v#2"), small, "v#2", "v#7")
    assert len(removed(over("Window", exchange(left, "k#1")), BOTH)) == 1
    right = broadcast(small, scan("a", "k#1", "v#2"), "v#7", "v#2", "BuildLeft")
    assert len(removed(over("Window", exchange(right, "k#1")), BOTH)) == 1
    other = broadcast(scan("a", "k#1", "v#2"), small, "v#2", "v#7", "BuildLeft")
    assert removed(over("Window", exchange(other, "k#1")), BOTH) == []


def test_unions_and_unknown_operators_end_it() -> None:
    for name in ("Union", "Expand", "MapInPandas"):
        assert removed(over("Window", exchange(over(name, scan("a", "k#1")), "k#1")), BOTH) == []


def test_a_shuffle_that_the_user_asks_for_stays() -> None:
    assert removed(exchange(scan("a", "k#1"), "k#1", origin="REPARTITION_BY_COL"), BOTH) == []


def test_a_column_that_is_not_read_is_no_key() -> None:
    assert removed(over("Window", exchange(scan("a", "v#2"), "v#2")), BOTH) == []
