"""The log of a Delta table, as its files have it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.spark.members import folder


def commits(spark: SparkSession, table: str) -> list[Path]:
    return sorted((folder(spark, table) / "_delta_log").glob("*.json"))


def actions(commit: Path, kind: str) -> list[dict[str, Any]]:
    """Those of a kind, such as `add`."""
    lines = [json.loads(line) for line in commit.read_text().splitlines()]
    return [line[kind] for line in lines if kind in line]


def rewrite_last(spark: SparkSession, table: str, change: Callable[[str], str]) -> None:
    """Gives the last commit another text, as if it had been written like that."""
    log = commits(spark, table)[-1]
    log.write_text(change(log.read_text()))
    for checksum in (log.with_name(f".{log.name}.crc"), log.with_suffix(".crc")):
        checksum.unlink(missing_ok=True)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
