"""Before any test: the jar fits the sources, and a plain `pytest` finds what ./run would have set."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from spark_colocate.support.spark_version import minor_of

from tests import class_archive, hadoop_defaults

pytest_plugins = ["tests.tiers.plugin"]

ROOT = Path(__file__).parent.parent


def pytest_configure(config: pytest.Config) -> None:
    of_minor = ROOT / "build" / f"jars_{minor_of(pyspark.__version__)}"
    fetched = of_minor if of_minor.is_dir() else ROOT / "build" / "jars"
    if fetched.is_dir():
        os.environ.setdefault("SPARK_COLOCATE_DELTA_JARS", str(fetched))
    # The control plane and Spark's Python workers are children of the driver and find the package by this.
    present = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "python"), *present]))
    # The workers of pytest-xdist find it made.
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        subprocess.run(["sh", "jvm-stubs/build"], cwd=ROOT, env={**os.environ, "PYTHON": sys.executable}, check=True)
        hadoop_defaults.make()
        class_archive.make()
