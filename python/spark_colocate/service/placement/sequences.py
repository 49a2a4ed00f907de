"""A bucket sequence that is set by hand or moved by a job: which hosts hold each bucket of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spark_colocate.errors import Code, GroupError
from spark_colocate.model import Group, GroupName
from spark_colocate.service.base.config import entries
from spark_colocate.service.base.requests import OperationContext, SequenceChange
from spark_colocate.service.placement import hosts
from spark_colocate.service.placement.assignment import Move, moved
from spark_colocate.store.protocol import Transaction

BucketHosts = Sequence[Sequence[int]]
"""The backend ids of each bucket, the first choice first."""


def set_sequence(tx: Transaction, group: Group, wanted: BucketHosts, context: OperationContext) -> SequenceChange:
    """Sets the hosts of all buckets. Nothing is written where they are so already.

    Raises GroupError for another number of buckets than the group has, for an unknown, lost or repeated host, and for
    another number of hosts in a bucket than the group's replication number (or than there are hosts).
    """
    living = hosts.living(tx)
    _check(group, wanted, {host.backend_id for host in living})
    sequence = tuple(tuple(bucket) for bucket in wanted)
    if sequence != group.sequence:
        tx.put_group(hosts.placed(group, sequence, living))
        context.log(tx, "set_sequence", group.name, f"{len(sequence)} buckets")
    return SequenceChange(group.name, _warnings(tx))


def mark_moving(tx: Transaction, name: GroupName) -> None:
    """Buckets of the group are going to move, so its placement is not stable."""
    group = tx.group(name)
    if group and group.placement_stable:
        tx.put_group(replace(group, placement_stable=False))


def move(tx: Transaction, name: GroupName, move: Move, context: OperationContext) -> bool:
    """Gives a copy of a bucket to another host; the placement stays unstable until its job ends.

    May be repeated. False if the group, its sequence or the living hosts have changed so that the move makes no sense.
    """
    group = tx.group(name)
    if group is None or not move.bucket < len(group.sequence):
        return False
    entry = group.sequence[move.bucket]
    if move.target in entry:
        return True
    if move.source not in (None, *entry) or move.target not in {host.backend_id for host in hosts.living(tx)}:
        return False
    sequence = moved(group.sequence, [move], group.schema.replication)
    tx.put_group(replace(group, sequence=sequence, placement_stable=False))
    context.log(tx, "move_bucket", name, f"bucket {move.bucket} to backend {move.target}")
    return True


def _check(group: Group, wanted: BucketHosts, living: set[int]) -> None:
    if len(wanted) != group.schema.buckets:
        raise _invalid(group, f"it has {len(wanted)} buckets, and the group has {group.schema.buckets}")
    copies = min(group.schema.replication, len(living))
    for bucket, entry in enumerate(wanted):
        unknown = [host for host in entry if host not in living]
        if unknown:
            ids = ", ".join(map(str, sorted(living))) or "none"
            raise _invalid(group, f"bucket {bucket} names host {unknown[0]}, and the living hosts are {ids}")
        if len(set(entry)) != len(entry):
            raise _invalid(group, f"bucket {bucket} names a host twice ({', '.join(map(str, entry))})")
        if len(entry) != copies:
            needed = f"{copies} (replication {group.schema.replication}, {len(living)} hosts)"
            raise _invalid(group, f"bucket {bucket} has {len(entry)} hosts, and the group needs {needed}")


def _invalid(group: Group, why: str) -> GroupError:
    return GroupError(
        Code.SEQUENCE_INVALID,
        f"Cannot set the bucket sequence of group {group.name}: {why}.",
        "Send a list for each bucket with the backend ids of its hosts; SELECT * FROM system.colocation_hosts, or "
        "colocate hosts, shows the ids.",
    )


def _warnings(tx: Transaction) -> tuple[str, ...]:
    on = [entry.key for entry in entries(tx.config()) if entry.value == "false"]
    if not on:
        return ()
    verb = "is" if len(on) == 1 else "are"
    return (
        f"The sequence may be changed again by the system: {' and '.join(on)} {verb} false. Set to true to keep it.",
    )
