"""Which Spark a session of this process runs on."""

import os
import re
from pathlib import Path

import pyspark

_CORE_JAR = re.compile(r"spark-core_2\.13-(.+)\.jar")


def spark_version() -> str:
    """The version of Spark, such as `4.2.0`: of the distribution in `SPARK_HOME` if that is set, else PySpark's own.

    PySpark starts the JVM of `SPARK_HOME`, whichever version of PySpark was installed beside it.
    """
    return _version_of_home(os.environ.get("SPARK_HOME")) or pyspark.__version__


def minor_of(version: str) -> str:
    """`4.2` of `4.2.0`."""
    return ".".join(version.split(".")[:2])


def _version_of_home(home: str | None) -> str | None:
    """None where the folder has no jars of a Spark that we know; spark-submit then fails with a message of its own."""
    if not home:
        return None
    found = [_CORE_JAR.fullmatch(jar.name) for jar in Path(home, "jars").glob("spark-core_2.13-*.jar")]
    return next((match[1] for match in found if match), None)
