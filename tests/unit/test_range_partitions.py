"""Range partitions: the documents' examples, every refusal, and the SQL that finds a row's partition."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spark_colocate.checks import range_partitions, range_values
from spark_colocate.checks.range_partitions import RangePartitions, Spec
from spark_colocate.checks.range_values import Limit
from spark_colocate.errors import ColocateError


def less(name: str, *upper: str) -> Spec:
    return Spec(name, upper)


def fixed(name: str, lower: str, upper: str) -> Spec:
    return Spec(name, (upper,), (lower,))


def made(value: RangePartitions | ColocateError) -> RangePartitions:
    assert isinstance(value, RangePartitions), value
    return value


def refused(value: object) -> ColocateError:
    assert isinstance(value, ColocateError), value
    return value


def table(*specs: Spec, kind: str = "date") -> RangePartitions:
    return made(range_partitions.create(["d"], [kind], specs))


def months() -> RangePartitions:
    """The first example of the document on data division."""
    return table(less("p201701", "2017-02-01"), less("p201702", "2017-03-01"), less("p201703", "2017-04-01"))


def pairs() -> RangePartitions:
    """The document's example of several columns."""
    specs = [
        less("p201701_1000", "2017-02-01", "1000"),
        less("p201702_2000", "2017-03-01", "2000"),
        less("p201703_all", "2017-04-01"),
    ]
    return made(range_partitions.create(["date", "id"], ["date", "int"], specs))


def ranges(value: RangePartitions) -> list[str]:
    return [str(p) for p in value.partitions]


def holes(value: RangePartitions) -> tuple[str, ...]:
    """The ranges between partitions that belong to none."""
    return tuple(
        f"[{range_values.shown(below.upper)}, {range_values.shown(above.lower)})"
        for below, above in pairwise(value.partitions)
        if below.upper != above.lower
    )


def found(value: RangePartitions, row: Sequence[int | date | datetime | None]) -> str | None:
    """The name of the partition that takes a row with these values of the range columns."""
    at = range_values.order([Limit.MIN if one is None else one for one in row])
    takes = (p.name for p in value.partitions if range_values.order(p.lower) <= at < range_values.order(p.upper))
    return next(takes, None)


@pytest.mark.parametrize("bound", ["20170201", "2017-2-1", "2017-02-01 00:00:00"])
def test_bounds_of_dates_may_be_spelled_as_in_doris(bound: str) -> None:
    assert ranges(table(less("p", bound))) == ["p [MIN_VALUE, 2017-02-01)"]


def test_lower_bounds_come_from_the_partition_before() -> None:
    assert ranges(months()) == [
        "p201701 [MIN_VALUE, 2017-02-01)",
        "p201702 [2017-02-01, 2017-03-01)",
        "p201703 [2017-03-01, 2017-04-01)",
    ]


def test_the_documents_five_steps_of_adding_and_dropping() -> None:
    added = made(months().add(less("p201705", "2017-06-01")))
    assert ranges(added)[-1] == "p201705 [2017-04-01, 2017-06-01)"
    assert holes(added) == ()

    one = made(added.drop("p201703"))
    assert ranges(one) == [
        "p201701 [MIN_VALUE, 2017-02-01)",
        "p201702 [2017-02-01, 2017-03-01)",
        "p201705 [2017-04-01, 2017-06-01)",
    ]
    assert holes(one) == ("[2017-03-01, 2017-04-01)",)

    two = made(one.drop("p201702"))
    assert holes(two) == ("[2017-02-01, 2017-04-01)",)

    new = made(two.add(less("p201702new", "2017-03-01")))
    assert ranges(new)[1] == "p201702new [2017-02-01, 2017-03-01)"
    assert holes(new) == ("[2017-03-01, 2017-04-01)",)

    last = made(made(new.drop("p201701")).add(less("p201612", "2017-01-01")))
    assert ranges(last) == [
        "p201612 [MIN_VALUE, 2017-01-01)",
        "p201702new [2017-02-01, 2017-03-01)",
        "p201705 [2017-04-01, 2017-06-01)",
    ]
    assert holes(last) == ("[2017-01-01, 2017-02-01)", "[2017-03-01, 2017-04-01)")


def test_several_columns_are_filled_with_min_value() -> None:
    assert ranges(pairs()) == [
        "p201701_1000 [(MIN_VALUE, MIN_VALUE), (2017-02-01, 1000))",
        "p201702_2000 [(2017-02-01, 1000), (2017-03-01, 2000))",
        "p201703_all [(2017-03-01, 2000), (2017-04-01, MIN_VALUE))",
    ]


NINE_ROWS = [
    (date(2017, 1, 1), 200, "p201701_1000"),
    (date(2017, 1, 1), 2000, "p201701_1000"),
    (date(2017, 2, 1), 100, "p201701_1000"),
    (date(2017, 2, 1), 2000, "p201702_2000"),
    (date(2017, 2, 15), 5000, "p201702_2000"),
    (date(2017, 3, 1), 2000, "p201703_all"),
    (date(2017, 3, 10), 1, "p201703_all"),
    (date(2017, 4, 1), 1000, None),
    (date(2017, 5, 1), 1000, None),
]


@pytest.mark.parametrize(("day", "number", "partition"), NINE_ROWS)
def test_the_documents_nine_rows(day: date, number: int, partition: str | None) -> None:
    assert found(pairs(), (day, number)) == partition


def test_null_counts_as_min_value() -> None:
    assert found(months(), (None,)) == "p201701"
    assert found(table(fixed("p", "2017-01-01", "2017-02-01")), (None,)) is None
    assert found(pairs(), (date(2017, 2, 1), None)) == "p201701_1000"


def test_maxvalue_takes_all_rows_that_are_left() -> None:
    open_ended = table(less("low", "0"), less("rest", "MAXVALUE"), kind="int")
    assert [found(open_ended, (n,)) for n in (-1, 0, 2**31 - 1)] == ["low", "rest", "rest"]
    assert holes(open_ended) == ()
    assert "[0, MAX_VALUE)" in ranges(open_ended)[1]


REFUSALS = {
    "RANGE_OVERLAP": lambda: months().add(fixed("p", "2017-01-15", "2017-02-15")),
    "RANGE_BACKWARDS": lambda: months().add(fixed("p", "2017-08-01", "2017-07-01")),
    "RANGE_NAME_REPEATED": lambda: months().add(less("P201702", "2017-05-01")),
    "RANGE_AFTER_MAXVALUE": lambda: range_partitions.create(
        ["d"], ["date"], [less("all", "MAXVALUE"), less("p", "2017-01-01")]
    ),
    "RANGE_VALUE_INVALID": lambda: months().add(less("p", "2017-02-30")),
    "RANGE_VALUE_COUNT": lambda: months().add(less("p", "2017-05-01", "1")),
    "RANGE_NAME_INVALID": lambda: months().add(less("p/1", "2017-05-01")),
    "RANGE_PARTITION_UNKNOWN": lambda: months().drop("p201704"),
    "RANGE_LAST_PARTITION": lambda: table(less("p", "2017-05-01")).drop("p"),
    "RANGE_PROPERTY_INVALID": lambda: range_partitions.from_json(["d"], ["date"], '[{"name": "p"}]'),
}


def test_a_table_without_a_partition_is_refused() -> None:
    refused = range_partitions.create(["d"], ["date"], [])
    assert isinstance(refused, ColocateError)
    assert refused.code == "RANGE_LAST_PARTITION"


def test_a_partition_is_not_named_as_spark_writes_null() -> None:
    error = refused(months().add(less("__hive_default_partition__", "2017-05-01")))
    assert (error.code, "as NULL" in error.headline) == ("RANGE_NAME_INVALID", True)


@pytest.mark.parametrize("code", REFUSALS)
def test_bad_partitions_are_refused_with_their_code(code: str) -> None:
    assert refused(REFUSALS[code]()).code == code


def test_an_overlap_names_both_ranges() -> None:
    error = refused(months().add(fixed("p", "2017-01-15", "2017-02-15")))
    assert error.headline == (
        "Cannot make partition p [2017-01-15, 2017-02-15): it overlaps p201701 [MIN_VALUE, 2017-02-01)."
    )


def test_the_same_upper_bound_twice_is_an_overlap() -> None:
    assert refused(months().add(less("p", "2017-03-01"))).code == "RANGE_OVERLAP"


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("tinyint", "-128", "128"), ("smallint", "32767", "32768"), ("int", "42", "4.2"), ("bigint", "-5", "x"),
        ("date", "2017-01-31", "2017-01-31 00:00:01"), ("date", "20170131", "2017131"),
        ("date", "2017-1-31", "2017-1-32"),
        ("date", "2017-01-31 00:00:00", "2017-01-31 24:00:00"), ("timestamp_ntz", "20170131102030", "201701311020"),
        ("timestamp", "2017-01-31 10:00:00+02:00", "10:00"),
        ("timestamp_ntz", "2017-01-31 10:00:00", "2017-01-31 10:00:00Z"),
    ],
)  # fmt: skip
def test_values_are_of_the_columns_type(kind: str, good: str, bad: str) -> None:
    assert not isinstance(range_values.parse(good, kind), ColocateError)
    assert refused(range_values.parse(bad, kind)).code == "RANGE_VALUE_INVALID"


def test_a_timestamp_without_an_offset_is_in_the_sessions_zone() -> None:
    berlin = range_values.time_zone("Europe/Berlin")
    assert not isinstance(berlin, ColocateError)
    assert range_values.parse("2017-07-01", "timestamp", berlin) == datetime(2017, 6, 30, 22, tzinfo=UTC)
    assert range_values.time_zone("GMT+08:00") == timezone(timedelta(hours=8))
    assert refused(range_values.time_zone("Nowhere/Else")).code == "RANGE_VALUE_INVALID"


@pytest.mark.parametrize("value", [months(), pairs(), table(less("m", "-1"), less("x", "MAXVALUE"), kind="bigint")])
def test_the_property_reads_back(value: RangePartitions) -> None:
    assert range_partitions.from_json(value.columns, value.types, value.to_json()) == value


def test_the_number_of_buckets_has_the_conditions_of_the_partition() -> None:
    """Readers learn each partition's number from the two expressions side by side."""
    own = made(months().add(Spec("p201705", ("2017-06-01",), ("2017-05-01",), 6)))
    names, numbers = own.case_expression(), own.buckets_expression(4)
    assert months().buckets_expression(4) is None
    for name, number in (("'p201705'", "6"), ("'p201701'", "4"), ("'p201702'", "4"), ("'p201703'", "4")):
        names = names.replace(name, number)
    assert numbers == f"coalesce({names.replace('STRING', 'INT')}, 4)"
    assert made(own.drop("p201705")).buckets_expression(4) is None


def test_literals_mean_the_same_in_every_session() -> None:
    assert range_values.literal(5, "smallint") == "5S"
    assert range_values.literal(datetime(2017, 1, 1, tzinfo=UTC), "timestamp") == "TIMESTAMP_LTZ '2017-01-01 00:00:00Z'"


numbers = st.one_of(st.none(), st.integers(-3, 3))
bounds = st.lists(st.one_of(st.integers(-3, 3).map(str), st.sampled_from(["MINVALUE", "MAXVALUE"])), max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    specs=st.lists(st.tuples(bounds, st.one_of(st.none(), bounds)), min_size=1, max_size=8),
    rows=st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=20),
    own=st.lists(st.sampled_from([None, 2, 4, 6]), min_size=8, max_size=8),
)
def test_the_sql_finds_the_partition_that_find_does_and_its_buckets(
    specs: list[tuple[list[str], list[str] | None]],
    rows: list[tuple[int | None, int | None, int | None]],
    own: list[int | None],
) -> None:
    """In DuckDB, whose CASE, comparisons and NULLs are Spark's."""
    value = RangePartitions(("a", "b", "c"), ("int", "int", "int"), ())
    for number, (upper, lower) in enumerate(specs):
        more = value.add(Spec(f"p{number}", tuple(upper), None if lower is None else tuple(lower), own[number]))
        value = more if isinstance(more, RangePartitions) else value
    if not value.partitions:
        return
    case = value.case_expression().replace("`", "").replace("STRING", "VARCHAR")
    texts = [", ".join("NULL::INT" if v is None else str(v) for v in row) for row in rows]
    source = f"(VALUES {', '.join(f'({text})' for text in texts)}) t(a, b, c)"
    counts = (value.buckets_expression(4) or "4").replace("`", "")
    rows_found = duckdb.sql(f"SELECT a, b, c, {case}, {counts} FROM {source}").fetchall()
    for a, b, c, partition, buckets in rows_found:
        assert partition == found(value, (a, b, c))
        assert buckets == next((p.buckets or 4 for p in value.partitions if p.name == partition), 4)
