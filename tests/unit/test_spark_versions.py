"""What differs between versions of Spark: each version has the same files. That they fit, the compiler says."""

import tomllib
from fnmatch import fnmatch

from packaging.requirements import Requirement

from tools.sparks import ROOT, sparks

VERSIONS = ROOT / "jvm-stubs" / "versions"
SUPPORTED = ("4.0", "4.1", "4.2")


def test_the_wheel_has_a_jar_for_each_and_takes_no_other_pyspark() -> None:
    assert tuple(sparks()) == SUPPORTED
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["spark_colocate"]
    (pyspark,) = (Requirement(text) for text in settings["project"]["dependencies"] if text.startswith("pyspark"))
    for minor in ("3.5", *SUPPORTED, "4.3"):
        assert pyspark.specifier.contains(f"{minor}.0") == (minor in SUPPORTED)
        packed = any(fnmatch(f"jars/spark-colocate_{minor}_2.13.jar", pattern) for pattern in patterns)
        assert packed == (minor in SUPPORTED)


def test_each_version_has_the_same_files_and_each_once() -> None:
    named = {version: sorted(file.name for file in VERSIONS.glob(f"*{version}*/*")) for version in SUPPORTED}
    for version in SUPPORTED:
        assert named[version] == named["4.2"], version
        assert len(set(named[version])) == len(named[version]), version


def test_a_folder_is_named_after_its_versions() -> None:
    folders = [folder.name for folder in VERSIONS.iterdir()]
    assert {version for folder in folders for version in folder.split("-")} == set(SUPPORTED)
