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

JARS = Path("python", "spark_colocate", "jars")

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
    """With the setting `sparks`, such as 4.1, it has the jar of this version, and those that are there already."""
    wanted = (config_settings or {}).get("sparks")
    build_jars(Path(os.environ.get("SPARK_COLOCATE_SPARKS") or "build"), wanted)
    shutil.rmtree("build/lib", ignore_errors=True)  # setuptools never forgets a file that it once copied there
    return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_jars(downloads: Path, wanted: str | None = None) -> None:
    """Builds the jars of all versions of Spark, but for those that are up to date. Exits if one can't be built.

    downloads: the folder in which each PySpark and the jars of its Delta are kept.
    wanted: of the others, only those are built that are there already, so that the wheel holds no old one.
    """
    versions = sparks()
    if wanted and wanted not in versions:
        sys.exit(f"The setting sparks is {wanted}, and there are jars for {', '.join(versions)}. Name one of these.")
    for minor, version in versions.items():
        if wanted in (None, minor) or JARS.joinpath(f"spark-colocate_{minor}_2.13.jar").exists():
            _build_jar(minor, version, downloads.absolute())


def _build_jar(minor: str, version: str, downloads: Path) -> None:
    settings = {
        "PYTHON": sys.executable,
        "PYTHONPATH": "" if version == _installed() else str(pyspark_folder(version, downloads)),
        "SPARK_COLOCATE_DELTA_JARS": str(downloads / f"jars_{minor}"),
    }
    subprocess.run(["sh", "jvm-stubs/build"], env={**_environment(), **settings}, check=True)


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
