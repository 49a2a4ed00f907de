"""`./run fuzz`: random tables, layouts, changes, queries; on the layout, without it, on DuckDB. Rows must agree."""

import argparse
import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from pyspark.sql import SparkSession

from tests.fuzz import drivers, planted
from tests.fuzz.catalogue import KEYED
from tests.fuzz.runner import Fuzzer
from tests.spark.sessions import STEADY_JVM, WRONG_PLANNERS, builder

# Seeds draw the catalog.
CATALOG = "both"


def main() -> int:
    arguments = _arguments()
    # Collected timestamps are local ones: the zone must be the session's.
    os.environ["TZ"] = "UTC"
    time.tzset()
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="colocate-fuzz-")))
        conf = {**WRONG_PLANNERS, "spark.sql.catalogImplementation": _catalog(arguments)}
        if arguments.drivers == 2:
            conf = held.enter_context(drivers.shared(folder))
            arguments.second = held.enter_context(drivers.second(folder, conf))
        spark = builder(folder, conf, jvm=STEADY_JVM).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
        try:
            if arguments.planted:
                return planted.run(spark, arguments.planted, arguments.seed)
            if arguments.case is not None:
                return _again(spark, arguments)
            return _fuzz(spark, arguments)
        finally:
            spark.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="default: a random one, which is printed")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--world", type=int, default=0, help="with --case: where a difference was found")
    parser.add_argument("--case", type=int, help="run this case alone, as the report of a difference says")
    parser.add_argument("--planted", metavar="NAME", help="plant a bug, which must be found; `all` for each of them")
    parser.add_argument(
        "--catalog",
        choices=("in-memory", "hive", "both"),
        default=CATALOG,
        help="both: the seed decides; default: %(default)s",
    )
    parser.add_argument(
        "--key-models", metavar="SHARE", type=float, nargs="?", const=0.8, default=KEYED,
        help="how many Delta tables have AGGREGATE KEY or UNIQUE KEY; without a number %(const)s, default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--alter-properties", metavar="SHARE", type=float, nargs="?", const=0.5, default=0.0,
        help="how many changes are ALTER TABLE of properties that say what rows there are, which must be refused",
    )  # fmt: skip
    parser.add_argument(
        "--named-partitions", metavar="SHARE", type=float, nargs="?", const=0.5, default=0.0,
        help="how many reads of tables with range partitions name some of them: FROM t PARTITION (p)",
    )  # fmt: skip
    parser.add_argument(
        "--drivers", type=int, choices=(1, 2), default=1,
        help="2: another driver on the same tables and store makes every other change and load; under Hive alone",
    )  # fmt: skip
    arguments = parser.parse_args()
    arguments.second = None
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(10**6)
    return arguments


def _catalog(arguments: argparse.Namespace) -> str:
    drawn = random.Random(f"{arguments.seed} catalog").choice(("in-memory", "hive"))
    return drawn if arguments.catalog == "both" else str(arguments.catalog)


def _fuzz(spark: SparkSession, arguments: argparse.Namespace) -> int:
    print(f"seed {arguments.seed}, {arguments.minutes} minutes", flush=True)
    fuzzer = _fuzzer(spark, arguments)
    found = fuzzer.run(arguments.minutes * 60)
    if found:
        print(found)
        return 1
    print(fuzzer.coverage.table())
    print(f"seed {arguments.seed}: no difference; {fuzzer.coverage.summary()}")
    shortfalls = fuzzer.coverage.shortfalls()
    if shortfalls:
        print("too little was covered:", *shortfalls, sep="\n  ")
    return 1 if shortfalls else 0


def _fuzzer(spark: SparkSession, arguments: argparse.Namespace) -> Fuzzer:
    return Fuzzer(
        spark, arguments.seed, say=lambda text: print(text, flush=True), keyed=arguments.key_models,
        altered=arguments.alter_properties, named=arguments.named_partitions, second=arguments.second,
    )  # fmt: skip


def _again(spark: SparkSession, arguments: argparse.Namespace) -> int:
    fuzzer = _fuzzer(spark, arguments)
    found = fuzzer.run_world(arguments.world, time.monotonic() + 3600, arguments.case)
    print(found or "no difference")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
