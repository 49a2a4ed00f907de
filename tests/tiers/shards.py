"""Files by the time they take: the longest first, and shards that take about as long as each other."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path

import pytest

SECONDS = Path(__file__).parent / "seconds.json"
UNKNOWN = 20.0  # of a file that was never timed
MOST_SECONDS = 900.0  # of a part of a file


@dataclass(frozen=True)
class Shard:
    """number: from 1 to `of`."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        number, slash, of = text.partition("/")
        if not (slash and number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
            raise ValueError(f"a shard is a number of a whole, such as 1/8, not {text!r}")
        return cls(int(number), int(of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, items: Sequence[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
        """Each chunk in turn, the longest first, goes to the shard with least to do."""
        loads, mine = [0.0] * self.of, set()
        for took, _, chunk in sorted(_chunks(items, seconds), key=lambda one: (-one[0], one[1])):
            least = loads.index(min(loads))
            loads[least] += took
            if least == self.number - 1:
                mine |= set(chunk)
        return [item for item in items if item in mine]


def _chunks(
    items: Sequence[pytest.Item], seconds: Mapping[str, float]
) -> Iterator[tuple[float, int, Sequence[pytest.Item]]]:
    """A file, or a part of one that takes long: its seconds, a number, and its cases."""
    numbers = count()
    for file, cases in groupby(sorted(items, key=file_of), key=file_of):
        all_of_it = list(cases)
        each = seconds.get(file, UNKNOWN) / len(all_of_it)
        size = max(1, int(MOST_SECONDS / max(each, 0.01)))
        for start in range(0, len(all_of_it), size):
            chunk = all_of_it[start : start + size]
            yield each * len(chunk), next(numbers), chunk


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def longest_first(files: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    return sorted(set(files), key=lambda file: (-seconds.get(file, UNKNOWN), file))


def read_seconds(tier: str) -> dict[str, float]:
    return dict(json.loads(SECONDS.read_text()).get(tier, {}))


def write_seconds(tier: str, seconds: Mapping[str, float]) -> None:
    known = json.loads(SECONDS.read_text())
    known[tier] = dict(sorted({**known.get(tier, {}), **{file: round(took) for file, took in seconds.items()}}.items()))
    SECONDS.write_text(json.dumps(known, indent=1) + "\n")
