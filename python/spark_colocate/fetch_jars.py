"""Puts every jar that a driver needs into one folder. usage: python -m spark_colocate.fetch_jars <folder>"""

import shutil
import sys
from pathlib import Path

from spark_colocate.bridge.driver import resolve
from spark_colocate.bridge.prerequisites import require_delta_for, require_whole_jars
from spark_colocate.session import BROUGHT_BY_SPARK, DELTA_PACKAGE, delta_jars, jar_path
from spark_colocate.support.spark_version import minor_of, spark_version


def fetch(folder: Path) -> list[Path]:
    """Copies our jar and Delta's into `folder`, and returns the copies.

    Those for another version of Spark that lie there are removed: with both, no session starts. Jars of others stay.
    Delta's come from the folder that `SPARK_COLOCATE_DELTA_JARS` names, else Spark fetches them once.
    """
    found = [Path(jar) for jar in delta_jars() or resolve(DELTA_PACKAGE, BROUGHT_BY_SPARK)]
    require_whole_jars(map(str, found))
    require_delta_for(minor_of(spark_version()), map(str, found))
    folder.mkdir(parents=True, exist_ok=True)
    copies = [_copy(jar, folder) for jar in (jar_path(), *found)]
    for old in {*folder.glob("spark-colocate_*.jar"), *folder.glob("*delta-spark_*.jar")} - set(copies):
        old.unlink()
    return copies


def _copy(jar: Path, folder: Path) -> Path:
    """The copy gets its name only when it is whole."""
    made = folder / f"{jar.name}.part"
    shutil.copy(jar, made)
    return made.replace(folder / jar.name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for jar in fetch(Path(sys.argv[1])):
        print(jar)
