"""What another engine may do to a Delta table, past our catalog."""

import json
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from tests.spark.members import folder

Field = dict[str, Any]


def widen_key(spark: SparkSession, table: str) -> None:
    """One metadata commit that makes the key `k` an INT, past our catalog and Delta's own check."""

    def widened(field: Field) -> None:
        field["metadata"]["delta.typeChanges"] = [{"fromType": field["type"], "toType": "integer"}]
        field["type"] = "integer"

    _change(spark, table, "k", widened)


def compute(spark: SparkSession, table: str, column: str, change: Callable[[str], str]) -> None:
    """One metadata commit that changes the text by which Delta computes a column."""
    key = "delta.generationExpression"
    _change(spark, table, column, lambda field: field["metadata"].update({key: change(field["metadata"][key])}))


def change_property(spark: SparkSession, table: str, key: str, change: Callable[[str], str]) -> None:
    """One metadata commit that changes a table property."""

    def changed(metadata: Field) -> None:
        metadata["configuration"][key] = change(metadata["configuration"][key])

    _commit(spark, table, changed)


def constrain(spark: SparkSession, table: str, name: str, condition: str) -> None:
    """One metadata commit that adds a CHECK, which no row was compared with."""

    def constrained(metadata: Field) -> None:
        metadata["configuration"][f"delta.constraints.{name}"] = condition

    _commit(spark, table, constrained)


def add_column(spark: SparkSession, table: str, column: str) -> None:
    """One metadata commit that adds an INT column."""

    def added(metadata: Field) -> None:
        schema = json.loads(metadata["schemaString"])
        schema["fields"].append({"name": column, "type": "integer", "nullable": True, "metadata": {}})
        metadata["schemaString"] = json.dumps(schema)

    _commit(spark, table, added)


def _change(spark: SparkSession, table: str, column: str, change: Callable[[Field], None]) -> None:
    def changed(metadata: Field) -> None:
        schema = json.loads(metadata["schemaString"])
        change(next(field for field in schema["fields"] if field["name"] == column))
        metadata["schemaString"] = json.dumps(schema)

    _commit(spark, table, changed)


def _commit(spark: SparkSession, table: str, change: Callable[[Field], None]) -> None:
    log = folder(spark, table) / "_delta_log"
    versions = sorted(log.glob("*.json"))
    metadata = [line for path in versions for line in path.read_text().splitlines() if '"metaData"' in line][-1]
    action = json.loads(metadata)
    change(action["metaData"])
    (log / f"{len(versions):020d}.json").write_text(json.dumps(action) + "\n")


def without_us(spark: SparkSession, sql: str) -> None:
    """Runs a statement in a session of Spark and Delta alone, over the same tables."""
    jvm = spark._jvm
    stock = jvm.org.apache.spark.sql.colocate.testing.StockSession.beside(spark._jsparkSession)
    stock.sql(sql).collectAsList()


def declare(spark: SparkSession, table: str, model: dict[str, str]) -> None:
    """Another key model in the schema, past every check."""
    declared = {"colocate.keyModel": json.dumps(model)}
    _change(spark, table, "_colocate_bucket", lambda field: field["metadata"].update(declared))


def undeclare(spark: SparkSession, table: str) -> None:
    """As an earlier version has made the table: its schema does not declare the key model."""
    _change(spark, table, "_colocate_bucket", lambda field: field["metadata"].pop("colocate.keyModel"))
