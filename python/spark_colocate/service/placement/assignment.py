"""The bucket sequence: which hosts hold a bucket. Pure: the same input gives the same sequence.

A new group gets `round_robin`. When hosts come or go, `repaired` replaces lost hosts and `balanced` evens out the
loads; both return moves, which `moved` applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spark_colocate.model import BucketSequence, Host
from spark_colocate.service.placement.loads import Loads


@dataclass(frozen=True, slots=True)
class Move:
    """One copy of a bucket gets another host. source: None where the bucket had too few copies."""

    bucket: int
    source: int | None
    target: int


def round_robin(hosts: Sequence[Host], buckets: int, replication: int) -> BucketSequence:
    """Bucket b starts at host b of the sorted hosts; its copies lie on the next ones, each host at most once."""
    ring = [host.backend_id for host in sorted(hosts, key=lambda h: h.host)]
    if not ring:
        return tuple(() for _ in range(buckets))
    copies = min(replication, len(ring))
    return tuple(tuple(ring[(b + c) % len(ring)] for c in range(copies)) for b in range(buckets))


def repaired(
    sequence: BucketSequence, hosts: Sequence[Host], replication: int, sizes: Sequence[int] = ()
) -> list[Move]:
    """What brings every bucket to `replication` living hosts, or to as many as there are. Entries on those stay.

    hosts: those that live. Where they are too few, a bucket keeps its entries of lost hosts, which may come back.
    sizes: of the buckets, in bytes; empty if they are alike.

    Each lost copy goes to the host that `Loads.best_for` names: so the buckets of one lost host go to many.
    """
    loads = Loads(sequence, hosts, sizes)
    copies = min(replication, len(hosts))
    return [move for bucket, entry in enumerate(sequence) for move in _completed(loads, bucket, entry, copies)]


def _completed(loads: Loads, bucket: int, entry: tuple[int, ...], copies: int) -> Iterator[Move]:
    kept = [host for host in entry if loads.knows(host)]
    lost = [host for host in entry if not loads.knows(host)]
    while len(kept) < copies:
        target = loads.best_for(bucket, kept)
        loads.add(target, bucket)
        kept.append(target)
        yield Move(bucket, lost.pop(0) if lost else None, target)


def balanced(sequence: BucketSequence, hosts: Sequence[Host], sizes: Sequence[int] = ()) -> list[Move]:
    """Moves one by one, each from a host with a high load to one with a low load.

    It ends when all loads are near the mean (`loads.TOLERANCE`), or when no move brings two hosts nearer to each other.
    Each move does, so the sum of the squares of the loads falls, and it ends; a second call moves nothing.
    """
    loads = Loads(sequence, hosts, sizes)
    moves = []
    while move := _next(loads):
        loads.move(*move)
        moves.append(Move(*move))
    return moves


def _next(loads: Loads) -> tuple[int, int, int] | None:
    """The best pair of hosts first: the one with the highest load gives to the one with the lowest."""
    for donor, receiver in loads.uneven_pairs():
        bucket = loads.movable(donor, receiver)
        if bucket is not None:
            return bucket, donor, receiver
    return None


def moved(sequence: BucketSequence, moves: Sequence[Move], replication: int) -> BucketSequence:
    """The sequence after the moves. Copies beyond `replication` are dropped, the last ones first."""
    entries = [list(entry) for entry in sequence]
    for move in moves:
        entry = entries[move.bucket]
        if move.source is None:
            entry.append(move.target)
        else:
            entry[entry.index(move.source)] = move.target
    return tuple(tuple(entry[:replication]) for entry in entries)
