"""The versions of Spark that the wheel has a jar for, and a PySpark of each, to compile that jar with."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def sparks(tree: Path = ROOT) -> dict[str, str]:
    """The version that the jar of each minor version is compiled against: `{"4.2": "4.2.0"}`."""
    versions = (tree / "tools" / "spark_versions.txt").read_text(encoding="utf-8").split()
    return {".".join(version.split(".")[:2]): version for version in versions}


def project_version(tree: Path = ROOT) -> str:
    """The version of spark-colocate."""
    return str(tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def pyspark_folder(version: str, below: Path) -> Path:
    """The folder, for PYTHONPATH, that has this PySpark and what it needs. pip fetches it, once.

    below: the folder that the folder is in.
    """
    folder = below / f"pyspark_{version}"
    if folder.is_dir():
        return folder
    print(f"run: fetching PySpark {version}, to compile the jar for it", file=sys.stderr)
    below.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=below) as made:
        _install(f"pyspark=={version}", Path(made, "whole"))
        shutil.move(Path(made, "whole"), folder)  # it has its name only when it is whole
    return folder


def _install(package: str, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*command, "--target", str(folder), package], check=False).returncode:
        sys.exit(f"run: pip could not fetch {package}; its message is above. Start again once it is mended.")
