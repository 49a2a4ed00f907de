"""Fetches a Maven package's jars once into a folder, by Spark's own resolution.

usage: maven_jars.py <folder>, which fetches Delta's
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from spark_colocate.session import BROUGHT_BY_SPARK, DELTA_PACKAGE

ATTEMPTS = 3
RESOLVE = """
import sys
from pyspark.sql import SparkSession
ivy, package, excludes = sys.argv[1:]
options = {"spark.jars.packages": package, "spark.jars.excludes": excludes, "spark.jars.ivy": ivy}
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
for key, value in options.items():
    builder.config(key, value)
builder.getOrCreate().stop()
"""


def fetch(folder: Path, package: str, excludes: Sequence[str]) -> Path:
    """Returns the folder. excludes: dependencies that are not fetched, as `group:name`."""
    stamp = folder / "package"
    if folder.is_dir() and not stamp.exists() and any(folder.glob("*.jar")):
        return folder  # somebody's own folder: taken as it is
    if stamp.exists() and stamp.read_text() == package:
        return folder
    print(f"run: fetching the jars of {package}", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as ivy:
        _resolve(ivy, package, excludes)
        for old in folder.glob("*.jar"):
            old.unlink()
        for jar in Path(ivy, "jars").glob("*.jar"):
            shutil.move(jar, folder / jar.name)
    stamp.write_text(package)
    return folder


def _resolve(ivy: str, package: str, excludes: Sequence[str]) -> None:
    command = [sys.executable, "-c", RESOLVE, ivy, package, ",".join(excludes)]
    for _ in range(ATTEMPTS):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    sys.exit(f"{done.stdout[-2000:]}{done.stderr[-4000:]}\nrun: {package} could not be resolved; see above")


if __name__ == "__main__":
    fetch(Path(sys.argv[1]), DELTA_PACKAGE, BROUGHT_BY_SPARK)
