"""Delta tables with range partitions, and what is in them."""

import json
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

MONTHS = [("p201701", "2017-02-01"), ("p201702", "2017-03-01"), ("p201703", "2017-04-01")]
IN_BUCKETS = "CLUSTERED BY (k) INTO 4 BUCKETS"


def properties(columns: str, partitions: Sequence[tuple[str, ...]], **more: str) -> str:
    """Each partition is a name and its upper bound, of one value or several."""
    entries = [{"name": name, "upper": list(upper)} for name, *upper in partitions]
    named = {"range_partition_by": columns, "range_partitions": json.dumps(entries), **more}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in named.items())
    return f"TBLPROPERTIES ({pairs})"


def months(spark: SparkSession, name: str = "t", buckets: str = IN_BUCKETS, **more: str) -> None:
    """A table with the three partitions of the document, and 80 days of rows."""
    spark.sql(f"CREATE TABLE {name} (d DATE, k INT, v STRING) USING delta {buckets} {properties('d', MONTHS, **more)}")
    spark.sql(f"INSERT INTO {name} SELECT date_add(DATE'2017-01-01', CAST(id AS INT)), id, 'v' FROM range(80)")


def mixed(spark: SparkSession, name: str = "t") -> None:
    """Three partitions of 8, 4 and 6 buckets with holes between them; rows with nulls in the key and in the range."""
    spark.sql(
        f"CREATE TABLE {name} (d DATE, k INT, v BIGINT) USING delta CLUSTERED BY (k) INTO 8 BUCKETS "
        f"{properties('d', [('low', '2017-02-01')])}"
    )
    spark.sql(
        f"CALL system.add_partition(table => '{name}', partition => 'mid', lower => '2017-03-01', "
        "upper => '2017-04-01', buckets => 4)"
    )
    spark.sql(
        f"ALTER TABLE {name} ADD PARTITION high VALUES [('2017-05-01'), ('2017-06-01')) "
        "DISTRIBUTED BY HASH(k) BUCKETS 6"
    )
    spark.sql(f"INSERT INTO {name} {MIXED_ROWS}")


MIXED_ROWS = (
    "SELECT if(id % 31 = 0, NULL, date_add(element_at(array(DATE'2017-01-01', DATE'2017-03-01', DATE'2017-05-01'), "
    "CAST(id % 3 + 1 AS INT)), CAST(id % 28 AS INT))), if(id % 17 = 0, NULL, CAST(id % 50 AS INT)), id FROM range(400)"
)

NUMBER = "CASE _colocate_range WHEN 'low' THEN 8 WHEN 'mid' THEN 4 ELSE 6 END"


def misplaced(spark: SparkSession, name: str = "t", number: str = NUMBER) -> int:
    """Rows whose bucket is not that of their key by their partition's number of buckets."""
    wrong = f"NOT (_colocate_bucket <=> pmod(hash(k), {number}))"
    return int(spark.sql(f"SELECT count(*) FROM {name} WHERE {wrong}").first()[0])


def held(spark: SparkSession, name: str = "t") -> dict[str, int]:
    """Rows of each partition, by its hidden column."""
    return dict(map(tuple, spark.sql(f"SELECT _colocate_range, count(*) FROM {name} GROUP BY 1").collect()))


def listed(spark: SparkSession, name: str = "t") -> list[tuple[str, str, int]]:
    rows = spark.sql(f"CALL system.show_partitions(table => '{name}')").collect()
    return [(row["PartitionName"], row["Range"], row["RowCount"]) for row in rows]


def refused(spark: SparkSession, sql: str) -> str:
    with pytest.raises(Exception, match=r"RANGE_|NOT_NULL|BUCKETS_") as error:
        spark.sql(sql).collect()
    return str(error.value)
