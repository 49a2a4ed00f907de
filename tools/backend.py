"""setuptools' build backend; a wheel gets the jar built first. An editable install leaves that to ./run."""

import os
import shutil
import subprocess
import sys
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

# The Scala compiler comes with PySpark.
PYSPARK = "pyspark==4.2.0"

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
    return [*build_meta.get_requires_for_build_wheel(config_settings), PYSPARK]


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    subprocess.run(["sh", "jvm-stubs/build"], env={**_environment(), "PYTHON": sys.executable}, check=True)
    shutil.rmtree("build/lib", ignore_errors=True)  # setuptools never forgets a file that it once copied there
    return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))


def _environment() -> dict[str, str]:
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        sys.exit("The jar needs Java 17 or 21 to be built: set JAVA_HOME, or put java on the PATH.")
    return dict(os.environ)
