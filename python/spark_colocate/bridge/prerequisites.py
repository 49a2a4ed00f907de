"""What a driver needs before its JVM starts. Spark's own errors for these name only a consequence."""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from zipfile import is_zipfile

_DELTA_JAR = re.compile(r"delta-spark_(\d+\.\d+)_2\.13")


def require_java() -> None:
    """Raises RuntimeError where Spark would find no Java: that of `JAVA_HOME` if this is set, else of the path."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        found = f"JAVA_HOME is {home}, which has no bin/java" if home else "JAVA_HOME is not set, nor is java on PATH"
        raise RuntimeError(
            f"Spark needs Java 17 or 21, and {found}. Install one (on Debian or Ubuntu: apt-get install "
            "openjdk-17-jre-headless), or set JAVA_HOME to the folder of an installed one."
        )


def require_whole_jars(jars: Iterable[str]) -> None:
    """Raises RuntimeError for the first file that is cut off: the JVM would pass over it and miss its classes."""
    for jar in jars:
        if not is_zipfile(jar):
            raise RuntimeError(
                f"{jar} is not a whole jar: its {Path(jar).stat().st_size} bytes do not end as a zip file does. "
                "Delete it, and fetch or install it again."
            )


def require_delta_for(minor: str, jars: Iterable[str]) -> None:
    """Raises RuntimeError if Delta's jar, by its name, was built for another minor version of Spark."""
    for jar in jars:
        built = _DELTA_JAR.search(Path(jar).name)
        if built and built[1] != minor:
            raise RuntimeError(
                f"{jar} is Delta for Spark {built[1]}, and this is Spark {minor}. Put the jars of "
                f"delta-spark_{minor}_2.13 there, or unset SPARK_COLOCATE_DELTA_JARS: then Spark fetches them."
            )
