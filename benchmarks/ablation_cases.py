"""The queries and commands by which `./run bench rules` sees what a rule pays, on tables that are loaded for them."""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession
from rich.progress import Progress

from benchmarks import keys, lab, merge, skew
from benchmarks.data import tpch
from benchmarks.engines import Layout, engine, layouts, query
from benchmarks.suite import SUITES, in_spark, tables_of

SETS = ("operators", "tpch", "tpcds", "skew", "merge", "load", "keys", "ranges")
UPDATE = "UPDATE orders SET o_totalprice = 0 WHERE o_orderkey % 100 = 1"
MEMBERS = engine("delta-colocated")
# Those that join, aggregate or sort tables of one group, and those in which a shuffle has few rows in each task.
TPCDS = tuple(f"q{number}" for number in (8, 11, 17, 24, 25, 29, 33, 40, 50, 64, 75, 78, 80, 83, 93, 97))
RANGES = 100
"""Range partitions of a day each."""


@dataclass(frozen=True)
class Case:
    """before: makes the tables what they were, untimed. check: reads what a command wrote."""

    name: str
    database: str
    sql: str
    before: Callable[[SparkSession], None] | None = None
    check: str = ""


def cases(spark: SparkSession, asked: argparse.Namespace, bars: Progress) -> list[Case]:
    return [
        *(_suite(spark, "operators", asked, bars, {"join": query("join")}) if "operators" in asked.sets else ()),
        *(_suite(spark, "tpch", asked, bars) if "tpch" in asked.sets else ()),
        *(_suite(spark, "tpcds", asked, bars) if "tpcds" in asked.sets else ()),
        *(_skewed(spark, bars) if "skew" in asked.sets else ()),
        *(_merges(spark, asked, bars) if "merge" in asked.sets else ()),
        *(_loads(asked) if "load" in asked.sets else ()),
        *(_keyed(spark, asked, bars) if "keys" in asked.sets else ()),
        *(_ranged(spark, asked, bars) if "ranges" in asked.sets else ()),
    ]


def _suite(
    spark: SparkSession, name: str, asked: argparse.Namespace, bars: Progress, more: dict[str, str] | None = None
) -> list[Case]:
    """Queries of a suite on tables of their own database, loaded once."""
    texts = {**SUITES[name].texts(), **(more or {})}
    if name == "tpcds":
        texts = {query: text for query, text in texts.items() if query in TPCDS}
    make = replace(MEMBERS, tables=SUITES[name].layout)
    layout = layouts(make.tables, asked.scale)
    for table, source in SUITES[name].sources(asked.scale, tables_of(texts)).items():
        if not spark.catalog.tableExists(f"{make.tables}.{table}"):
            bars.console.print(f"loading {make.tables}.{table}")
            lab.load(spark, make, table, source, layout.get(table, Layout()))
    return [Case(f"{name} {query}", make.tables, in_spark(text)) for query, text in texts.items()]


def _use(spark: SparkSession, database: str) -> None:
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {database}")
    spark.sql(f"USE {database}")


def _skewed(spark: SparkSession, bars: Progress) -> list[Case]:
    bars.console.print("loading skewed tables")
    _use(spark, "skew")
    skew.load(spark, 10_000_000, None)
    return [Case(f"skew {name}", "skew", text.format(facts="hot")) for name, text in skew.QUERIES.items()]


def _merges(spark: SparkSession, asked: argparse.Namespace, bars: Progress) -> list[Case]:
    """MERGE and UPDATE, with deletion vectors off and on, each into the same version of its table."""
    orders = tpch(asked.scale, ("orders",))["orders"]
    layout = layouts("tpch", asked.scale)["orders"]
    cases = []
    for vectors in (False, True):
        made = merge.Case(replace(MEMBERS, tables=f"merge_{str(vectors).lower()}"), vectors)
        bars.console.print(f"loading {made.engine.tables}")
        with merge.using(spark, made):
            merge.load(spark, made, orders, layout)
        for name, statement in (("merge", merge.MERGE), ("update", UPDATE)):
            title = f"{name} vectors={str(vectors).lower()}"
            cases.append(Case(title, made.engine.tables, statement, merge.restore, merge.CHECK))
    return cases


def _loads(asked: argparse.Namespace) -> list[Case]:
    """CREATE TABLE AS SELECT of lineitem into buckets."""
    source = tpch(asked.scale, ("lineitem",))["lineitem"]
    layout = layouts("tpch", asked.scale)["lineitem"]
    statement = replace(MEMBERS, tables="loads").create("lineitem", f"parquet.`{source}`", layout)

    def fresh(spark: SparkSession) -> None:
        spark.sql("CREATE DATABASE IF NOT EXISTS loads")
        spark.sql("DROP TABLE IF EXISTS loads.lineitem")

    check = "SELECT count(*), sum(l_orderkey), sum(l_extendedprice) FROM loads.lineitem"
    return [Case("load lineitem", "default", statement, fresh, check)]


def _keyed(spark: SparkSession, asked: argparse.Namespace, bars: Progress) -> list[Case]:
    """Tables with key models: loaded ten times, compacted, and made by one statement, which does not mark its files."""
    _use(spark, "keys")
    rows = int(asked.scale * 2_000_000)
    for model in keys.MODELS:
        bars.console.print(f"loading keys.{model}")
        keys.load(spark, model, model, rows)
        keys.load(spark, model, f"{model}_compacted", rows)
        spark.sql(f"CALL system.compact(table => '{model}_compacted')")
        spark.sql(f"{keys.create(model, f'{model}_once')} AS SELECT * FROM {model}")
    return [
        Case(f"keys {case}{state.replace('_', ' ')}", "keys", text.format(table=f"{model}{state}"))
        for model, (*_, queries) in keys.MODELS.items()
        for case, text in queries.items()
        for state in ("", "_compacted", "_once")
    ]


def _ranged(spark: SparkSession, asked: argparse.Namespace, bars: Progress) -> list[Case]:
    """A table of 100 days, a range partition for each: some days by their dates, and by a join with few of them."""
    bars.console.print("loading ranges.visits")
    _use(spark, "ranges")
    day = "date_add(DATE'2026-01-01', CAST(id AS INT))"
    ends = [row[0] for row in spark.sql(f"SELECT CAST({day} AS STRING) FROM range(1, {RANGES + 1})").collect()]
    bounds = json.dumps([{"name": f"p{number}", "upper": [end]} for number, end in enumerate(ends)])
    spark.sql(
        "CREATE TABLE visits (day DATE, user BIGINT, pages INT) USING delta CLUSTERED BY (user) INTO 4 BUCKETS "
        f"TBLPROPERTIES ('range_partition_by' = 'day', 'range_partitions' = '{bounds}')"
    )
    rows = int(asked.scale * 5_000_000)
    spark.sql(
        f"INSERT INTO visits SELECT date_add(DATE'2026-01-01', CAST(id % {RANGES} AS INT)), hash(id), id % 100 "
        f"FROM range({rows})"
    )
    spark.sql(f"CREATE TABLE days USING delta AS SELECT {day} AS day, id % 50 = 7 AS holiday FROM range({RANGES})")
    texts = {
        "one day": "SELECT count(*), sum(pages) FROM visits WHERE day = DATE'2026-02-01'",
        "a month": "SELECT count(*), sum(pages) FROM visits WHERE date_format(day, 'yyyy-MM') = '2026-02'",
        "join": "SELECT count(*), sum(pages) FROM visits v JOIN days d ON v.day = d.day WHERE d.holiday",
    }
    return [Case(f"ranges {name}", "ranges", text) for name, text in texts.items()]
