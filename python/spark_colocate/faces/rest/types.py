"""Spark's types of bucket keys, as Doris' and StarRocks' FE show them."""

from __future__ import annotations

import re
from typing import Any

# Doris shows integers with the width that MySQL gives them.
_DORIS = {
    "tinyint": "tinyint(4)",
    "smallint": "smallint(6)",
    "int": "int(11)",
    "bigint": "bigint(20)",
    "timestamp": "datetime",
    "timestamp_ntz": "datetime",
}
_STARROCKS = {
    "string": "VARCHAR",
    "binary": "VARBINARY",
    "timestamp": "DATETIME",
    "timestamp_ntz": "DATETIME",
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def doris_type(spark: str) -> str:
    """A type as in Doris' `infos`: `int(11)`."""
    return _DORIS.get(spark, spark)


def column_type(spark: str) -> dict[str, Any]:
    """A type as in StarRocks' `distributionColTypes`."""
    decimal = _DECIMAL.fullmatch(spark)
    return {
        "type": "DECIMAL" if decimal else _STARROCKS.get(spark, spark.upper()),
        "len": -1,
        "isAssignedStrLenInColDefinition": False,
        "precision": int(decimal[1]) if decimal else 0,
        "scale": int(decimal[2]) if decimal else 0,
    }
