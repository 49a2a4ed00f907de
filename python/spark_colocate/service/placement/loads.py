"""The load of each host, and the moves that a bucket may make."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b

from spark_colocate.model import BucketSequence, Host

TOLERANCE = 0.1
"""A host's load may differ from the mean by this part of it."""


class Loads:
    """The loads of living hosts while a sequence is changed step by step.

    The load of a host is the sum of the sizes of the buckets that it holds, divided by its capacity. sizes: of the
    buckets, in bytes; empty if they are alike. An empty bucket counts as one byte, so that it is spread as well.
    """

    def __init__(self, sequence: BucketSequence, hosts: Sequence[Host], sizes: Sequence[int] = ()) -> None:
        self._capacity = {host.backend_id: host.capacity for host in hosts}
        self._sizes = [max(1, size) for size in sizes] or [1] * len(sequence)
        self._held: dict[int, list[tuple[int, int]]] = {host: [] for host in self._capacity}
        for bucket, entry in enumerate(sequence):
            for host in entry:
                if host in self._held:
                    self._held[host].append((self._sizes[bucket], bucket))
        self._bytes = {host: sum(size for size, _ in held) for host, held in self._held.items()}
        for held in self._held.values():
            held.sort()
        copies = min(len(hosts), max((len(entry) for entry in sequence), default=0))
        self._mean = copies * sum(self._sizes) / sum(self._capacity.values()) if hosts else 0.0

    def knows(self, host: int) -> bool:
        return host in self._capacity

    def of(self, host: int) -> float:
        return self._bytes[host] / self._capacity[host]

    def best_for(self, bucket: int, but: Collection[int]) -> int:
        """A host for one more copy of the bucket, not one of `but`.

        Rendezvous hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2018): of the hosts that the bucket
        would not bring above the mean and its tolerance, the one with the highest score for this bucket; where there is
        none, the one with the lowest load. A score depends on bucket and host alone.
        """
        open_to = [host for host in self._capacity if host not in but]
        size, bound = self._sizes[bucket], self._mean * (1 + TOLERANCE)
        within = [host for host in open_to if (self._bytes[host] + size) / self._capacity[host] <= bound]
        if within:
            return max(within, key=lambda host: self._score(bucket, host))
        return min(open_to, key=lambda host: (self.of(host), host))

    def _score(self, bucket: int, host: int) -> float:
        digest = blake2b(b"%d/%d" % (bucket, host), digest_size=8).digest()
        uniform = (int.from_bytes(digest, "big") + 1) / (2**64 + 2)
        return self._capacity[host] / -math.log(uniform)

    def add(self, host: int, bucket: int) -> None:
        insort(self._held[host], (self._sizes[bucket], bucket))
        self._bytes[host] += self._sizes[bucket]

    def move(self, bucket: int, donor: int, receiver: int) -> None:
        self._held[donor].remove((self._sizes[bucket], bucket))
        self._bytes[donor] -= self._sizes[bucket]
        self.add(receiver, bucket)

    def uneven_pairs(self) -> Iterator[tuple[int, int]]:
        """Donors and receivers of which one is too far from the mean, the highest and lowest loads first."""
        rising = sorted(self._capacity, key=lambda host: (self.of(host), host))
        low, high = self._mean * (1 - TOLERANCE), self._mean * (1 + TOLERANCE)
        for donor in reversed(rising):
            for receiver in rising:
                if self.of(donor) <= self.of(receiver) or not (self.of(donor) > high or self.of(receiver) < low):
                    break
                yield donor, receiver

    def movable(self, donor: int, receiver: int) -> int | None:
        """The bucket whose move brings the two loads nearest to each other; None where each would part them more."""
        there = {bucket for _, bucket in self._held[receiver]}
        held = self._held[donor]
        both = self._capacity[donor] + self._capacity[receiver]
        ideal = (self._bytes[donor] * self._capacity[receiver] - self._bytes[receiver] * self._capacity[donor]) / both
        middle = bisect_right(held, (ideal, math.inf))
        below = next((item for item in reversed(held[:middle]) if item[1] not in there), None)
        above = next((item for item in held[middle:] if item[1] not in there), None)
        # A move of twice the ideal would only swap the two loads. The factor is for rounding.
        fitting = [item for item in (below, above) if item is not None and item[0] < 2 * ideal * (1 - 1e-9)]
        return min(fitting, key=lambda item: (abs(item[0] - ideal), item[1]))[1] if fitting else None
