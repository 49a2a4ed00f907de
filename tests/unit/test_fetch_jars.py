"""The folder of jars for servers: of this project and Delta, those for one Spark, and whole."""

import zipfile
from pathlib import Path

import pytest
from spark_colocate import fetch_jars
from spark_colocate.support.spark_version import minor_of, spark_version

MINOR = minor_of(spark_version())


def write_jar(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("a", path.name)
    return path


@pytest.fixture
def deltas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that SPARK_COLOCATE_DELTA_JARS names; our jar is in another one."""
    (tmp_path / "ours").mkdir()
    ours = write_jar(tmp_path / "ours" / f"spark-colocate_{MINOR}_2.13.jar")
    monkeypatch.setattr(fetch_jars, "jar_path", lambda: ours)
    folder = tmp_path / "delta"
    folder.mkdir()
    write_jar(folder / f"delta-spark_{MINOR}_2.13-4.4.0.jar")
    monkeypatch.setenv("SPARK_COLOCATE_DELTA_JARS", str(folder))
    return folder


def test_jars_for_another_spark_make_room_and_jars_of_others_stay(deltas: Path, tmp_path: Path) -> None:
    target = tmp_path / "jars"
    target.mkdir()
    for name in ("spark-colocate_3.9_2.13.jar", "io.delta_delta-spark_3.9_2.13-4.4.0.jar", "theirs.jar"):
        write_jar(target / name)
    fetch_jars.fetch(target)
    wanted = ["theirs.jar", f"delta-spark_{MINOR}_2.13-4.4.0.jar", f"spark-colocate_{MINOR}_2.13.jar"]
    assert sorted(jar.name for jar in target.iterdir()) == sorted(wanted)
    assert all(zipfile.is_zipfile(jar) for jar in target.iterdir())


def test_the_folder_that_deltas_jars_come_from_can_get_ours_too(deltas: Path) -> None:
    fetch_jars.fetch(deltas)
    wanted = [f"delta-spark_{MINOR}_2.13-4.4.0.jar", f"spark-colocate_{MINOR}_2.13.jar"]
    assert sorted(jar.name for jar in deltas.iterdir()) == wanted


def test_a_jar_that_is_cut_off_is_refused_and_nothing_is_removed(deltas: Path, tmp_path: Path) -> None:
    target = tmp_path / "jars"
    target.mkdir()
    write_jar(target / "spark-colocate_3.9_2.13.jar")
    (cut,) = deltas.iterdir()
    cut.write_bytes(cut.read_bytes()[:-5])
    with pytest.raises(RuntimeError, match="is not a whole jar"):
        fetch_jars.fetch(target)
    assert [jar.name for jar in target.iterdir()] == ["spark-colocate_3.9_2.13.jar"]


def test_delta_for_another_spark_is_refused(deltas: Path, tmp_path: Path) -> None:
    write_jar(deltas / "delta-spark_3.9_2.13-4.4.0.jar")
    with pytest.raises(RuntimeError, match=r"is Delta for Spark 3\.9, and this is Spark"):
        fetch_jars.fetch(tmp_path / "jars")
