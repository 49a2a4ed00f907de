"""Hadoop without the defaults of YARN and MapReduce, for the JVMs of the tests.

Spark sends Hadoop's whole configuration with each scan and write and to each task, every value compressed by itself:
some 10 ms each way, two thirds of them for 700 values that no local session asks for.
"""

import zipfile

from tests.spark.sessions import HADOOP_DEFAULTS

LEFT_OUT = ("yarn-default.xml", "mapred-default.xml")


def make() -> None:
    """Makes the jar that stands before Hadoop's own on the classpath. A JVM without it has the defaults."""
    if HADOOP_DEFAULTS.exists():
        return
    HADOOP_DEFAULTS.parent.mkdir(exist_ok=True)
    partial = HADOOP_DEFAULTS.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w") as jar:
        for name in LEFT_OUT:
            jar.writestr(name, "<configuration/>")
    partial.rename(HADOOP_DEFAULTS)
