"""Which groups are proposed, and with which statements."""

from collections.abc import Sequence

import pytest
from spark_colocate.workload.plans import Node
from spark_colocate.workload.proposals import Proposal, Workload, buckets, proposals
from spark_colocate.workload.queries import Query
from spark_colocate.workload.report import advise

from tests.unit.workload.trees import exchange, join, over, scan


def proposed(*plans: Node) -> list[Proposal]:
    return proposals(Workload([Query("q", 0.0, plan) for plan in plans]))


def joined(a: Node, b: Node, keys: Sequence[str], others: Sequence[str], size: int = 100) -> Node:
    left, right = exchange(a, *keys, size=size), exchange(b, *others, size=size)
    return join(left, right, ", ".join(keys), ", ".join(others))


def test_two_tables_that_are_joined() -> None:
    plan = joined(scan("a", "k#1", size=5000), scan("b", "j#2"), ["k#1"], ["j#2"])
    (one,) = proposed(plan, plan)
    assert [(member.table, member.keys) for member in one.members] == [("db.a", ("k",)), ("db.b", ("j",))]
    assert (one.group, one.saved_bytes, one.queries, one.rewritten) == ("by_k", 400, 2, 6000)
    assert one.saved_seconds == 2 * 2 * (2.0 + 0.5 + 1.0)
    assert one.statements[1] == (
        "CALL system.colocate(table => 'db.b', group => 'by_k', keys => array('j'), buckets => 8)"
    )


def test_a_table_of_another_format_is_written_anew() -> None:
    plan = over("Window", exchange(scan("a", "k#1", kind="parquet"), "k#1"))
    assert proposed(plan)[0].statements == (
        "CREATE TABLE db.a_in_group USING parquet CLUSTERED BY (k) INTO 8 BUCKETS "
        "TBLPROPERTIES ('colocate_with' = 'by_k') AS SELECT * FROM db.a",
    )


def test_a_third_table_comes_into_the_same_group() -> None:
    found = proposed(
        joined(scan("a", "k#1"), scan("b", "k#2"), ["k#1"], ["k#2"]),
        joined(scan("c", "x#3"), scan("b", "k#4"), ["x#3"], ["k#4"]),
    )
    assert [{member.table for member in one.members} for one in found] == [{"db.a", "db.b", "db.c"}]


def test_a_table_lies_by_the_keys_that_save_most() -> None:
    found = proposed(
        joined(scan("a", "k#1"), scan("b", "k#2"), ["k#1"], ["k#2"], size=100),
        joined(scan("a", "j#3"), scan("c", "j#4"), ["j#3"], ["j#4"], size=900),
    )
    assert [member.keys for one in found for member in one.members if member.table == "db.a"] == [("j",)]


def test_groups_of_one_key_name_have_two_names() -> None:
    found = proposed(
        joined(scan("a", "k#1"), scan("b", "k#2"), ["k#1"], ["k#2"], size=100),
        joined(scan("c", "k#3"), scan("d", "k#4"), ["k#3"], ["k#4"], size=90),
    )
    assert [one.group for one in found] == ["by_k", "by_k_2"]


@pytest.mark.parametrize("kind", ["double", "char(3)", "array<int>", "struct<a:int>", "timestamp_ltz(3)"])
def test_a_type_that_can_be_no_key_is_not_proposed(kind: str) -> None:
    scans = [scan(table, f"k#{number}", types=f"k:{kind}") for number, table in enumerate("ab")]
    assert proposed(joined(*scans, ["k#0"], ["k#1"])) == []


def test_tables_whose_keys_differ_in_type_get_no_group_together() -> None:
    plan = joined(scan("a", "k#1"), scan("b", "k#2", types="k:bigint"), ["k#1"], ["k#2"], size=100)
    assert all(len(one.members) == 1 for one in proposed(plan))


def test_a_table_with_buckets_is_left_as_it_is() -> None:
    plan = over("Window", exchange(scan("a", "k#1", "_colocate_bucket#2"), "v#3", "k#1"))
    assert proposed(plan) == []


def test_less_than_one_percent_is_not_worth_a_group() -> None:
    large = over("Window", exchange(scan("a", "k#1"), "(k#1 + 1)", size=100_000))
    assert proposed(large, over("Window", exchange(scan("b", "k#1"), "k#1", size=900))) == []
    assert len(proposed(large, over("Window", exchange(scan("b", "k#1"), "k#1", size=1100)))) == 1


def test_queries_without_a_shuffle_need_no_group() -> None:
    assert proposed(scan("a", "k#1")) == []
    assert proposed() == []


def test_the_number_of_buckets_is_that_of_dorisss_table_of_sizes_and_a_power_of_two() -> None:
    gb = 1000**3
    assert [buckets(size) for size in (0, gb, 20 * gb, 500 * gb, 10**17)] == [8, 16, 32, 128, 4096]


def test_a_negative_number_of_days_is_refused() -> None:
    with pytest.raises(Exception, match="Cannot look back -1 days"):
        advise("/nowhere", -1)
