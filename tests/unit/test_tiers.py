"""The tiers: each test has cases in the second, which keep values and pairs, and shards have each case once."""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tiers.covering import covering
from tests.tiers.report import ids_hash
from tests.tiers.selection import choose, first_of_each, in_second_tier, of_version
from tests.tiers.shards import MOST_SECONDS, Shard, longest_first
from tests.tiers.versions import OF_VERSIONS, WHOLE, in_tier_of_versions

AXES = {"a": range(4), "b": range(3), "c": range(2), "d": range(5)}
PRODUCT = [dict(zip(AXES, values, strict=True)) for values in itertools.product(*AXES.values())]


class Item(SimpleNamespace):
    """What a collected test has."""

    __hash__ = object.__hash__

    def get_closest_marker(self, name: str) -> Any:
        return next(self.iter_markers(name), None)

    def iter_markers(self, name: str) -> Iterator[pytest.Mark]:
        return (mark for mark in self.marks if mark.name == name)


def item(nodeid: str, *marks: pytest.MarkDecorator, **params: object) -> Any:
    return Item(nodeid=nodeid, marks=[mark.mark for mark in marks], callspec=SimpleNamespace(params=params))


def product(*marks: pytest.MarkDecorator) -> list[Any]:
    return [item(f"f.py::test[{case}]", *marks, **case) for case in PRODUCT]


def test_a_few_cases_have_all_pairs() -> None:
    chosen = [PRODUCT[number] for number in covering(PRODUCT, paired=set(AXES))]
    for one, other in itertools.combinations(AXES, 2):
        found = {(case[one], case[other]) for case in chosen}
        assert found == set(itertools.product(AXES[one], AXES[other]))
    assert len(chosen) <= 25 < len(PRODUCT)


def test_what_is_not_paired_has_each_value() -> None:
    chosen = [PRODUCT[number] for number in covering(PRODUCT, paired={"b", "c"})]
    assert {(case["b"], case["c"]) for case in chosen} == set(itertools.product(AXES["b"], AXES["c"]))
    assert all({case[axis] for case in chosen} == set(AXES[axis]) for axis in AXES)
    assert len(chosen) <= 7


def test_the_cases_that_are_chosen_are_the_same_each_time() -> None:
    assert covering(PRODUCT, paired=set(AXES)) == covering(PRODUCT, paired=set(AXES))


@pytest.mark.parametrize("mark", [pytest.mark.pairs, pytest.mark.pairs("a", "d"), pytest.mark.each_value])
def test_the_second_tier_runs_what_the_table_has(mark: pytest.MarkDecorator) -> None:
    items = product(mark)
    kept = in_second_tier(items, choose(items))
    assert len(kept) == {(): 5, ("a", "d"): 20}.get(mark.args, 0) or mark.name == "pairs"
    assert set(kept) < set(items)


def test_the_second_tier_runs_each_nth_case_of_what_is_marked_so() -> None:
    items = [item(f"f.py::test[{number}]", pytest.mark.every(3)) for number in range(8)]
    assert in_second_tier(items, choose(items)) == items[::3]
    valued = [item(f"f.py::test[{a}]", pytest.mark.every(3), pytest.mark.each_value, a=a // 2) for a in range(12)]
    assert in_second_tier(valued, choose(valued)) == valued[::3]


def test_the_second_tier_runs_all_cases_of_what_the_table_does_not_know() -> None:
    items = product(pytest.mark.pairs)
    assert in_second_tier(items, {}) == items
    assert in_second_tier(items, {"f.py::test": ["a case that there was"]}) == items


def test_the_order_stays_in_which_tests_that_share_a_fixture_follow_each_other() -> None:
    items = [item(f"f.py::{test}[{kind}]") for kind in ("delta", "parquet") for test in ("one", "two")]
    assert in_second_tier(items, {}) == items


def test_slow_ones_are_left_out_but_for_tests_that_say_so() -> None:
    slow, wanted = item("f.py::slow", pytest.mark.slow), item("f.py::kept", pytest.mark.slow, pytest.mark.not_slow)
    assert in_second_tier([slow, wanted], {}) == [wanted]


@pytest.mark.parametrize(
    ("spark", "kept"),
    [("4.0.5", ["old", "any"]), ("4.1.4", ["old", "newer", "any"]), ("4.2.0", ["newer", "new", "any"])],
)
def test_a_test_runs_on_the_versions_that_it_holds_for(spark: str, kept: list[str]) -> None:
    items = [
        item("old", pytest.mark.before("4.2", "why")),
        item("newer", pytest.mark.since("4.1", "why")),
        item("new", pytest.mark.since("4.1", "a test"), pytest.mark.since("4.2", "a value of its parameter")),
        item("any"),
    ]
    assert [one.nodeid for one in of_version(items, spark)] == kept
    assert of_version([item("later", pytest.mark.since("4.10", "why"))], "4.2.0") == []


def test_the_tier_of_a_version_has_one_case_of_each_test() -> None:
    folder = next(prefix for prefix in OF_VERSIONS if prefix.endswith("/"))
    file = next(prefix for prefix in OF_VERSIONS if prefix.endswith(".py"))
    files = (f"{folder}f.py", file, "tests/cluster/f.py")
    items = [item(f"{where}::{test}[{n}]") for where in files for test in "ab" for n in (1, 2)]
    assert in_tier_of_versions(items) == first_of_each(items)[:4]
    whole = [item(f"{WHOLE[0]}[{number}]") for number in range(3)]
    assert in_tier_of_versions([*whole, *items]) == [*whole, *first_of_each(items)[:4]]


def test_each_test_has_a_case_in_the_second_tier_those_of_a_version_are_there_and_the_table_is_up_to_date() -> None:
    command = [sys.executable, "-m", "tests.tiers", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:] + done.stdout[-1000:]


def test_each_case_is_in_one_shard_and_shards_take_as_long_as_each_other() -> None:
    seconds = {"long.py": 3 * MOST_SECONDS, "short.py": 100.0}
    items = [item(f"{file}::test[{number}]") for file in (*seconds, "new.py") for number in range(300)]
    parts = [Shard(number, 3).part(items, seconds) for number in (1, 2, 3)]
    assert sorted(one.nodeid for part in parts for one in part) == sorted(one.nodeid for one in items)
    took = [sum(seconds.get(one.nodeid.partition("::")[0], 20) / 300 for one in part) for part in parts]
    assert max(took) < 1.2 * min(took)


@pytest.mark.parametrize("text", ["0/8", "9/8", "1", "1/", "a/b", "1/8/2"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="such as 1/8"):
        Shard.parse(text)


def test_a_shard_is_a_number_of_a_whole() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)
    assert str(Shard(2, 8)) == "2/8"


def test_the_longest_file_comes_first_and_a_new_one_is_not_left_for_the_end() -> None:
    assert longest_first(["a", "b", "new", "c"], {"a": 3, "b": 90, "c": 9}) == ["b", "new", "c", "a"]


def test_the_hash_is_of_the_ids_in_any_order() -> None:
    assert ids_hash(["a", "b"]) == ids_hash(["b", "a"]) != ids_hash(["a"])
