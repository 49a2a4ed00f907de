"""Puts every jar that a driver needs into one folder. usage: python -m spark_colocate.fetch_jars <folder>"""

import shutil
import sys
from pathlib import Path

from spark_colocate.bridge.driver import resolve
from spark_colocate.session import BROUGHT_BY_SPARK, DELTA_PACKAGE, delta_jars, jar_path


def fetch(folder: Path) -> list[Path]:
    """Copies our jar and Delta's into `folder`, and returns the copies. Jars of others that lie there stay.

    Delta's come from the folder that `SPARK_COLOCATE_DELTA_JARS` names, else Spark fetches them once.
    """
    found = [Path(jar) for jar in delta_jars() or resolve(DELTA_PACKAGE, BROUGHT_BY_SPARK)]
    folder.mkdir(parents=True, exist_ok=True)
    return [Path(shutil.copy(jar, folder)) for jar in (jar_path(), *found)]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for jar in fetch(Path(sys.argv[1])):
        print(jar)
