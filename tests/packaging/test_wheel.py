"""The wheel: built from the checkout, installed elsewhere, and used by a session that knows nothing of the checkout."""

import io
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pyspark import __version__ as SPARK
from spark_colocate.support.spark_version import minor_of

from tests.spark.sessions import QUICK_DRIVER, ROOT, WRONG_PLANNERS

MINOR = minor_of(SPARK)
JAR = f"spark-colocate_{MINOR}_2.13.jar"

SESSION = """
import sys
import spark_colocate
from pyspark.sql import SparkSession
assert spark_colocate.__file__.startswith(sys.prefix), spark_colocate.__file__
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder.config("spark.driver.memory", "512m").config("spark.sql.warehouse.dir", sys.argv[1])
builder.config("spark.sql.catalogImplementation", "in-memory")
spark = spark_colocate.configure(builder).getOrCreate()
spark.sql(
    "CREATE TABLE t (k INT, v INT) USING delta CLUSTERED BY (k) INTO 2 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
)
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
spark.sql("INSERT INTO t VALUES (1, 2), (3, 4)")
print(spark.table("t").count())
print([verdict.colocated for verdict in spark_colocate.verdicts(spark.sql("SELECT * FROM t JOIN t u USING (k)"))])
"""


# Words of the test jar: settings, packages, bugs.
TESTING = (b"spark.colocate.testing.", b"colocate/testing", b"lanted", b"extended_side_split")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    # Of the versions of Spark only this one: test_whole_release.py has them all.
    subprocess.run([*command, "--config-settings", f"sparks={MINOR}", str(ROOT)], check=True)
    (built,) = folder.glob("spark_colocate-*.whl")
    return built


def test_it_carries_jar_catalogues_migrations_and_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (f"jars/{JAR}", "conf/settings.json", "conf/reasons.json", "py.typed"):
        assert f"spark_colocate/{wanted}" in names
    in_source = {path.name for path in (ROOT / "python/spark_colocate/store/migrations").rglob("*.py")}
    assert in_source
    assert in_source <= {Path(name).name for name in names if "/migrations/" in name}
    strangers = [name for name in names if not name.startswith(("spark_colocate/", "spark_colocate-"))]
    assert not strangers


def test_it_brings_the_command_colocate(wheel: Path) -> None:
    opened = zipfile.ZipFile(wheel)
    (entries,) = [name for name in opened.namelist() if name.endswith(".dist-info/entry_points.txt")]
    assert b"colocate = spark_colocate.faces.cli.main:run" in opened.read(entries)
    (needs,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
    needed = [line for line in opened.read(needs).decode().splitlines() if line.startswith("Requires-Dist: ")]
    always = {Requirement(line.partition(" ")[2]).name for line in needed if "extra ==" not in line}
    assert "typer" in always and not always & {"fastapi", "uvicorn", "limits"}


def test_no_planted_bug_is_shipped(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as outer:
        jars = [name for name in outer.namelist() if name.endswith(".jar")]
        assert f"spark_colocate/jars/{JAR}" in jars
        shipped = _content(outer.read(f"spark_colocate/jars/{JAR}"))
    testing = _content(Path(WRONG_PLANNERS["spark.jars"]).read_bytes())
    assert not shipped.keys() & testing.keys()
    # No other class of the project's stands behind the door for tests, and no words of theirs are left.
    door = "META-INF/services/org.apache.spark.sql.colocate.compat.TestHook"
    assert door in testing and door not in shipped
    told = {name for name, words in shipped.items() if any(mark in words for mark in TESTING)}
    assert not told
    assert all(any(mark in words for words in testing.values()) for mark in TESTING)


def _content(jar: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(jar)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_installed_in_a_fresh_environment_it_runs_a_colocated_join(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    site = next(venv.glob("lib/python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    # What the package needs comes from this environment: an editable install is found by a hook, which a .pth skips.
    (site / "needs.pth").write_text(sysconfig.get_path("purelib") + "\n")
    environment = {key: value for key, value in {**os.environ, **QUICK_DRIVER}.items() if key != "PYTHONPATH"}
    command = [str(python), "-c", SESSION, str(tmp_path / "warehouse")]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr[-4000:]
    assert ran.stdout.splitlines()[:1] == ["2"]
    assert "True" in ran.stdout.splitlines()[1]
