"""setuptools' build backend; a wheel gets a jar for each version of Spark, built first. An editable install leaves that
to ./run, which builds the jar of one."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

from tools.sparks import pyspark_folder, sparks

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """pip fetches each PySpark, whose compiler and classes the jars need, and is not in every environment."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), "pip"]


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    build_jars(Path(os.environ.get("SPARK_COLOCATE_SPARKS") or "build"))
    shutil.rmtree("build/lib", ignore_errors=True)  # setuptools never forgets a file that it once copied there
    return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_jars(downloads: Path) -> None:
    """Builds the jars of all versions of Spark, those that are up to date excepted.

    downloads: the folder in which each PySpark and the jars of its Delta are kept.
    """
    for minor, version in sparks().items():
        paths = {
            "PYTHON": sys.executable,
            "PYTHONPATH": "" if version == _installed() else str(pyspark_folder(version, downloads.absolute())),
            "SPARK_COLOCATE_DELTA_JARS": str(downloads.absolute() / f"jars_{minor}"),
        }
        subprocess.run(["sh", "jvm-stubs/build"], env={**_environment(), **paths}, check=True)


def _installed() -> str | None:
    """The version of PySpark in this environment."""
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        return None


def _environment() -> dict[str, str]:
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        sys.exit("The jar needs Java 17 or 21 to be built: set JAVA_HOME, or put java on the PATH.")
    return dict(os.environ)
