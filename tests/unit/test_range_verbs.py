"""What CREATE and the procedures of range partitions ask the service, and its refusals."""

from dataclasses import replace
from typing import Any

import pytest
from spark_colocate.checks.range_partitions import Spec
from spark_colocate.errors import ColocateError
from spark_colocate.model import Column, TableName
from spark_colocate.service.base.requests import Declaration
from spark_colocate.service.statements import declarations, ranges
from spark_colocate.service.statements.ranges import RangedTable

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
    return RangedTable(TableName("db", "t"), columns, 4, by, partitions, zone, ("k",))


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


def test_a_partition_may_have_buckets_of_its_own() -> None:
    same = ranges.added(table(), [Spec("q", ("2017-03-01",), buckets=4)])
    assert [p.buckets for p in same.partitions] == [None, None]
    other = ranges.added(table(), [Spec("q", ("2017-03-01",), buckets=8, bucket_keys=("K",))])
    assert [p.buckets for p in other.partitions] == [None, 8]
    assert ranges.created(table(partitions=other.to_json())) == other
    assert [p.buckets for p in ranges.dropped(table(partitions=other.to_json()), "q", False).partitions] == [None]


@pytest.mark.parametrize(
    ("changed", "spec", "code", "parts"),
    [
        ({"group": "g"}, Spec("q", ("2017-03-01",), buckets=8), "RANGE_BUCKETS", ["8 buckets", "group g", "number, 4"]),
        ({"buckets": 0, "keys": ()}, Spec("q", ("2017-03-01",), buckets=8), "RANGE_BUCKETS", ["has no buckets"]),
        ({}, Spec("q", ("2017-03-01",), buckets=0), "BUCKETS_INVALID", ["between 1 and 100000"]),
        ({}, Spec("q", ("2017-03-01",), buckets=4, bucket_keys=("d", "k")), "RANGE_BUCKET_KEYS", ["(d, k)", "is (k)"]),
    ],
)
def test_other_buckets_are_refused_with_both_sides(
    changed: dict[str, Any], spec: Spec, code: str, parts: list[str]
) -> None:
    with pytest.raises(ColocateError) as error:
        ranges.added(replace(table(), **changed), [spec])
    assert error.value.code == code
    assert all(part in str(error.value) for part in parts), error.value


def test_a_table_with_other_numbers_joins_no_group() -> None:
    declared = Declaration(
        TableName("db", "t"), "g", "delta", (Column("k", "int"),), 4,
        partition_buckets=(("q", 8),),
        ranges=("d", '[{"name":"p","upper":["2017-02-01"]},{"name":"q","upper":["2017-03-01"],"buckets":8}]'),
    )  # fmt: skip
    with pytest.raises(ColocateError) as error:
        declarations.check(declared)
    assert error.value.code == "RANGE_BUCKETS"
    assert "(q: 8) than the table (4)" in str(error.value)
    without = '[{"name":"p","upper":["2017-02-01"]},{"name":"q","upper":["2017-03-01"]}]'
    assert (
        "CREATE OR REPLACE TABLE db.t USING delta CLUSTERED BY (`k`) INTO 4 BUCKETS TBLPROPERTIES ("
        f"'colocate_with'='g', 'range_partition_by'='d', 'range_partitions'='{without}') AS SELECT * FROM db.t"
    ) in str(error.value)
    assert declarations.check(replace(declared, partition_buckets=())) is not None


def test_instants_are_kept_whatever_the_zone_is_later() -> None:
    made = ranges.created(table("at", zone="Europe/Berlin"))
    again = ranges.created(table("at", made.to_json(), zone="Asia/Tokyo"))
    assert again == made
    assert "2017-01-31 23:00:00Z" in made.to_json()


def test_a_partition_that_is_not_there_may_be_dropped_if_one_says_so() -> None:
    assert ranges.dropped(table(), "q", if_exists=True) == ranges.created(table())
    assert ranges.named(table(), ["P"]) == ["p"]
