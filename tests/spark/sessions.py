"""Sessions for tests: the shared one's settings, and subprocesses for a test that needs another set-up."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession
from spark_colocate.session import CATALOG, DELTA_EXTENSION, EXTENSION, configure, delta_jars, jar_path
from spark_colocate.support.spark_version import minor_of

ROOT = Path(__file__).parents[2]
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else Spark's Python workers are the system's
TIMEOUT = 300

# Of Spark's classes (tests/class_archive.py). Where it is missing or does not fit, the JVM says nothing and goes on.
ARCHIVE = ROOT / "build" / f"shared-classes-{pyspark.__version__}.jsa"
SHARED_CLASSES = f"-XX:SharedArchiveFile={ARCHIVE} -Xlog:disable -Xlog:all=error:stderr"

# A jar before Spark's own (tests/hadoop_defaults.py). Sessions that do without it also do without the archive.
HADOOP_DEFAULTS = ROOT / "build" / f"hadoop-defaults-{pyspark.__version__}.jar"

# Of the processes that are still started, each takes half the time this way.
CHEAP_PROCESSES = "-Djdk.lang.Process.launchMechanism=VFORK"

# The compiler of hot code takes a third of the CPU of a session of tiny queries: it waits six times as long as usual.
LATE_COMPILER = (
    "-XX:Tier4InvocationThreshold=30000 -XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=60000 "
    "-XX:Tier4BackEdgeThreshold=240000"
)

# Hundreds of tiny queries: starting parallel collectors is for nothing, and the code cache of 48 MB that some JVMs have
# fills up, and then everything is interpreted.
JVM = f"-XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -XX:NewRatio=1 {CHEAP_PROCESSES} {SHARED_CLASSES}"

# Of a heap of 2 GiB: what a query leaves behind is collected a third as often.
LARGE_NURSERY = "-Xmn1200m"
STEADY_JVM = f"{LATE_COMPILER} {JVM} {LARGE_NURSERY}"

# A session of a minute ends before the compiler of hot code has paid; one of an hour takes a fifth less CPU with it.
QUICK_JVM = f"-XX:TieredStopAtLevel=1 {JVM}"

# The environment of a driver that sets itself up, as a user's does. Delta's 50 tasks for each table's log take longest.
QUICK_DRIVER = {
    "JDK_JAVA_OPTIONS": QUICK_JVM,
    "PYSPARK_SUBMIT_ARGS": "--conf spark.databricks.delta.snapshotPartitions=1 "
    f"--conf spark.driver.extraClassPath={HADOOP_DEFAULTS} pyspark-shell",
}

# tests/spark/surroundings/test_under_hive.py runs modules a second time, under the other catalog.
CATALOG_OF_TESTS = "COLOCATE_TEST_CATALOG"

# The mutant of tests/mutants that is switched on; inherited by all processes of a test.
MUTANT = "COLOCATE_MUTANT"

SMALL = {
    "spark.driver.memory": "2g",
    "spark.driver.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.executor.extraClassPath": str(HADOOP_DEFAULTS),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # What no page shows need not be told in full.
    "spark.sql.ui.explainMode": "simple",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.catalogImplementation": os.environ.get(CATALOG_OF_TESTS, "in-memory"),
    "spark.databricks.delta.snapshotPartitions": "1",
    # Spark keeps the last 100 pieces of code that it compiled: one test's queries push out what the next one needs.
    "spark.sql.codegen.cache.maxEntries": "5000",
    # Code that does not compile fails its query, instead of giving the right rows from operators that need no code.
    "spark.sql.codegen.fallback": "false",
    # A rewrite of ours that fails, fails its query, instead of leaving the plan to Spark.
    "spark.colocate.testing": "true",
}

# For a session whose planner can be made wrong, and its rules made to fail: jvm-stubs/testing, by these settings.
PLANTED_BUG = "spark.colocate.testing.plantedBug"
FAULT = "spark.colocate.testing.fault"
DROPPED_RULES = "spark.colocate.testing.droppedRules"
WRONG_PLANNERS = {
    "spark.jars": str(ROOT / "build" / f"spark-colocate-testing_{minor_of(pyspark.__version__)}_2.13.jar"),
    "spark.sql.extensions": "org.apache.spark.sql.colocate.testing.WrongPlanners",
}

# Where many statements change a few rows, to compile their code takes longer than to run it.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@dataclass(frozen=True)
class Ran:
    """What a subprocess did. out and err are its whole texts."""

    code: int
    out: str
    err: str

    def ok(self) -> "Ran":
        assert self.code == 0, f"exit {self.code}\n{self.out[-3000:]}\n{self.err[-5000:]}"
        return self

    @property
    def all(self) -> str:
        return self.out + self.err


def small_options(folder: Path, jvm: str = QUICK_JVM) -> dict[str, str]:
    """Settings of a small local session whose files all lie in `folder`."""
    return {
        **SMALL,
        **_mutant(),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.extraJavaOptions": f"{jvm} -Dderby.system.home={folder / 'derby'}",
        "spark.colocate.python": sys.executable,
    }


def _mutant() -> dict[str, str]:
    """What makes a session one with the mutant that `./run mutants` runs a test with."""
    settings = mutant_settings(os.environ.get(MUTANT, ""))
    return settings | {"spark.jars": WRONG_PLANNERS["spark.jars"]} if settings else {}


def mutant_settings(mutant: str) -> dict[str, str]:
    """Those that switch a mutant of the JVM on; none for other kinds."""
    kind, _, name = mutant.partition(":")
    match kind:
        case "rule":
            return {DROPPED_RULES: name}
        case "bug":
            return {PLANTED_BUG: name, "spark.colocate.testing": "quiet"}
        case _:
            return {}


def builder(
    folder: Path, conf: Mapping[str, str] | None = None, jvm: str = QUICK_JVM, without_rules: Iterable[str] = ()
) -> SparkSession.Builder:
    """The builder of every test session, configured as a user would: by `spark_colocate.configure`."""
    made = SparkSession.builder.master("local[2]").appName("test")
    for key, value in {**small_options(folder, jvm), **(conf or {})}.items():
        made.config(key, value)
    return configure(made, without_rules=without_rules)


def plain_options(folder: Path, delta: bool = True) -> dict[str, str]:
    """What a user types who does not import our package: jars, extensions, catalog."""
    extensions = [EXTENSION, DELTA_EXTENSION] if delta else [EXTENSION]
    small = small_options(folder)
    jars = [str(jar_path()), *(delta_jars() if delta else []), small.get("spark.jars", "")]
    return {
        **small,
        "spark.jars": ",".join(filter(None, jars)),
        "spark.sql.extensions": ",".join(extensions),
        "spark.sql.catalog.spark_catalog": CATALOG,
    }


def run_python(code: str, folder: Path, conf: Mapping[str, str] | None = None, timeout: int = TIMEOUT) -> Ran:
    """Runs `code` in a fresh Python in which `spark` is a session of its own. conf adds to the small options."""
    head = (
        "import json, sys\nfrom pathlib import Path\nfrom tests.spark.sessions import builder\n"
        "spark = builder(Path(sys.argv[1]), json.loads(sys.argv[2])).getOrCreate()\n"
    )
    return run_bare(head + code, folder, json.dumps(dict(conf or {})), timeout=timeout)


def run_bare(code: str, folder: Path, *args: str, timeout: int = TIMEOUT) -> Ran:
    """Runs `code` in a fresh Python, which makes its own session or none; sys.argv[1] is the folder."""
    return _run([sys.executable, "-c", code, str(folder), *args], folder, timeout)


def run_spark_sql(
    sql: str, folder: Path, conf: Mapping[str, str] | None = None, delta: bool = True, timeout: int = TIMEOUT
) -> Ran:
    """Runs statements in the `spark-sql` command line, the plain way. conf adds to, or overrides, the plain options."""
    script = folder / "script.sql"
    folder.mkdir(parents=True, exist_ok=True)
    script.write_text(sql)
    home = Path(pyspark.__file__).parent
    options = {**plain_options(folder, delta), **(conf or {})}
    flags = [part for key, value in options.items() for part in ("--conf", f"{key}={value}")]
    return _run([str(home / "bin" / "spark-sql"), "--master", "local[2]", *flags, "-f", str(script)], folder, timeout)


def _run(command: list[str], folder: Path, timeout: int) -> Ran:
    folder.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(ROOT), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": _spark_home()}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def _spark_home() -> str:
    return str(Path(pyspark.__file__).parent)
