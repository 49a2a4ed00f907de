"""Before any test: the jar fits the sources, and a plain `pytest` finds what ./run would have set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import class_archive, hadoop_defaults, rotation

ROOT = Path(__file__).parent.parent


def pytest_configure(config: pytest.Config) -> None:
    fetched = ROOT / "build" / "jars"
    if fetched.is_dir():
        os.environ.setdefault("SPARK_COLOCATE_DELTA_JARS", str(fetched))
    # The control plane and Spark's Python workers are children of the driver and find the package by this.
    present = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "python"), *present]))
    if not hasattr(config, "workerinput"):  # the workers of pytest-xdist find it made
        os.environ[rotation.WHOLE_SUITE] = "" if config.args_source is pytest.Config.ArgsSource.ARGS else "1"
        subprocess.run(["sh", "jvm-stubs/build"], cwd=ROOT, env={**os.environ, "PYTHON": sys.executable}, check=True)
        if not config.option.collectonly:
            hadoop_defaults.make()
            class_archive.make()


@pytest.hookimpl(trylast=True)  # after -k and -m, so that a run of some cases runs these
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ[rotation.WHOLE_SUITE]:
        rotation.leave_out_other_days(items)
