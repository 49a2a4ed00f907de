"""`./run fuzz`: random tables, layouts, changes, queries; on the layout, without it, on DuckDB. Rows must agree."""

import argparse
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from tests.fuzz.runner import SETTINGS, Fuzzer
from tests.fuzz.tables import Catalogue
from tests.spark.sessions import builder

PLANTED = "spark.colocate.testing.plantedBug"
PLANTED_SECONDS = 300.0

# Looked for in queries that the layout serves: bugs of splitting where buckets are split, of pruning where sides are
# broadcast.
SPLIT_ALL = {"spark.colocate.skew.targetTaskBytes": ("1",)}
BROADCAST_ALL = {"spark.sql.autoBroadcastJoinThreshold": ("10485760",)}
SERVED = {
    **dict.fromkeys(("full_outer_split", "both_sides_split", "extended_side_split"), SPLIT_ALL),
    "preserved_side_pruned": BROADCAST_ALL,
}
# Patterns of the cells that a bug concerns, where these are few.
CELLS_OF = {
    "full_outer_split": "FULL",
    "full_outer_keys": "FULL .*(aggregate|window)",
    "null_extended_side": r"(LEFT|RIGHT) \S+ (aggregate|window)",
    "expand_key_nulled": "aggregate",
    "preserved_side_pruned": "LEFT",
}


def _has_another_type(tables: Catalogue) -> bool:
    """Of one key column, in tables that look alike."""
    return len({table.type("k1") for table in (*tables.members["delta"], *tables.others)}) > 1


# Worlds that a bug needs, where few have it.
FITS = {"key_type": _has_another_type}


def main() -> int:
    arguments = _arguments()
    # Collected timestamps are local ones: the zone must be the session's.
    os.environ["TZ"] = "UTC"
    time.tzset()
    with tempfile.TemporaryDirectory(prefix="colocate-fuzz-") as folder:
        spark = builder(Path(folder)).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
        try:
            if arguments.planted:
                return _planted(spark, arguments.planted, arguments.seed)
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
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(10**6)
    return arguments


def _fuzz(spark: SparkSession, arguments: argparse.Namespace) -> int:
    print(f"seed {arguments.seed}, {arguments.minutes} minutes", flush=True)
    fuzzer = Fuzzer(spark, arguments.seed, say=lambda text: print(text, flush=True))
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


def _again(spark: SparkSession, arguments: argparse.Namespace) -> int:
    found = Fuzzer(spark, arguments.seed).run_world(arguments.world, time.monotonic() + 3600, arguments.case)
    print(found or "no difference")
    return 1 if found else 0


def _planted(spark: SparkSession, wanted: str, seed: int) -> int:
    known = list(spark._jvm.org.apache.spark.sql.colocate.plan.PlantedBugs.names())
    if wanted not in ("all", *known):
        print(f"no such bug: {wanted}. There are: {', '.join(known)}, all")
        return 2
    missed = []
    for name in known if wanted == "all" else [wanted]:
        spark.conf.set(PLANTED, name)
        started = time.monotonic()
        found = _searching(spark, seed, name).run(PLANTED_SECONDS)
        spark.conf.unset(PLANTED)
        seconds = time.monotonic() - started
        print(f"{name}: {'found' if found else 'MISSED'} after {seconds:.0f} s, seed {seed}", flush=True)
        if found and wanted != "all":
            print(found)
        if not found:
            missed.append(name)
    print("every planted bug was found" if not missed else f"missed: {', '.join(missed)}")
    return 1 if missed else 0


def _searching(spark: SparkSession, seed: int, bug: str) -> Fuzzer:
    # A planner that accepts too much is found where a query asks for too much.
    near_miss = 0.1 if bug in SERVED else 0.5
    settings = SETTINGS | SERVED.get(bug, {})
    fuzzer = Fuzzer(spark, seed, say=lambda text: None, near_miss=near_miss, near_miss_each=1, settings=settings)
    # Of a world with two keys, all of which match, a bug of outer joins is not seen: soon the next one.
    fuzzer.cases_per_world = 25
    fuzzer.fits = FITS.get(bug, fuzzer.fits)
    fuzzer.cells = [cell for cell in fuzzer.cells if re.search(CELLS_OF.get(bug, ""), str(cell))]
    return fuzzer


if __name__ == "__main__":
    sys.exit(main())
