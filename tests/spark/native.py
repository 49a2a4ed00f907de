"""What tests of native tables look at: files by bucket, the registry, properties."""

import re
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from tests.spark.members import folder

_BUCKET = re.compile(r"_(\d{5})\.c\d{3}")


def bucketed(columns: str, buckets: int, group: str, format: str = "parquet", keys: str = "k", more: str = "") -> str:
    """The part of a CREATE statement after the table's name."""
    return (
        f"{columns} USING {format} {more} CLUSTERED BY ({keys}) INTO {buckets} BUCKETS "
        f"TBLPROPERTIES ('colocate_with'='{group}')"
    )


def files(spark: SparkSession, table: str) -> list[Path]:
    return [f for f in folder(spark, table).rglob("part-*") if not f.name.endswith(".crc")]


def files_per_bucket(spark: SparkSession, table: str) -> Counter[tuple[str, int]]:
    """(partition folder, bucket id) -> number of files."""
    root = folder(spark, table)
    found: Counter[tuple[str, int]] = Counter()
    for file in files(spark, table):
        named = _BUCKET.search(file.name)
        assert named, file
        found[str(file.parent.relative_to(root)), int(named.group(1))] += 1
    return found


def misplaced_rows(spark: SparkSession, table: str, keys: str, buckets: int) -> int:
    """Rows that lie in a file of another bucket than the hash of their keys."""
    name = "regexp_extract(_metadata.file_name, '_([0-9]{5})[.]c[0-9]{3}', 1)"
    return spark.table(table).where(f"CAST({name} AS INT) <> pmod(hash({keys}), {buckets})").count()


def groups(spark: SparkSession, database: str | None = None) -> dict[str, int]:
    """Group name -> number of members, of one database's groups or of all."""
    where = f"WHERE db = '{database}'" if database else ""
    rows = spark.sql(f"SELECT group_name, members FROM system.colocation_groups {where}").collect()
    return {row.group_name: row.members for row in rows}


def group_of(spark: SparkSession, database: str, table: str) -> str | None:
    """The registry's word on the table."""
    found = spark.sql(
        f"SELECT `group` FROM system.colocation_tables WHERE db = '{database}' AND `table` = '{table}'"
    ).collect()
    return found[0][0] if found else None


def properties(spark: SparkSession, table: str) -> dict[str, str]:
    return {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
