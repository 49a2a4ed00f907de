"""Range partitions as values: which rows belong to which partition, what overlaps, and what is left open.

A range includes its lower bound and excludes its upper bound. Several columns are compared from the left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from spark_colocate.checks import range_values
from spark_colocate.checks.range_values import Bound, Limit, Value, order, shown, text_of
from spark_colocate.errors import Code, ColocateError, LayoutError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]{0,127}")
_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Spec:
    """A partition as a statement writes it, bounds as text.

    `lower` is None for VALUES LESS THAN. A bound shorter than the columns is filled with MIN_VALUE.
    buckets, bucket_keys: what it says of its buckets, if anything.
    """

    name: str
    upper: tuple[str, ...]
    lower: tuple[str, ...] | None = None
    buckets: int | None = None
    bucket_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RangePartition:
    """The rows from `lower` up to, but not including, `upper`; both as long as the range columns."""

    name: str
    lower: Bound
    upper: Bound
    buckets: int | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.range}"

    @property
    def range(self) -> str:
        return f"[{shown(self.lower)}, {shown(self.upper)})"

    def overlaps(self, other: RangePartition) -> bool:
        return order(self.lower) < order(other.upper) and order(other.lower) < order(self.upper)


@dataclass(frozen=True, slots=True)
class RangePartitions:
    """The partitions of one table in the order of their ranges. `types` are Spark's simpleStrings."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    partitions: tuple[RangePartition, ...]

    def add(self, spec: Spec, zone: tzinfo = UTC) -> RangePartitions | ColocateError:
        """The table with the partition of `spec` added, which may overlap none. No existing range changes."""
        bounds = self._bounds(spec, zone)
        if isinstance(bounds, ColocateError):
            return bounds
        made = RangePartition(spec.name, *bounds, spec.buckets)
        error = self._refused(made, less_than=spec.lower is None)
        if error:
            return error
        ordered = sorted((*self.partitions, made), key=lambda p: order(p.lower))
        return replace(self, partitions=tuple(ordered))

    def _bounds(self, spec: Spec, zone: tzinfo) -> tuple[Bound, Bound] | ColocateError:
        upper = self._bound(spec.name, spec.upper, zone)
        lower = None if spec.lower is None else self._bound(spec.name, spec.lower, zone)
        if isinstance(upper, ColocateError):
            return upper
        if isinstance(lower, ColocateError):
            return lower
        return (self._lower_for(upper) if lower is None else lower), upper

    def _bound(self, name: str, written: Sequence[str], zone: tzinfo) -> Bound | ColocateError:
        if not 1 <= len(written) <= len(self.columns):
            return LayoutError(
                Code.RANGE_VALUE_COUNT,
                f"Cannot make partition {name}: a bound has {len(written)} values ({', '.join(written)}), "
                f"and there are {len(self.columns)} range columns ({', '.join(self.columns)}).",
                "Write a value for each column; values that are left out at the end count as MIN_VALUE.",
            )
        values: list[Value] = []
        for text, kind in zip(written, self.types, strict=False):
            value = range_values.parse(text, kind, zone)
            if isinstance(value, ColocateError):
                return LayoutError(value.code, f"Partition {name}: {value.headline}", value.cure)
            values.append(value)
        return range_values.fill(values, len(self.columns))

    def _lower_for(self, upper: Bound) -> Bound:
        """VALUES LESS THAN begins where the partition before it ends, and at MIN_VALUE where there is none."""
        before = [p.upper for p in self.partitions if order(p.upper) < order(upper)]
        return before[-1] if before else (Limit.MIN,) * len(self.columns)

    def _refused(self, made: RangePartition, *, less_than: bool) -> ColocateError | None:
        return (
            _bad_name(made.name)
            or self._repeated(made.name)
            or self._overlapping(made, less_than=less_than)
            or _backwards(made)
        )

    def _repeated(self, name: str) -> ColocateError | None:
        same = self.named(name)
        if same is None:
            return None
        return LayoutError(
            Code.RANGE_NAME_REPEATED,
            f"Cannot make a second partition {name}: there is {same} already.",
            "Choose another name.",
        )

    def _overlapping(self, made: RangePartition, *, less_than: bool) -> ColocateError | None:
        other = next((p for p in self.partitions if p.overlaps(made)), None)
        if other is None:
            return None
        if less_than and other.upper[0] is Limit.MAX:
            return LayoutError(
                Code.RANGE_AFTER_MAXVALUE,
                f"Cannot make partition {made.name} VALUES LESS THAN {shown(made.upper)}: {other} has the rows "
                "up to MAXVALUE already.",
                f"Name {other.name} last, or give it a smaller range.",
            )
        return LayoutError(
            Code.RANGE_OVERLAP,
            f"Cannot make partition {made}: it overlaps {other}.",
            "Choose bounds that leave the ranges of other partitions out.",
        )

    def named(self, name: str) -> RangePartition | None:
        """The partition of this name; case does not matter."""
        return next((p for p in self.partitions if p.name.lower() == name.lower()), None)

    def drop(self, name: str) -> RangePartitions | ColocateError:
        """The table without the partition `name`. The other ranges stay, so a hole may be left."""
        found = self.named(name)
        if found is None:
            return unknown(name, self)
        if len(self.partitions) == 1:
            return LayoutError(
                Code.RANGE_LAST_PARTITION,
                f"Cannot drop partition {found}: it is the only one, and a table needs one.",
                f"Add another partition first, or drop the table. "
                f"CALL system.truncate_partition removes the rows of {name}.",
            )
        return replace(self, partitions=tuple(p for p in self.partitions if p is not found))

    def case_expression(self) -> str:
        """Spark SQL that gives a row's partition, NULL for a row of none. Halves the ranges at each step."""
        return _tree(self, _segments(self.partitions), "STRING", lambda p: f"'{p.name}'")

    def buckets_expression(self, declared: int) -> str | None:
        """Spark SQL that gives the number of buckets of a row's partition; None if all have the table's, `declared`.

        It has the conditions of `case_expression`: readers compare the two to learn each partition's number.
        """
        if all(p.buckets in (None, declared) for p in self.partitions):
            return None
        tree = _tree(self, _segments(self.partitions), "INT", lambda p: str(p.buckets or declared))
        return f"coalesce({tree}, {declared})"

    def to_json(self) -> str:
        """The table property: names, bounds, and the number of buckets where a partition has its own."""
        return json.dumps([_entry(p) for p in self.partitions], separators=(",", ":"))


def create(
    columns: Sequence[str], types: Sequence[str], specs: Sequence[Spec], zone: tzinfo = UTC
) -> RangePartitions | ColocateError:
    """The partitions of a new table, each added after those before it."""
    if not specs:
        return LayoutError(
            Code.RANGE_LAST_PARTITION,
            f"Cannot partition by range ({', '.join(columns)}) without a partition.",
            "Name one or more partitions with their ranges.",
        )
    made: RangePartitions | ColocateError = RangePartitions(tuple(columns), tuple(types), ())
    for spec in specs:
        if isinstance(made, ColocateError):
            return made
        made = made.add(spec, zone)
    return made


def from_json(
    columns: Sequence[str], types: Sequence[str], text: str, zone: tzinfo = UTC
) -> RangePartitions | ColocateError:
    """What `to_json` wrote; entries without `lower` are VALUES LESS THAN."""
    try:
        specs = [_spec(entry) for entry in json.loads(text)]
    except (ValueError, TypeError, KeyError, AttributeError):
        return LayoutError(
            Code.RANGE_PROPERTY_INVALID,
            f"Cannot read 'range_partitions'='{text}': it is not a list of ranges as JSON.",
            'Write it as [{"name": "p1", "lower": ["2017-01-01"], "upper": ["2017-02-01"]}, ...].',
        )
    return create(columns, types, specs, zone)


def _spec(entry: dict[str, object]) -> Spec:
    lower, buckets = entry.get("lower"), entry.get("buckets")
    if not isinstance(entry["name"], str) or not (buckets is None or type(buckets) is int):
        raise ValueError
    return Spec(entry["name"], _texts(entry["upper"]), None if lower is None else _texts(lower), buckets)


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(v, str) or type(v) is int for v in values):
        raise ValueError
    return tuple(map(str, values))


def _entry(p: RangePartition) -> dict[str, object]:
    bounds: dict[str, object] = {"lower": [text_of(v) for v in p.lower], "upper": [text_of(v) for v in p.upper]}
    return {"name": p.name, **bounds, **({} if p.buckets is None else {"buckets": p.buckets})}


def unknown(name: str, table: RangePartitions) -> ColocateError:
    """There is no such partition."""
    return LayoutError(
        Code.RANGE_PARTITION_UNKNOWN,
        f"There is no partition {name} (partitions: {', '.join(p.name for p in table.partitions)}).",
        "Name one of these partitions.",
    )


def _bad_name(name: str) -> ColocateError | None:
    if name.upper() == _NULL:
        return LayoutError(
            Code.RANGE_NAME_INVALID,
            f"Cannot use '{name}' as the name of a partition: Spark reads this value of a partition column as NULL.",
            "Choose another name.",
        )
    if _NAME.fullmatch(name):
        return None
    return LayoutError(
        Code.RANGE_NAME_INVALID,
        f"Cannot use '{name}' as the name of a partition: a name is a letter or _, then up to 127 letters, digits, "
        "_ or -.",
        "Choose such a name.",
    )


def _backwards(made: RangePartition) -> ColocateError | None:
    if order(made.lower) < order(made.upper):
        return None
    return LayoutError(
        Code.RANGE_BACKWARDS,
        f"Cannot make partition {made}: its lower bound {shown(made.lower)} is not below its upper bound "
        f"{shown(made.upper)}.",
        "Write the smaller bound first.",
    )


Segment = tuple[Bound, RangePartition | None]
"""Where a stretch of rows begins, and the partition that it belongs to."""


def _segments(partitions: Sequence[RangePartition]) -> list[Segment]:
    """All rows from MIN_VALUE up, as stretches in order; the holes have no partition."""
    at: Bound = (Limit.MIN,) * len(partitions[0].lower)
    found: list[Segment] = []
    for p in partitions:
        if p.lower != at:
            found.append((at, None))
        found.append((p.lower, p))
        at = p.upper
    return found if at[0] is Limit.MAX else [*found, (at, None)]


def _tree(
    table: RangePartitions, segments: Sequence[Segment], kind: str, value: Callable[[RangePartition], str]
) -> str:
    """A CASE of this type that gives `value` of a row's partition, NULL for a row of none."""
    if len(segments) == 1:
        partition = segments[0][1]
        return f"CAST(NULL AS {kind})" if partition is None else value(partition)
    middle = len(segments) // 2
    condition = range_values.at_least(table.columns, table.types, segments[middle][0])
    below, above = (_tree(table, half, kind, value) for half in (segments[:middle], segments[middle:]))
    return f"CASE WHEN {condition} THEN {above} ELSE {below} END"
