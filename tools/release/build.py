"""Builds wheel and sdist from a commit, in a folder that has nothing else."""

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tools.release.archives import same_tar, same_zip


@dataclass(frozen=True)
class Commit:
    """A commit. name: 40 hex digits. epoch: its time, in seconds since 1970."""

    name: str
    epoch: int


def head(checkout: Path) -> Commit:
    """The commit that is checked out. Exits where a file differs from it: the release would not be what it says."""
    changed = _git(checkout, "status", "--porcelain").decode()
    if changed:
        sys.exit(f"run: a release is made of a commit. Commit or remove the files that differ from it:\n{changed}")
    name, epoch = _git(checkout, "log", "-1", "--format=%H %ct").decode().split()
    return Commit(name, int(epoch))


def export(checkout: Path, commit: Commit, tree: Path) -> None:
    """Writes the files of a commit to the new folder `tree`."""
    tree.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(_git(checkout, "archive", commit.name))) as archive:
        archive.extractall(tree, filter="data")


def build(tree: Path, target: Path, downloads: Path, epoch: int) -> tuple[Path, Path]:
    """Builds the sdist, and the wheel out of the sdist, into `target`: returns sdist and wheel.

    downloads: where each PySpark and Delta's jars are kept, so that another release need not fetch them.
    """
    settings = {"SOURCE_DATE_EPOCH": str(epoch), "SPARK_COLOCATE_SPARKS": str(downloads)}
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(tree)]
    subprocess.run(command, env={**os.environ, **settings}, stdout=sys.stderr, check=True)
    (sdist,), (wheel,) = target.glob("*.tar.gz"), target.glob("*.whl")
    same_tar(sdist, epoch)
    same_zip(wheel, epoch)
    return sdist, wheel


def jars(wheel: Path) -> dict[str, bytes]:
    """The jars in a wheel, by the minor version of Spark that each is for."""
    with zipfile.ZipFile(wheel) as opened:
        return {name.split("_")[-2]: opened.read(name) for name in opened.namelist() if name.endswith(".jar")}


def _git(checkout: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(checkout), *arguments], stdout=subprocess.PIPE, check=True).stdout
