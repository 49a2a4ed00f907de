"""Files put into the folder of a native table by other hands, for tests."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
from pyspark.sql import SparkSession

from tests.spark.members import folder
from tests.spark.native import files

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def drop_in(spark: SparkSession, table: str, name: str, columns: Mapping[str, pa.Array], below: str = "") -> Path:
    """Writes a file into the table's folder (`below`: of a partition). name: with `{ext}` for the table's format."""
    provider = spark.sql(f"DESCRIBE EXTENDED {table}").where("col_name = 'Provider'").collect()[0]["data_type"]
    path = folder(spark, table) / below / name.format(ext=provider)
    write = pyarrow.parquet.write_table if provider == "parquet" else pyarrow.orc.write_table
    write(pa.table(dict(columns)), str(path))
    spark.sql(f"REFRESH TABLE {table}")
    return path


def bucket_file(spark: SparkSession, table: str, bucket: int) -> Path:
    """The first file of a bucket."""
    return sorted(f for f in files(spark, table) if f"_{bucket:05d}." in f.name)[0]


def rename(file: Path, bucket: int) -> Path:
    """Gives the file the name of another bucket, as Spark would write it; its checksum file goes."""
    head, _, tail = file.name.rpartition("_")
    target = file.with_name(f"{head}_{bucket:05d}.{tail.partition('.')[2]}")
    file.rename(target)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    return target
