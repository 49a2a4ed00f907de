"""Round robin over the sorted hosts."""

from hypothesis import given
from hypothesis import strategies as st
from spark_colocate.model import Host
from spark_colocate.service.placement import round_robin

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
