"""What other hands do to a table's files and log, for tests, and what its manifest knows of them."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
from pyspark.sql import SparkSession

from tests.spark.delta_log import rewrite_last
from tests.spark.members import folder
from tests.spark.native import files

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
# A name of ours for a file that we did not write: FOREIGN.format(bucket=1).
FOREIGN = f"part-00000-{UUID}_0000{{bucket}}.c000.{{{{ext}}}}"


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


def known(spark: SparkSession, table: str) -> dict[str, bool]:
    """What the manifest says: path -> is it a stray."""
    found: dict[str, bool] = {}
    for part in sorted((folder(spark, table) / "_colocate").glob("manifest-*.json")):
        for line in part.read_text().splitlines()[1:]:
            one = json.loads(line)
            found[one["path"]] = found.get(one["path"], False) or one["stray"]
    return found


def forget(spark: SparkSession, table: str) -> None:
    """As if another session had written the table."""
    shutil.rmtree(folder(spark, table) / "_colocate", ignore_errors=True)
    spark.sql(f"REFRESH TABLE {table}")


def say_of_bucket_3(spark: SparkSession, table: str, value: str) -> None:
    """Writes `value` into a Delta table's log as the partition value of the files of bucket 3."""

    def changed(text: str) -> str:
        assert '"_colocate_bucket":"3"' in text
        return text.replace('"_colocate_bucket":"3"', f'"_colocate_bucket":{value}')

    rewrite_last(spark, table, changed)
