"""The benchmark of the hybrid scan: what the check of unknown files costs, and what a hundredth of strays does."""

import argparse
import os
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import lab, report
from benchmarks.data import ROOT, tpch
from benchmarks.engines import BROADCAST_OFF, Engine, Layout, engine, layouts, query
from benchmarks.measure import Measured, measure
from benchmarks.rows import same

TABLES = ("orders", "lineitem")
# A hundredth of each table, which is no hundredth of the join's keys.
STRAYS = {"orders": "o_custkey % 100 = 7", "lineitem": "l_partkey % 100 = 7"}


@dataclass(frozen=True)
class Case:
    """first_read: before each round the manifests are removed and the files get a new time, so that none is known."""

    name: str
    title: str
    tables: str = "clean"
    settings: dict[str, str] = field(default_factory=dict)
    first_read: bool = False


REFERENCE = Case("names", "names trusted, nothing is checked", settings={"spark.colocate.verify.onRead": "never"})
CASES = (
    REFERENCE,
    Case("known", "default settings, files in the manifest"),
    Case("first-read", "default settings, first read of unknown files", first_read=True),
    Case("all", "verify.onRead = always, each read", settings={"spark.colocate.verify.onRead": "always"}),
    Case("strays", "1 % strays", "strays"),
    Case("switched-off", "1 % strays, switched off", "strays", {"disable_colocate_join": "true"}),
)


def run(asked: argparse.Namespace) -> int:
    with lab.progress() as bars:
        sources = tpch(asked.scale, TABLES)
        layout = layouts("tpch", asked.scale, asked.buckets)
        with lab.session(asked.memory, asked.cores) as spark:
            for database in ("clean", "strays"):
                for table in TABLES:
                    _load(spark, database, table, sources[table], layout[table])
            rounds: dict[str, list[Measured]] = {case.name: [] for case in CASES}
            task = bars.add_task("query", total=(asked.rounds + 1) * len(CASES))
            for _ in range(asked.rounds + 1):
                for case in CASES:
                    bars.update(task, description=f"query: {case.title}")
                    rounds[case.name].append(_ask(spark, case))
                    bars.advance(task)
            facts = lab.circumstances(spark)
    record = _record(asked, {name: found[1:] for name, found in rounds.items()}, facts)
    report.print_hybrid(record)
    print(report.write_json(record, asked.out))
    return 0 if record["rows_equal"] else 1


def _engine(database: str, settings: dict[str, str]) -> Engine:
    return replace(engine("native-colocated"), tables=database, settings={**settings, **BROADCAST_OFF})


def _load(spark: SparkSession, database: str, table: str, source: Path, layout: Layout) -> None:
    """One CTAS; of the table with strays, the rest is written elsewhere and moved into its folder by another hand."""
    if database == "clean":
        lab.load(spark, _engine(database, {}), table, source, layout)
        return
    with TemporaryDirectory(dir=ROOT / "build") as folder:
        kept, strays, rows = f"{folder}/kept", f"{folder}/strays", spark.read.parquet(str(source))
        rows.where(f"NOT ({STRAYS[table]})").write.parquet(kept)
        rows.where(STRAYS[table]).coalesce(1).write.parquet(strays)
        lab.load(spark, _engine(database, {}), table, Path(kept), layout)
        (file,) = Path(strays).glob("*.parquet")
        shutil.move(file, _folder(spark, f"{database}.{table}") / "export.parquet")
    spark.sql(f"REFRESH TABLE {database}.{table}")


def _ask(spark: SparkSession, case: Case) -> Measured:
    if case.first_read:
        for table in TABLES:
            _make_unknown(spark, f"{case.tables}.{table}")
    with lab.using(spark, _engine(case.tables, case.settings)):
        return measure(spark, query("join"))


def _make_unknown(spark: SparkSession, table: str) -> None:
    folder = _folder(spark, table)
    shutil.rmtree(folder / "_colocate", ignore_errors=True)
    for file in folder.rglob("part-*"):
        os.utime(file)
    spark.sql(f"REFRESH TABLE {table}")


def _folder(spark: SparkSession, table: str) -> Path:
    facts = {row["col_name"]: row["data_type"] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()}
    return Path(facts["Location"].removeprefix("file:"))


def _record(asked: argparse.Namespace, rounds: dict[str, list[Measured]], facts: dict[str, Any]) -> dict[str, Any]:
    expected = rounds[REFERENCE.name][0].rows
    return {
        "benchmark": "hybrid",
        "scale": asked.scale,
        "rounds": asked.rounds,
        **facts,
        "rows_equal": all(same(expected, found.rows) for rows in rounds.values() for found in rows),
        "query": query("join"),
        "strays": STRAYS,
        "cases": [
            {
                **asdict(case),
                "settings": {**case.settings, **BROADCAST_OFF},
                "median_seconds": median(found.seconds for found in rounds[case.name]),
                "rounds": [found.numbers() for found in rounds[case.name]],
            }
            for case in CASES
        ],
    }
