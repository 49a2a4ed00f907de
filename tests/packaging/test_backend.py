"""Which jars a wheel is built with, and where each PySpark comes from. Nothing is compiled or fetched."""

from pathlib import Path

import pytest

from tools import backend
from tools import sparks as versions
from tools.sparks import pyspark_folder, sparks


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The minor versions whose jars were built, in a checkout that has that of 4.1."""
    made: list[str] = []
    monkeypatch.setattr(backend, "JARS", tmp_path)
    (tmp_path / "spark-colocate_4.1_2.13.jar").touch()
    monkeypatch.setattr(backend, "_build_jar", lambda minor, version, downloads: made.append(minor))
    return made


def test_a_wheel_gets_the_jars_of_all_versions(built: list[str], tmp_path: Path) -> None:
    backend.build_jars(tmp_path)
    assert built == list(sparks())


def test_with_one_version_only_jars_that_are_there_are_brought_up_to_date(built: list[str], tmp_path: Path) -> None:
    backend.build_jars(tmp_path, "4.2")
    assert built == ["4.1", "4.2"]


def test_a_version_that_there_is_no_jar_for_is_named(built: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"sparks is 5\.0, and there are jars for 4\.0, 4\.1, 4\.2\. Name one"):
        backend.build_jars(tmp_path, "5.0")
    assert built == []


def test_without_java_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(backend, "_installed", lambda: "4.2.0")
    with pytest.raises(SystemExit, match="set JAVA_HOME, or put java on the PATH"):
        backend._build_jar("4.2", "4.2.0", tmp_path)


def test_each_pyspark_is_fetched_once_and_half_of_one_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fetched = []

    def install(package: str, folder: Path) -> None:
        fetched.append(package)
        folder.mkdir()
        if len(fetched) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(versions, "_install", install)
    with pytest.raises(KeyboardInterrupt):
        pyspark_folder("4.1.4", tmp_path)
    assert list(tmp_path.iterdir()) == []
    folder = pyspark_folder("4.1.4", tmp_path)
    assert folder == pyspark_folder("4.1.4", tmp_path) and folder.is_dir()
    assert fetched == ["pyspark==4.1.4"] * 2
