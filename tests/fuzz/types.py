"""Column types: how Spark, DuckDB and Arrow spell them, and a small domain of values for each."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Type:
    """value: the n-th value of the type's domain, n from 0; nearby numbers give different values where they can.

    literal: how both engines write a value alike; None for a type that they write differently.
    """

    spark: str
    duck: str
    arrow: pa.DataType
    value: Callable[[int], Any]
    literal: Callable[[Any], str] | None = None

    def spelled(self, value: Any) -> str | None:
        """How both engines write a value alike, if they do. Spark reads a TIMESTAMP in the session's zone, UTC."""
        if self.spark == "DATE":
            return f"DATE'{value.isoformat()}'"
        if self.spark.startswith("TIMESTAMP"):
            return f"TIMESTAMP'{value.isoformat(sep=' ')}'"
        return self.literal(value) if self.literal else None

    def in_spark(self, value: Any) -> str:
        """The value as a literal of the type."""
        if value is None:
            return f"CAST(NULL AS {self.spark})"
        text = f"X'{value.hex()}'" if isinstance(value, bytes) else repr(str(value))
        return f"CAST({text} AS {self.spark})"

    @property
    def is_integer(self) -> bool:
        return self.spark in ("TINYINT", "SMALLINT", "INT", "BIGINT")


_START = datetime(2024, 2, 20)
_WORDS = ("", "a", "ä", "A", "0", " ", "long long long")

BOOLEAN = Type("BOOLEAN", "BOOLEAN", pa.bool_(), lambda n: n % 2 == 0, str)
INT = Type("INT", "INTEGER", pa.int32(), lambda n: n - 3, str)
BIGINT = Type("BIGINT", "BIGINT", pa.int64(), lambda n: (n - 3) * (1 if n % 2 else 5_000_000_000), str)
WIDE_INT = Type("BIGINT", "BIGINT", pa.int64(), lambda n: n - 3, str)
DECIMAL = Type("DECIMAL(10,2)", "DECIMAL(10,2)", pa.decimal128(10, 2), lambda n: Decimal(n - 3).scaleb(-1), str)
DOUBLE = Type("DOUBLE", "DOUBLE", pa.float64(), lambda n: (n - 3) / 4, str)  # sums of quarters are exact
STRING = Type("STRING", "VARCHAR", pa.string(), lambda n: _WORDS[n] if n < len(_WORDS) else f"key {n}", repr)

KEY_TYPES = (
    BOOLEAN,
    Type("TINYINT", "TINYINT", pa.int8(), lambda n: n - 3, str),
    Type("SMALLINT", "SMALLINT", pa.int16(), lambda n: n - 3, str),
    INT,
    BIGINT,
    DECIMAL,
    Type("DECIMAL(30,4)", "DECIMAL(30,4)", pa.decimal128(30, 4), lambda n: Decimal(n * 10**18 + n).scaleb(-2)),
    Type("DATE", "DATE", pa.date32(), lambda n: date(2024, 2, 20) + timedelta(days=n)),
    Type("TIMESTAMP", "TIMESTAMP", pa.timestamp("us", tz="UTC"), lambda n: _START + timedelta(hours=11 * n)),
    Type("TIMESTAMP_NTZ", "TIMESTAMP", pa.timestamp("us"), lambda n: _START + timedelta(seconds=n, microseconds=n)),
    Type("BINARY", "BLOB", pa.binary(), lambda n: bytes([n % 7] * (n % 5))),
    STRING,
    Type("VARCHAR(20)", "VARCHAR", pa.string(), lambda n: f"name {n}", repr),
)
