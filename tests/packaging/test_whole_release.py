"""A release of the commit that is checked out: the same bytes twice, and used as its users do, on each Spark."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pyspark import __version__ as SPARK
from spark_colocate.session import BROUGHT_BY_SPARK, CATALOG, DELTA_EXTENSION, DELTA_PACKAGE, EXTENSION
from spark_colocate.support.spark_version import minor_of

from tests.spark.sessions import ROOT, run_bare, small_options
from tools.release.__main__ import make
from tools.release.build import Commit
from tools.sparks import project_version, sparks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]

VERSION = project_version()
QUICKSTART = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
SETTINGS_ALONE = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]")
for key, value in json.loads(sys.argv[2]).items():
    builder.config(key, value)
spark = builder.getOrCreate()
spark.sql("CREATE TABLE t (k INT) USING delta CLUSTERED BY (k) INTO 2 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')")
spark.sql("INSERT INTO t VALUES (1), (2)")
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
spark.sql("SELECT * FROM t JOIN t u USING (k)").explain()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("release")


@pytest.fixture(scope="module")
def release(folder: Path) -> Path:
    return made(folder, "first")


def made(folder: Path, name: str) -> Path:
    """A release, compiled in a folder of its own."""
    found = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%H %ct"], stdout=subprocess.PIPE, check=True)
    commit, epoch = found.stdout.decode().split()
    target = folder / name
    target.mkdir()
    make(folder / f"tree of {name}", target, Commit(commit, int(epoch)))
    return target


def test_two_releases_of_a_commit_have_the_same_bytes(release: Path, folder: Path) -> None:
    again = made(folder, "second")
    assert (again / "SHA256SUMS").read_text() == (release / "SHA256SUMS").read_text()


def test_the_wheel_has_a_jar_for_each_spark(release: Path) -> None:
    (wheel,) = release.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        jars = sorted(Path(name).name for name in opened.namelist() if name.endswith(".jar"))
        assert jars == [f"spark-colocate_{minor}_2.13.jar" for minor in sparks()]
        for jar in jars:
            with zipfile.ZipFile(opened.open(f"spark_colocate/jars/{jar}")) as ours:
                version = ours.read("io/colocate/conf/spark.version").decode()
                assert sparks()[jar.split("_")[1]] == version
                assert ours.read("io/colocate/conf/build").decode().startswith(f"{VERSION} for Spark {version} and")


@pytest.mark.parametrize("spark", sparks().values())
def test_the_wheel_runs_the_quickstart_in_an_empty_environment(release: Path, tmp_path: Path, spark: str) -> None:
    (wheel,) = release.glob("*.whl")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(wheel), f"pyspark=={spark}"], check=True)
    left_out = ("PYTHONPATH", "SPARK_HOME", "SPARK_COLOCATE_DELTA_JARS")
    environment = {key: value for key, value in os.environ.items() if key not in left_out}
    assert QUICKSTART
    command = [str(venv / "bin" / "python"), "-c", QUICKSTART[1] + "print(joined.collect(), spark.version)"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-4000:]
    assert "colocate: true (group default.sales, 8 buckets)" in ran.stdout
    assert f"[Row(count(1)=80000)] {spark}" in ran.stdout


def test_settings_alone_work_with_packages_of_the_maven_layout(release: Path, tmp_path: Path) -> None:
    ours = f"io.colocate:spark-colocate_{minor_of(SPARK)}_2.13:{VERSION}"
    options = small_options(tmp_path) | {
        "spark.jars.packages": f"{ours},{DELTA_PACKAGE}",
        "spark.jars.repositories": (release / "maven").as_uri(),
        "spark.jars.excludes": ",".join(BROUGHT_BY_SPARK),
        "spark.jars.ivy": str(tmp_path / "ivy"),
        "spark.sql.extensions": f"{EXTENSION},{DELTA_EXTENSION}",
        "spark.sql.catalog.spark_catalog": CATALOG,
    }
    ran = run_bare(SETTINGS_ALONE, tmp_path, json.dumps(options)).ok()
    assert "colocate: true (group default.g, 2 buckets)" in ran.out
