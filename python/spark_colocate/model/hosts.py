"""Hosts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HostState(StrEnum):
    """Whether buckets may be assigned to a host."""

    ALIVE = "alive"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Host:
    """A host that can hold buckets, under its backend id.

    capacity: how much it can hold, relative to other hosts.
    beats: is incremented while a driver sees the host; see `service/placement/hosts.py`.
    is_lost: no driver has seen it for longer than the grace period.
    """

    backend_id: int
    host: str
    capacity: float = 1.0
    beats: int = 0
    is_lost: bool = False

    @property
    def state(self) -> HostState:
        return HostState.LOST if self.is_lost else HostState.ALIVE
