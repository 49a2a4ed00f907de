"""Colocation groups for Spark SQL.

>>> from pyspark.sql import SparkSession
>>> from spark_colocate import configure
>>> spark = configure(SparkSession.builder).getOrCreate()
"""

from typing import TYPE_CHECKING

from spark_colocate.catalogues.rules import Rule, rules
from spark_colocate.errors import ColocateError
from spark_colocate.verdicts import Verdict, verdicts

if TYPE_CHECKING:
    from spark_colocate.session import configure

__version__ = "0.1.0"
__all__ = ["ColocateError", "Rule", "Verdict", "__version__", "configure", "rules", "verdicts"]


def __getattr__(name: str) -> object:
    """`configure` is imported on first use: the control plane imports this package and must not wait for PySpark."""
    if name != "configure":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from spark_colocate.session import configure

    return configure
