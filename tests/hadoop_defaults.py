"""Hadoop's settings and local files, for the JVMs of the tests: a jar that stands before Hadoop's own on the classpath.

Spark sends Hadoop's whole configuration with each scan and write and to each task, every value compressed by itself:
some 10 ms each way, two thirds of them for 700 values that no local session asks for. And Hadoop's local files start a
process for the mode of each new file, which jvm-stubs/testing's LocalFiles do without. A JVM without the jar has
Hadoop's own.
"""

import io
import zipfile

from tests.spark.sessions import ARCHIVE, HADOOP_DEFAULTS, WRONG_PLANNERS

LEFT_OUT = ("yarn-default.xml", "mapred-default.xml")
FILES = "org.apache.spark.sql.colocate.testing.LocalFiles"
SETTINGS = f"""<configuration>
  <property><name>fs.file.impl</name><value>{FILES}</value></property>
  <property><name>fs.AbstractFileSystem.file.impl</name><value>{FILES}OfContext</value></property>
</configuration>
"""


def make() -> None:
    """Makes the jar where it is missing or old: with the same bytes, as the archive of classes asks for."""
    wanted = _jar()
    if HADOOP_DEFAULTS.exists() and HADOOP_DEFAULTS.read_bytes() == wanted:
        return
    HADOOP_DEFAULTS.parent.mkdir(exist_ok=True)
    ARCHIVE.unlink(missing_ok=True)
    partial = HADOOP_DEFAULTS.with_suffix(".partial")
    partial.write_bytes(wanted)
    partial.rename(HADOOP_DEFAULTS)


def _jar() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as jar, zipfile.ZipFile(WRONG_PLANNERS["spark.jars"]) as testing:
        for name in LEFT_OUT:
            jar.writestr(zipfile.ZipInfo(name), "<configuration/>")
        jar.writestr(zipfile.ZipInfo("core-site.xml"), SETTINGS)
        for name in testing.namelist():
            if name.rpartition("/")[2].removeprefix("Raw").startswith("LocalFiles"):
                jar.writestr(zipfile.ZipInfo(name), testing.read(name))
    return content.getvalue()
