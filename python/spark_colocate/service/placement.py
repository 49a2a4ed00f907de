"""The bucket sequence: which hosts hold a bucket. Pure: the same hosts give the same sequence."""

from __future__ import annotations

from collections.abc import Sequence

from spark_colocate.model import Host


def round_robin(hosts: Sequence[Host], buckets: int, replication: int) -> tuple[tuple[int, ...], ...]:
    """Bucket b starts at host b of the sorted hosts; its copies lie on the next ones, each host at most once."""
    ring = [host.backend_id for host in sorted(hosts, key=lambda h: h.host)]
    if not ring:
        return tuple(() for _ in range(buckets))
    copies = min(replication, len(ring))
    return tuple(tuple(ring[(b + c) % len(ring)] for c in range(copies)) for b in range(buckets))
