"""The bucket sequence: made by round robin, repaired and balanced when hosts come and go."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from spark_colocate.model import BucketSequence, Host
from spark_colocate.service.placement.assignment import Move, balanced, moved, repaired, round_robin

hosts = st.lists(st.text(min_size=1, max_size=5), unique=True, max_size=6).map(
    lambda names: [Host(10 + i, name) for i, name in enumerate(names)]
)


@given(hosts, st.integers(1, 40), st.integers(1, 4), st.randoms())
def test_the_order_in_which_hosts_are_known_does_not_matter(known, buckets, replication, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(known, len(known))
    assert round_robin(known, buckets, replication) == round_robin(shuffled, buckets, replication)


@given(hosts, st.integers(1, 40), st.integers(1, 4))
def test_every_bucket_lies_on_as_many_hosts_as_it_can(known: list[Host], buckets: int, replication: int) -> None:
    sequence = round_robin(known, buckets, replication)
    assert len(sequence) == buckets
    assert all(len(set(bucket)) == len(bucket) == min(replication, len(known)) for bucket in sequence)


@given(hosts.filter(bool), st.integers(1, 40))
def test_no_host_holds_more_than_one_bucket_above_another(known: list[Host], buckets: int) -> None:
    first = [bucket[0] for bucket in round_robin(known, buckets, 1)]
    counts = [first.count(host.backend_id) for host in known]
    assert max(counts) - min(counts) <= 1


HOST_COUNTS = st.integers(1, 12)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Host], list[int], int]:
    """Hosts of different capacities, sizes of buckets, and a replication."""
    count = draw(HOST_COUNTS)
    hosts = [Host(i, f"h{i:03}", draw(st.sampled_from([0.5, 1.0, 1.0, 2.0, 8.0]))) for i in range(count)]
    sizes = draw(st.lists(st.sampled_from([0, 1, 7, 100, 100, 101, 10_000]), min_size=1, max_size=64))
    return hosts, sizes, draw(st.integers(1, 3))


@settings(max_examples=1000, deadline=None)
@given(clusters(), st.randoms(use_true_random=False))
def test_balance_ends_keeps_the_copies_and_then_moves_nothing(cluster, random) -> None:  # type: ignore[no-untyped-def]
    hosts, sizes, replication = cluster
    copies = min(replication, len(hosts))
    before = tuple(tuple(random.sample(range(len(hosts)), copies)) for _ in sizes)
    after = moved(before, balanced(before, hosts, sizes), copies)
    assert balanced(after, hosts, sizes) == []
    assert all(len(set(entry)) == copies for entry in after)
    assert unevenness(after, hosts, sizes) <= unevenness(before, hosts, sizes)


@settings(max_examples=200, deadline=None)
@given(clusters(), st.randoms(use_true_random=False))
def test_repair_gives_every_bucket_living_hosts_and_keeps_those_it_has(cluster, random) -> None:  # type: ignore[no-untyped-def]
    hosts, sizes, replication = cluster
    living = hosts[: random.randint(1, len(hosts))]
    ids = {host.backend_id for host in living}
    before = round_robin(hosts, len(sizes), replication)
    after = moved(before, repaired(before, living, replication, sizes), replication)
    for old, new in zip(before, after, strict=True):
        assert len(set(new)) == len(new)
        assert len(set(new) & ids) == min(replication, len(living))
        assert set(old) & ids <= set(new)
    assert repaired(after, living, replication, sizes) == []


def test_repair_without_hosts_moves_nothing() -> None:
    assert repaired(((1,), (2,)), [], 1) == []


def test_repair_adds_the_copies_that_a_bucket_lacks() -> None:
    moves = repaired(((0,), (1,)), [Host(0, "a"), Host(1, "b")], 2)
    assert moves == [Move(0, None, 1), Move(1, None, 0)]


def test_a_host_with_twice_the_capacity_gets_twice_the_bytes() -> None:
    hosts = [Host(0, "small"), Host(1, "large", 2.0)]
    before = tuple((bucket % 2,) for bucket in range(300))
    after = moved(before, balanced(before, hosts), 1)
    assert 190 <= sum(entry == (1,) for entry in after) <= 210


BUCKETS, MANY = 100_000, 100


def test_a_host_less_moves_only_its_own_buckets() -> None:
    hosts = [Host(i, f"h{i:03}") for i in range(MANY)]
    before = round_robin(hosts, BUCKETS, 1)
    moves = repaired(before, hosts[1:], 1)
    after = moved(before, moves, 1)
    assert balanced(after, hosts[1:]) == []
    assert len(moves) <= 1.2 / MANY * BUCKETS
    assert largest(after) <= 1.1 * BUCKETS / (MANY - 1)


def test_a_host_more_gets_its_share() -> None:
    hosts = [Host(i, f"h{i:03}") for i in range(MANY + 1)]
    before = round_robin(hosts[:MANY], BUCKETS, 1)
    moves = balanced(before, hosts)
    after = moved(before, moves, 1)
    assert len(moves) <= 1.2 / MANY * BUCKETS
    assert largest(after) <= 1.1 * BUCKETS / (MANY + 1)
    assert sum(entry == (MANY,) for entry in after) >= 0.9 * BUCKETS / (MANY + 1)


def largest(sequence: BucketSequence) -> int:
    return max(Counter(host for entry in sequence for host in entry).values())


def unevenness(sequence: BucketSequence, hosts: list[Host], sizes: list[int]) -> float:
    """The sum of capacity times the square of the load."""
    held = Counter[int]()
    for size, entry in zip(sizes, sequence, strict=True):
        held.update(dict.fromkeys(entry, max(1, size)))
    return sum(held[host.backend_id] ** 2 / host.capacity for host in hosts)
