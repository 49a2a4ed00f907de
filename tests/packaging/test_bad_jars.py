"""Jars that do not fit: each is told in one line that says what to do, and where queries can run, they run."""

import json
import re
import shutil
import zipfile
from pathlib import Path

from pyspark import __version__ as SPARK
from spark_colocate.session import DELTA_VERSION, delta_jars, jar_path
from spark_colocate.support.spark_version import minor_of

from tests.spark.sessions import Ran, plain_options, run_bare

PLAIN = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]")
for key, value in json.loads(sys.argv[2]).items():
    builder.config(key, value)
spark = builder.getOrCreate()
"""

# Each kind of statement that the session catalog is called for, on a format of Spark's and on Delta.
STATEMENTS = """
for format in ("parquet", "delta"):
    spark.sql(f"CREATE TABLE a (k INT, v INT) USING {format} TBLPROPERTIES ('colocate_with' = 'g')")
    spark.sql("INSERT INTO a VALUES (1, 2), (3, 4)")
    spark.sql(f"CREATE TABLE b USING {format} AS SELECT k + 1 AS k FROM a")
    spark.sql("ALTER TABLE a SET TBLPROPERTIES ('x' = 'y')")
    spark.sql("ALTER TABLE b RENAME TO c")
    print(format, [row.v for row in spark.sql("SELECT v FROM a JOIN c ON c.k = a.k + 1 ORDER BY v").collect()])
    spark.sql("DROP TABLE a")
    spark.sql("DROP TABLE c")
spark.sql("CREATE DATABASE d")
spark.sql("DROP DATABASE d CASCADE")
print([row.namespace for row in spark.sql("SHOW DATABASES").collect()], spark.sql("SHOW TABLES").count())
"""
OTHER_SPARK = "4.9.1"
MINOR = minor_of(SPARK)


def run(folder: Path, jars: list[Path], code: str = "print(spark.sql('SELECT 1').collect())") -> Ran:
    options = plain_options(folder) | {"spark.jars": ",".join(map(str, jars)), "spark.log.level": "WARN"}
    return run_bare(PLAIN + code, folder, json.dumps(options))


def deltas() -> list[Path]:
    return [Path(jar) for jar in delta_jars()]


def for_another_spark(folder: Path) -> Path:
    """Our jar as if it had been built for another Spark."""
    path = folder / f"spark-colocate_{minor_of(OTHER_SPARK)}_2.13.jar"
    with zipfile.ZipFile(jar_path()) as ours, zipfile.ZipFile(path, "w") as out:
        for name in ours.namelist():
            content = ours.read(name)
            is_version = name in ("io/colocate/conf/spark.version", "io/colocate/conf/build")
            out.writestr(name, content.replace(SPARK.encode(), OTHER_SPARK.encode()) if is_version else content)
    return path


def lines(ran: Ran, words: str) -> list[str]:
    return [line for line in ran.all.splitlines() if words in line]


def test_a_jar_for_another_spark_is_told_once_and_leaves_queries_alone(tmp_path: Path) -> None:
    code = STATEMENTS + "spark.newSession().sql('SELECT 1').collect()"
    ran = run(tmp_path, [for_another_spark(tmp_path), *deltas()], code).ok()
    (told,) = lines(ran, "spark-colocate")
    assert f"built for Spark {OTHER_SPARK}, and this is Spark {SPARK}: the session runs without colocation" in told
    assert told.endswith(f"Use the jar spark-colocate_{MINOR}_2.13, or Spark 4.9.")
    assert ran.out.splitlines() == ["parquet [2, 4]", "delta [2, 4]", "['default'] 0"]


def test_two_jars_of_ours_start_no_session(tmp_path: Path) -> None:
    other = for_another_spark(tmp_path)
    ran = run(tmp_path, [jar_path(), other, *deltas()])
    assert ran.code != 0
    (told,) = set(re.findall("Two different spark-colocate jars.*", ran.all))
    assert str(jar_path()) in told and str(other) in told
    assert f"for Spark {SPARK} and" in told and f"for Spark {OTHER_SPARK} and" in told
    assert told.endswith(f"Keep the one for Spark {SPARK}, and remove the other from spark.jars or the class path.")


def test_the_same_jar_by_two_ways_is_one(tmp_path: Path) -> None:
    copy = Path(shutil.copy(jar_path(), tmp_path / "copy.jar"))
    assert "[Row(1=1)]" in run(tmp_path, [jar_path(), copy, *deltas()]).ok().out


def test_delta_for_another_spark_is_told_with_the_package_that_fits(tmp_path: Path) -> None:
    (main,) = (jar for jar in deltas() if "delta-spark" in jar.name)
    renamed = Path(shutil.copy(main, tmp_path / main.name.replace(f"_{MINOR}_", "_4.9_")))
    ran = run(tmp_path, [jar_path(), renamed, *(set(deltas()) - {main})]).ok()
    (told,) = lines(ran, "was built for Spark 4.9")
    assert f"Delta {DELTA_VERSION} of this session was built for Spark 4.9, and this is Spark {SPARK}" in told
    assert told.endswith(f"Use io.delta:delta-spark_{MINOR}_2.13:{DELTA_VERSION}.")


def test_a_jar_that_is_cut_off_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jar"
    broken.write_bytes(jar_path().read_bytes()[:-1000])
    (told,) = lines(run(tmp_path, [jar_path(), broken, *deltas()]).ok(), "Not a whole jar")
    assert str(broken) in told and told.endswith("Delete it, and fetch it again.")
