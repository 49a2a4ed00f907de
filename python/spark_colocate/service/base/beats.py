"""Whether a driver or a host is alive: it increments a number in the store, which others watch for changes.

Each process measures with its own clock, so clocks that differ do no harm.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field


@dataclass
class Beats:
    """The numbers that one process has read: the last value of each, and since when it is unchanged."""

    _since: dict[Hashable, tuple[int, float]] = field(default_factory=dict)

    def see(self, numbers: Mapping[Hashable, int], now: float) -> None:
        """All numbers that there are. now: seconds of a clock that never jumps."""
        held = self._since
        self._since = {
            key: held[key] if key in held and held[key][0] == number else (number, now)
            for key, number in numbers.items()
        }

    def stands(self, key: Hashable, now: float) -> float:
        """For how many seconds a number has not changed; 0 for one that was not seen yet."""
        return now - self._since[key][1] if key in self._since else 0.0
