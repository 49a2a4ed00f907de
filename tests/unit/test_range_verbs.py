"""What CREATE and the procedures of range partitions ask the service, and its refusals."""

import pytest
from spark_colocate.errors import ColocateError
from spark_colocate.model import Column, TableName
from spark_colocate.range_partitions import Spec
from spark_colocate.service import ranges
from spark_colocate.service.ranges import RangedTable

COLUMNS = (
    Column("Day", "date"),
    Column("k", "int"),
    Column("name", "string"),
    Column("at", "timestamp"),
    Column("made", "int", generated=True),
)
ONE = '[{"name": "p", "upper": ["2017-02-01"]}]'


def table(
    by: str = "day", partitions: str = ONE, columns: tuple[Column, ...] = COLUMNS, zone: str = "UTC"
) -> RangedTable:
    return RangedTable(TableName("db", "t"), columns, 4, by, partitions, zone)


def code(*args: RangedTable) -> str:
    with pytest.raises(ColocateError) as error:
        ranges.created(*args)
    return error.value.code


def test_columns_are_spelled_as_the_tables() -> None:
    assert ranges.created(table("`DAY`")).columns == ("Day",)


@pytest.mark.parametrize(
    ("by", "wanted"),
    [("x", "RANGE_COLUMN_INVALID"), ("day, Day", "RANGE_COLUMN_INVALID"), ("made", "RANGE_COLUMN_INVALID"),
     ("name", "RANGE_COLUMN_TYPE"), ("", "RANGE_PROPERTY_INVALID")],
)  # fmt: skip
def test_wrong_columns_are_refused(by: str, wanted: str) -> None:
    assert code(table(by)) == wanted


def test_a_column_with_the_hidden_ones_name_is_refused() -> None:
    assert code(table(columns=(*COLUMNS, Column("_Colocate_Range", "string")))) == "COLUMN_RESERVED"


def test_a_partition_has_the_tables_buckets() -> None:
    same = ranges.added(table(), Spec("q", ("2017-03-01",), buckets=4))
    assert [p.buckets for p in same.partitions] == [None, None]
    with pytest.raises(ColocateError, match="the other partitions have 4"):
        ranges.added(table(), Spec("q", ("2017-03-01",), buckets=8))


def test_instants_are_kept_whatever_the_zone_is_later() -> None:
    made = ranges.created(table("at", zone="Europe/Berlin"))
    again = ranges.created(table("at", made.to_json(), zone="Asia/Tokyo"))
    assert again == made
    assert "2017-01-31 23:00:00Z" in made.to_json()


def test_a_partition_that_is_not_there_may_be_dropped_if_one_says_so() -> None:
    assert ranges.dropped(table(), "q", if_exists=True) == ranges.created(table())
    assert ranges.named(table(), ["P"]) == ["p"]
