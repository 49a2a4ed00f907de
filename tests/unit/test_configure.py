"""configure(): what the builder holds afterwards. No JVM is started."""

import zipfile
from pathlib import Path

import pyspark
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession
from spark_colocate import session
from spark_colocate.session import CATALOG, DELTA_EXTENSION, DELTA_PACKAGE, EXTENSION, configure, jar_path

DELTA_JARS = "SPARK_COLOCATE_DELTA_JARS"


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> SparkSession.Builder:
    monkeypatch.setattr(SparkContext, "_gateway", None)  # another test's session may run in this process
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    return SparkSession.Builder()


def write_jar(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("a", "b")


def options(builder: SparkSession.Builder) -> dict[str, str]:
    return dict(builder._options)


def test_it_sets_jar_extensions_and_catalog_and_lets_spark_fetch_delta(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DELTA_JARS, raising=False)
    assert configure(builder) is builder
    found = options(builder)
    assert found["spark.jars"] == str(jar_path())
    assert found["spark.jars.packages"] == DELTA_PACKAGE
    assert "org.apache.hadoop:*" in found["spark.jars.excludes"].split(",")
    assert found["spark.sql.extensions"] == f"{EXTENSION},{DELTA_EXTENSION}"
    assert found["spark.sql.catalog.spark_catalog"] == CATALOG


def test_delta_jars_of_a_folder_are_used_as_they_are(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_jar(tmp_path / "delta.jar")
    monkeypatch.setenv(DELTA_JARS, str(tmp_path))
    found = options(configure(builder))
    assert found["spark.jars"] == f"{jar_path()},{tmp_path / 'delta.jar'}"
    assert "spark.jars.packages" not in found


def test_an_empty_folder_of_delta_jars_is_told(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(DELTA_JARS, str(tmp_path))
    with pytest.raises(FileNotFoundError, match="holds no jar"):
        configure(builder)


def test_a_jar_that_is_cut_off_is_named_before_any_jvm_starts(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_jar(tmp_path / "whole.jar")
    (tmp_path / "delta.jar").write_bytes((tmp_path / "whole.jar").read_bytes()[:-10])
    monkeypatch.setenv(DELTA_JARS, str(tmp_path))
    with pytest.raises(RuntimeError, match=r"delta\.jar is not a whole jar: .* Delete it, and fetch or"):
        configure(builder)
    assert "spark.jars" not in options(builder)


def test_delta_for_another_spark_is_refused_with_both_versions(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_jar(tmp_path / "io.delta_delta-spark_3.9_2.13-4.4.0.jar")
    monkeypatch.setenv(DELTA_JARS, str(tmp_path))
    with pytest.raises(RuntimeError, match=r"is Delta for Spark 3\.9, and this is Spark 4\.\d\. Put the jars of"):
        configure(builder)


@pytest.mark.parametrize("home", [None, "/none"])
def test_a_machine_without_java_is_told_what_to_install(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str | None
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(RuntimeError, match=r"Spark needs Java 17 or 21, and JAVA_HOME is .*Install one") as error:
        configure(builder)
    assert "\n" not in str(error.value)


def test_without_delta_nothing_of_delta_is_set(builder: SparkSession.Builder) -> None:
    found = options(configure(builder, delta=False))
    assert found["spark.sql.extensions"] == EXTENSION
    assert "spark.jars.packages" not in found


def test_what_the_builder_held_is_kept_and_ours_is_asked_first(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DELTA_JARS, raising=False)
    builder.config("spark.jars", "/a.jar").config("spark.jars.packages", "org.x:y:1")
    builder.config("spark.sql.extensions", f"org.x.Mine,{DELTA_EXTENSION}")
    found = options(configure(builder))
    assert found["spark.jars"] == f"/a.jar,{jar_path()}"
    assert found["spark.jars.packages"] == f"org.x:y:1,{DELTA_PACKAGE}"
    assert found["spark.sql.extensions"] == f"{EXTENSION},{DELTA_EXTENSION},org.x.Mine"


def test_configuring_twice_is_configuring_once(builder: SparkSession.Builder) -> None:
    once = options(configure(builder))
    assert options(configure(builder)) == once


def test_another_spark_is_told_in_one_line_and_gets_no_settings(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(pyspark, "__version__", "4.9.1")
    with pytest.warns(RuntimeWarning, match=r"no jar for Spark 4\.9\.1, only for .*4\.2") as told:
        assert configure(builder) is builder
    assert not options(builder)
    (warning,) = told
    assert "\n" not in str(warning.message)
    assert warning.filename == __file__


def test_a_jar_that_was_not_built_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "_jars", lambda: tmp_path)
    with pytest.raises(FileNotFoundError, match=r"_2\.13\.jar is missing\. Build it with `./run jar`"):
        configure(SparkSession.Builder())


def test_a_client_of_a_connect_server_is_told_where_the_settings_belong(builder: SparkSession.Builder) -> None:
    with pytest.raises(RuntimeError, match="client of the Spark Connect server sc://localhost"):
        configure(builder.remote("sc://localhost"))
    assert "spark.jars" not in options(builder)


def test_rules_are_left_out_for_the_application() -> None:
    builder = configure(SparkSession.Builder(), delta=False, without_rules=["SpreadJoins", "FuseHashJoins"])
    assert builder._options["spark.colocate.rules.excluded"] == "SpreadJoins,FuseHashJoins"
    assert "spark.colocate.rules.excluded" not in configure(SparkSession.Builder(), delta=False)._options
    with pytest.raises(ValueError, match="it is needed for more than speed"):
        configure(SparkSession.Builder(), without_rules=["KeepTaskDependentValues"])


def test_a_rule_that_there_is_not_names_the_one_that_was_meant() -> None:
    with pytest.raises(ValueError, match=r"no rule SpreadJoin\. Did you mean SpreadJoins\?"):
        configure(SparkSession.Builder(), without_rules=["SpreadJoin"])
