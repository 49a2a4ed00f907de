"""Which Spark a session would run on, and which jar fits it."""

from pathlib import Path

import pyspark
import pytest
from spark_colocate import session
from spark_colocate.support.spark_version import minor_of, spark_version


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a distribution of Spark 4.1.4, which SPARK_HOME names."""
    folder = tmp_path / "spark"
    (folder / "jars").mkdir(parents=True)
    (folder / "jars" / "spark-core_2.13-4.1.4.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(folder))
    return folder


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of our jars, with those for 4.1 and 4.2."""
    folder = tmp_path / "ours"
    folder.mkdir()
    for minor in ("4.1", "4.2"):
        (folder / f"spark-colocate_{minor}_2.13.jar").touch()
    monkeypatch.setattr(session, "_jars", lambda: folder)
    return folder


def test_without_a_distribution_it_is_pysparks_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert spark_version() == pyspark.__version__
    assert minor_of("4.10.2") == "4.10"


def test_the_distribution_in_spark_home_counts_more_than_pyspark(home: Path) -> None:
    assert spark_version() == "4.1.4"


def test_a_home_without_spark_is_left_to_spark(home: Path) -> None:
    (home / "jars" / "spark-core_2.13-4.1.4.jar").unlink()
    assert spark_version() == pyspark.__version__


def test_the_jar_is_that_of_the_spark_in_use(jars: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert session.supported_sparks() == ["4.1", "4.2"]
    assert session.jar_path() == jars / "spark-colocate_4.1_2.13.jar"
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setattr(pyspark, "__version__", "4.2.7")
    assert session.jar_path() == jars / "spark-colocate_4.2_2.13.jar"
