"""What differs between versions of Spark: each version has the same files. That they fit, the compiler says."""

from pathlib import Path

VERSIONS = Path(__file__).parents[2] / "jvm-stubs" / "versions"
SUPPORTED = ("4.0", "4.1", "4.2")


def test_each_version_has_the_same_files_and_each_once() -> None:
    named = {version: sorted(file.name for file in VERSIONS.glob(f"*{version}*/*")) for version in SUPPORTED}
    for version in SUPPORTED:
        assert named[version] == named["4.2"], version
        assert len(set(named[version])) == len(named[version]), version


def test_a_folder_is_named_after_its_versions() -> None:
    folders = [folder.name for folder in VERSIONS.iterdir()]
    assert {version for folder in folders for version in folder.split("-")} == set(SUPPORTED)
