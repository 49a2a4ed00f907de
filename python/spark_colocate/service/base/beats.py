"""Whether a driver or a host is alive: it counts up a number in the store, and others measure how long it stands still.

The time is that of whoever looks, so clocks that differ do no harm.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field


@dataclass
class Beats:
    """What one process remembers of the numbers that it has read: of each the last one, and since when it stands."""

    _since: dict[Hashable, tuple[int, float]] = field(default_factory=dict)

    def see(self, numbers: Mapping[Hashable, int], now: float) -> None:
        """All numbers that there are. now: seconds of a clock that never jumps."""
        held = self._since
        self._since = {
            key: held[key] if key in held and held[key][0] == number else (number, now)
            for key, number in numbers.items()
        }

    def stands(self, key: Hashable, now: float) -> float:
        """For how many seconds a number has stood still; 0 for one that was not seen yet."""
        return now - self._since[key][1] if key in self._since else 0.0
