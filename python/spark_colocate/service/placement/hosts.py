"""The living hosts, and the changes of the groups' bucket sequences when one comes or goes.

Every driver reports regularly which hosts it sees, and increments their `beats`. A host is lost when a driver has seen
no change of its beats for the grace period, by its own clock. So drivers whose clocks differ agree, and
executors that are only away for a while change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from spark_colocate.catalogues.settings import default_seconds
from spark_colocate.model import BucketSequence, Group, Host
from spark_colocate.service.base.beats import Beats
from spark_colocate.service.base.requests import OperationContext, Request
from spark_colocate.service.placement import assignment
from spark_colocate.store.protocol import Transaction

BEAT_SECONDS = 15.0
"""How often, at most, the beats of a host are incremented; more often if the grace period is short."""


@dataclass
class HostWatch:
    """What one process remembers of the beats of hosts."""

    grace_seconds: float = default_seconds("spark.colocate.hosts.grace")
    _beats: Beats = field(default_factory=Beats)

    @property
    def beat_seconds(self) -> float:
        return min(BEAT_SECONDS, self.grace_seconds / 4)

    def silent(self, hosts: Sequence[Host], now: float) -> list[Host]:
        """Living hosts whose beats have not changed for the grace period. now: seconds of a clock that never jumps."""
        self._beats.see({host.host: host.beats for host in hosts}, now)
        return [host for host in alive(hosts) if self._beats.stands(host.host, now) > self.grace_seconds]

    def are_fresh(self, request: Request, hosts: Sequence[Host], now: float) -> bool:
        """Whether all that the driver sees are known as they are, and were counted up lately: nothing to write."""
        known = {host.host: host for host in hosts}
        return all(
            name in known
            and not known[name].is_lost
            and known[name].capacity == capacity
            and self._beats.stands(name, now) < self.beat_seconds
            for name, capacity in visible(request, hosts).items()
        )


def named(entries: Sequence[str]) -> dict[str, float]:
    """Hosts with their capacities, from strings such as `host` or `host=2`. An unreadable capacity counts as 1."""
    found = {}
    for entry in entries:
        name, _, capacity = (part.strip() for part in entry.partition("="))
        if name:
            found[name] = _capacity(capacity)
    return found


def _capacity(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 1.0
    return value if 0 < value < float("inf") else 1.0


def alive(hosts: Iterable[Host]) -> list[Host]:
    """Those of these hosts that buckets may be assigned to."""
    return [host for host in hosts if not host.is_lost]


def living(tx: Transaction) -> list[Host]:
    """The hosts that buckets may be assigned to."""
    return alive(tx.hosts())


def visible(request: Request, hosts: Sequence[Host]) -> dict[str, float]:
    """The hosts that the request's driver sees, with their capacities. None for a driver alone, if others live."""
    found = named(request.hosts)
    others = any(not host.is_lost and host.host not in found for host in hosts)
    return {} if request.local and others else found


def seen(tx: Transaction, context: OperationContext) -> bool:
    """The request's driver sees its hosts. Returns whether one is new, has come back, or has another capacity."""
    hosts = tx.hosts()
    known = {host.host: host for host in hosts}
    changed = False
    for name, capacity in sorted(visible(context.request, hosts).items()):
        held = known.get(name)
        if held is None:
            tx.put_host(Host(tx.next_id(), name, capacity))
            context.log(tx, "host_added", name)
            changed = True
        elif held.is_lost or held.capacity != capacity:
            tx.put_host(replace(held, capacity=capacity, beats=held.beats + 1, is_lost=False))
            context.log(tx, "host_back" if held.is_lost else "host_capacity", name, f"{capacity:g}")
            changed = True
        else:
            tx.beat(held)
    return changed


def lose(tx: Transaction, silent: Collection[Host], context: OperationContext) -> bool:
    """Marks hosts as lost, unless somebody has seen them meanwhile. Returns whether one was marked."""
    held = {host.backend_id: host for host in living(tx)}
    lost = [host for host in silent if host.backend_id in held and held[host.backend_id].beats == host.beats]
    for host in lost:
        tx.put_host(replace(host, is_lost=True))
        context.log(tx, "host_lost", host.host)
    return bool(lost)


def reassign(tx: Transaction, context: OperationContext) -> None:
    """Brings the bucket sequences of all groups to the living hosts, as far as the two switches allow it.

    The tables' files lie where they are: on shared storage only the tasks that read them go elsewhere.
    """
    hosts = living(tx)
    switches = tx.config()
    for group in tx.groups():
        moves = []
        sequence, replication = group.sequence, group.schema.replication
        sizes = group.sizes
        if switches.get("disable_colocate_relocate") != "true":
            moves += assignment.repaired(sequence, hosts, replication, sizes)
            sequence = assignment.moved(sequence, moves, replication)
        if switches.get("disable_colocate_balance") != "true":
            evened = assignment.balanced(sequence, hosts, sizes)
            sequence = assignment.moved(sequence, evened, replication)
            moves += evened
        changed = placed(group, sequence, hosts)
        if changed != group:
            tx.put_group(changed)
        if moves:
            context.log(tx, "sequence_changed", group.name, f"{len(moves)} of {len(sequence)} buckets")


def placed(group: Group, sequence: BucketSequence, hosts: Sequence[Host]) -> Group:
    """The group with a sequence. Its placement is stable if that of each bucket is. hosts: those that live."""
    changed = replace(group, sequence=sequence)
    return replace(changed, placement_stable=not misplaced(changed, {host.backend_id for host in hosts}))


def misplaced(group: Group, living: Collection[int]) -> set[int]:
    """The buckets whose placement is not stable: one of their hosts is lost, or they have fewer than there could be.

    living: backend ids.
    """
    copies = max(1, min(group.schema.replication, len(living)))
    few = {bucket for bucket, entry in enumerate(group.sequence) if len(entry) < copies}
    return few.union(on_lost_hosts(group.sequence, living))


def on_lost_hosts(sequence: BucketSequence, living: Collection[int]) -> list[int]:
    """The buckets of which a copy is assigned to a host that does not live. living: backend ids."""
    return [bucket for bucket, entry in enumerate(sequence) if any(host not in living for host in entry)]
