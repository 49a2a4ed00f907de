"""Configures a SparkSession builder: our jar, Delta's jars, the extensions and the catalog."""

import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from spark_colocate import captured
from spark_colocate.bridge.driver import add_to_driver, has_driver, is_running, refuse_other_drivers, resolve
from spark_colocate.bridge.prerequisites import require_delta_for, require_java, require_whole_jars
from spark_colocate.bridge.secrets_of_settings import take_out
from spark_colocate.catalogues.rules import excluded
from spark_colocate.support.spark_version import minor_of, spark_version

DELTA_VERSION = "4.4.0"
# Delta makes a package for each minor version of Spark.
DELTA_PACKAGE = f"io.delta:delta-spark_{minor_of(spark_version())}_2.13:{DELTA_VERSION}"
EXTENSION = "io.colocate.spark.ColocateExtensions"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG = "io.colocate.spark.ColocateCatalog"

# Delta's POM names libraries that Spark itself brings, in other versions: neither fetched nor put beside Spark's.
BROUGHT_BY_SPARK = (
    "org.apache.hadoop:*",
    "org.apache.parquet:*",
    "org.apache.logging.log4j:*",
    "org.slf4j:*",
    "org.roaringbitmap:*",
    "com.fasterxml.jackson.core:*",
    "com.fasterxml.jackson.datatype:*",
    "com.google.code.findbugs:*",
    "javax.annotation:*",
    "org.openapitools:*",
)


def configure(
    builder: SparkSession.Builder, delta: bool = True, without_rules: Iterable[str] = ()
) -> SparkSession.Builder:
    """Returns `builder` with everything set that colocation needs; what it already holds is kept and added to.

    builder: a `SparkSession.builder` on which `getOrCreate` has not been called.
    delta: also bring Delta Lake. Its jars come from the folder that `SPARK_COLOCATE_DELTA_JARS` names, else Spark
        fetches them by `spark.jars.packages`. With False, native tables (Parquet, ORC) alone can be members.
    without_rules: names of planning rules that this application does without; `spark_colocate.rules()` lists them.

    Where this process has a driver's JVM already (`spark-submit script.py`, a notebook whose session was stopped), the
    jars are given to that JVM. Executors get every jar that the driver has, wherever it came from.

    A password in `spark.colocate.store`, and `spark.colocate.acl.token`, are taken out of the settings, which Spark
    would show, and put into the environment.

    On a version of Spark that there is no jar for, a warning says so, and the session has stock Spark's settings.

    Raises ValueError for a rule that does not exist or can't be excluded, and for a secret that can't be taken out
    since the JVM runs already; RuntimeError when a session without colocation runs in this process, for a Spark Connect
    client, whose server needs the settings, without Java, for a jar that is cut off, and for Delta's jars of another
    Spark; FileNotFoundError when no jar was built.
    """
    refuse_other_drivers(builder._options.get("spark.remote"), EXTENSION)
    if not is_running():
        take_out(builder._options, has_driver())
    if _is_other_spark():
        return builder
    # A path as it was typed would be looked for in another folder, once the driver has changed its own.
    os.environ.setdefault("COLOCATE_DRIVER_PYTHON", sys.executable)
    captured.install()
    wanted = _extensions(builder._options.get("spark.sql.extensions", ""), delta)
    builder.config("spark.sql.extensions", wanted).config("spark.sql.catalog.spark_catalog", CATALOG)
    without = excluded(list(without_rules))
    if without:
        builder.config("spark.colocate.rules.excluded", without)
    jars = [str(jar_path()), *(delta_jars() if delta else [])]
    require_whole_jars(jars)
    require_delta_for(minor_of(spark_version()), jars)
    fetched = delta and len(jars) == 1
    if is_running():
        return builder
    if has_driver():
        add_to_driver([*jars, *(resolve(DELTA_PACKAGE, BROUGHT_BY_SPARK) if fetched else [])])
        return builder
    require_java()
    if fetched:
        _merge(builder, "spark.jars.packages", [DELTA_PACKAGE])
        _merge(builder, "spark.jars.excludes", BROUGHT_BY_SPARK)
    return _merge(builder, "spark.jars", jars)


def jar_path() -> Path:
    """The jar with the JVM part that fits the Spark of this process, as the wheel or `./run jar` put it.

    Raises FileNotFoundError when there is none.
    """
    jar = _jars() / f"spark-colocate_{minor_of(spark_version())}_2.13.jar"
    if not jar.is_file():
        raise FileNotFoundError(f"{jar} is missing. Build it with `./run jar`, or install the wheel, which carries it.")
    return jar


def supported_sparks() -> list[str]:
    """The minor versions of Spark that there are jars for, such as `["4.1", "4.2"]`."""
    found = (jar.name.split("_")[1] for jar in _jars().glob("spark-colocate_*_2.13.jar"))
    return sorted(found, key=lambda minor: [int(part) for part in minor.split(".")])


def delta_jars() -> list[str]:
    """Delta's jars in the folder that `SPARK_COLOCATE_DELTA_JARS` names, sorted; empty when it is not set."""
    folder = os.environ.get("SPARK_COLOCATE_DELTA_JARS")
    if not folder:
        return []
    jars = sorted(str(jar) for jar in Path(folder).glob("*.jar"))
    if not jars:
        raise FileNotFoundError(f"SPARK_COLOCATE_DELTA_JARS names {folder}, which holds no jar. Unset it, or fill it.")
    return jars


def _extensions(present: str, delta: bool) -> str:
    """Ours first: Delta's strategy would plan its scans before ours is asked. Then the user's own, in their order."""
    others = [name.strip() for name in present.split(",") if name.strip()]
    wanted = [EXTENSION, *([DELTA_EXTENSION] if delta else []), *others]
    return ",".join(dict.fromkeys(wanted))


def _merge(builder: SparkSession.Builder, key: str, values: Iterable[str]) -> SparkSession.Builder:
    present = [value for value in builder._options.get(key, "").split(",") if value]
    return builder.config(key, ",".join(dict.fromkeys([*present, *values])))


def _is_other_spark() -> bool:
    """True, with a warning, on a version of Spark that there is no jar for. Without any jar, jar_path says it."""
    found, supported = spark_version(), supported_sparks()
    if not supported or minor_of(found) in supported:
        return False
    warnings.warn(
        f"spark-colocate has no jar for Spark {found}, only for {', '.join(supported)}: this session runs without "
        f"colocation. Install a PySpark of one of these versions, such as `pip install 'pyspark~={supported[-1]}.0'`.",
        RuntimeWarning,
        stacklevel=3,
    )
    return True


def _jars() -> Path:
    return Path(__file__).with_name("jars")
