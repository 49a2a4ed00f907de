"""Bugs that a test-only setting switches on: each must be found within five minutes."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from tests.fuzz.catalogue import KEYED, Catalogue
from tests.fuzz.forms import FORMS
from tests.fuzz.runner import SETTINGS, Fuzzer
from tests.spark.sessions import PLANTED_BUG

SECONDS = 300.0


@dataclass(frozen=True)
class Search:
    """Where a bug can show, so that a run looks there. Fields as of Fuzzer; cells: a pattern of those it concerns.

    forms: of a bug of writes, which is found by loads alone, and by changes of tables.

    By default queries ask for too much, which is where a planner that accepts too much is found; and worlds are short,
    for in one with two keys, all of which match, a bug of outer joins is not seen.
    """

    cells: str = ""
    settings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    near_miss: float = 0.5
    keyed: float = KEYED
    fits: Callable[[Catalogue], bool] = lambda tables: True
    cases_per_world: int = 25
    damage_from: float = 0.7
    forms: tuple[str, ...] = ()

    def fuzzer(self, spark: SparkSession, seed: int) -> Fuzzer:
        fuzzer = Fuzzer(
            spark, seed, say=lambda text: None, near_miss=self.near_miss, near_miss_each=1,
            settings=SETTINGS | self.settings, fits=self.fits, cases_per_world=self.cases_per_world,
            damage_from=self.damage_from, keyed=self.keyed, forms=self.forms, queries=not self.forms,
        )  # fmt: skip
        fuzzer.cells = [cell for cell in fuzzer.cells if re.search(self.cells, str(cell))]
        return fuzzer


def _has_another_type(tables: Catalogue) -> bool:
    """Of one key column, in tables that look alike."""
    return len({table.type("k1") for table in (*tables.members["delta"], *tables.others)}) > 1


def _has_own_buckets(tables: Catalogue) -> bool:
    """A table, that many queries read, has range partitions with other numbers of buckets than its own."""
    own = [p.buckets for table in tables.members["delta"] if table.ranges for p in table.ranges.partitions]
    return len({buckets for buckets in own if buckets}) > 1


# In queries that the layout serves: where buckets are split, and where sides are broadcast.
SPLIT = Search(settings={"spark.colocate.skew.targetTaskBytes": ("1",)}, near_miss=0.1)
BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": ("10485760",)}
LOADS = Search(fits=lambda tables: any(table.ranges for table in tables.all), forms=tuple(FORMS), damage_from=1.0)
KEYS = Search(keyed=0.8, near_miss=0.1)
MIXED = Search("delta", near_miss=0.1, fits=_has_own_buckets)
STRAYS = Search("parquet|orc", cases_per_world=100, damage_from=0.0)

SEARCHES = {
    "key_type": Search(fits=_has_another_type),
    "full_outer_keys": Search("FULL .*(aggregate|window)"),
    "null_extended_side": Search(r"(LEFT|RIGHT) \S+ (aggregate|window)"),
    "strays_ignored": STRAYS,
    "stray_twice": STRAYS,
    "stray_unshuffled": STRAYS,
    "partition_filter_lost": Search("delta|parquet", near_miss=0.1),
    "full_outer_split": replace(SPLIT, cells="FULL"),
    "extended_side_split": SPLIT,
    "both_sides_split": SPLIT,
    "expand_key_nulled": Search("aggregate"),
    "preserved_side_pruned": Search("LEFT", BROADCAST, near_miss=0.1),
    "shared_groups_lost": Search("aggregate", near_miss=0.1),
    "bound_taken_by_lower_range": LOADS,
    "null_taken_by_higher_range": LOADS,
    "hole_filled": LOADS,
    "most_buckets_promised": MIXED,
    "declared_number_pruned": MIXED,
    "first_load_replaces": KEYS,
    "keys_not_aggregated": KEYS,
    "value_filter_below_keys": KEYS,
    "files_not_merged": KEYS,
    "first_load_merged": KEYS,
    "kept_rows_lost": Search(settings={"spark.colocate.shuffle.bufferBytes": ("300",)}),
}


def plant(spark: SparkSession, bug: str) -> None:
    """Quiet: a bug may leave a plan that the rules after it refuse."""
    spark.conf.set("spark.colocate.testing", "quiet")
    spark.conf.set(PLANTED_BUG, bug)


def dig_out(spark: SparkSession) -> None:
    spark.conf.set("spark.colocate.testing", "true")
    spark.conf.unset(PLANTED_BUG)


def run(spark: SparkSession, wanted: str, seed: int) -> int:
    """wanted: a bug, or `all`. The exit code: 2 if there is none of that name, 1 if one was missed."""
    known = list(spark._jvm.org.apache.spark.sql.colocate.testing.PlantedBugs.names())
    if wanted not in ("all", *known):
        print(f"no such bug: {wanted}. There are: {', '.join(known)}, all")
        return 2
    missed = []
    for name in known if wanted == "all" else [wanted]:
        plant(spark, name)
        started = time.monotonic()
        found = SEARCHES.get(name, Search()).fuzzer(spark, seed).run(SECONDS)
        dig_out(spark)
        seconds = time.monotonic() - started
        print(f"{name}: {'found' if found else 'MISSED'} after {seconds:.0f} s, seed {seed}", flush=True)
        if found and wanted != "all":
            print(found)
        if not found:
            missed.append(name)
    print("every planted bug was found" if not missed else f"missed: {', '.join(missed)}")
    return 1 if missed else 0
