"""What differs between versions of Spark: each version has the same files. That they fit, the compiler says."""

from pathlib import Path

from spark_colocate.support.spark_version import minor_of

ROOT = Path(__file__).parents[2]
VERSIONS = ROOT / "jvm-stubs" / "versions"
SUPPORTED = tuple(minor_of(line) for line in (ROOT / "tools" / "spark_versions.txt").read_text().split())


def test_each_version_has_the_same_files_and_each_once() -> None:
    named = {version: sorted(file.name for file in VERSIONS.glob(f"*{version}*/*")) for version in SUPPORTED}
    for version in SUPPORTED:
        assert named[version] == named["4.2"], version
        assert len(set(named[version])) == len(named[version]), version


def test_a_folder_is_named_after_its_versions() -> None:
    folders = [folder.name for folder in VERSIONS.iterdir()]
    assert {version for folder in folders for version in folder.split("-")} == set(SUPPORTED)
