"""What another engine may do to a Delta table, past our catalog."""

import json

from pyspark.sql import SparkSession

from tests.spark.members import folder


def widen_key(spark: SparkSession, table: str) -> None:
    """One metadata commit that makes the key `k` an INT, past our catalog and Delta's own check."""
    log = folder(spark, table) / "_delta_log"
    versions = sorted(log.glob("*.json"))
    metadata = [line for path in versions for line in path.read_text().splitlines() if '"metaData"' in line][-1]
    action = json.loads(metadata)
    schema = json.loads(action["metaData"]["schemaString"])
    key = next(field for field in schema["fields"] if field["name"] == "k")
    key["metadata"]["delta.typeChanges"] = [{"fromType": key["type"], "toType": "integer"}]
    key["type"] = "integer"
    action["metaData"]["schemaString"] = json.dumps(schema)
    (log / f"{len(versions):020d}.json").write_text(json.dumps(action) + "\n")
