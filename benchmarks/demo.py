"""./run demo: TPC-H tables in one colocation group; the same queries with a shuffle and without, side by side."""

import argparse
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.panel import Panel
from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from spark_colocate import verdicts

from benchmarks import doris_demo, lab
from benchmarks.data import queries, tpch
from benchmarks.engines import query
from benchmarks.measure import Measured, measure
from benchmarks.rows import same
from benchmarks.sizes import size

BUCKETS = 8
MEMBERS = {"customer": "c_custkey", "orders": "o_orderkey", "lineitem": "l_orderkey"}
GROUP = "tpch.orders"
CREATE = """CREATE TABLE {table} USING delta
CLUSTERED BY ({key}) INTO {buckets} BUCKETS
TBLPROPERTIES ('colocate_with' = 'orders')
AS SELECT * FROM parquet.`{source}`"""
SMALL_SIDE = """SELECT count(*) AS lines, sum(l_quantity) AS quantity
FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE o_orderkey < 1000"""

LISTING = "SELECT db, table, format, keys, role, layout_state, files, bytes FROM system.colocation_tables"

console = Console(width=max(Console().width, 110), highlight=False)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run demo", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="TPC-H scale; 1 is 1 GB of text, and the default")
    parser.add_argument("--memory", default="4g", help="heap of the driver, which runs the tasks (4g)")
    parser.add_argument("--doris", action="store_true", help="instead: the first example of Doris' documents")
    asked = parser.parse_args(arguments)
    if asked.doris:
        return doris_demo.main(asked.memory, console)
    with lab.progress() as bars:
        sources = _data(asked.scale, bars)
        with lab.session(asked.memory, os.cpu_count() or 2) as spark:
            equal = _show(spark, sources, bars)
    console.print(Panel(NEXT, title="What to try next"))
    return 0 if equal else 1


def _show(spark: SparkSession, sources: dict[str, Path], bars: Progress) -> bool:
    _load(spark, sources, bars)
    texts = {"join": query("demo")} | {f"TPC-H {q}": queries("tpch")[q.lower()] for q in ("Q3", "Q12", "Q18")}
    found = _run_both(spark, texts, bars)
    bars.stop()
    _show_explains(spark, texts["join"])
    equal = _show_times(found)
    _show_group(spark)
    _show_unstable(spark, texts["join"])
    return equal


def _data(scale: float, bars: Progress) -> dict[str, Path]:
    sources: dict[str, Path] = {}
    task = bars.add_task("data", total=len(MEMBERS))
    for table in MEMBERS:
        bars.update(task, description=f"TPC-H data, scale {scale:g}: {table}")
        sources |= tpch(scale, (table,))
        bars.advance(task)
    return sources


def _load(spark: SparkSession, sources: dict[str, Path], bars: Progress) -> None:
    task = bars.add_task("load", total=len(MEMBERS))
    spark.sql("CREATE DATABASE tpch")
    spark.sql("USE tpch")
    for table, key in MEMBERS.items():
        bars.update(task, description=f"load {table} as a member of {GROUP}")
        spark.sql(CREATE.format(table=table, key=key, buckets=BUCKETS, source=sources[table]))
        bars.advance(task)


def _run_both(spark: SparkSession, texts: dict[str, str], bars: Progress) -> dict[str, tuple[Measured, Measured]]:
    """Each query switched off and on: once to warm up, once measured."""
    task = bars.add_task("queries", total=len(texts) * 4)
    found = {}
    for name, text in texts.items():
        for _ in range(2):
            bars.update(task, description=f"{name}, with the shuffle and without")
            found[name] = (_switched(spark, text, off=True), _switched(spark, text, off=False))
            bars.advance(task, 2)
    return found


def _switched(spark: SparkSession, text: str, off: bool) -> Measured:
    spark.sql(f"SET disable_colocate_join = {str(off).lower()}")
    measured = measure(spark, text)
    spark.sql("SET disable_colocate_join = false")
    return measured


def _show_explains(spark: SparkSession, text: str) -> None:
    console.print(Panel(Text(text), title="The query"))
    for off, title in ((True, "EXPLAIN with SET disable_colocate_join = true"), (False, "EXPLAIN with colocation")):
        spark.sql(f"SET disable_colocate_join = {str(off).lower()}")
        console.print(Panel(Text(_explain(spark, text)), title=title))
    spark.sql("SET disable_colocate_join = false")


def _explain(spark: SparkSession, text: str) -> str:
    """EXPLAIN's plan, cut to the width of the screen, and its reasons, which are not."""
    (row,) = spark.sql(f"EXPLAIN {text}").collect()
    lines = [line for line in row[0].splitlines() if line.strip()]
    width = console.width - 7  # the panel's frame, and the dots
    return "\n".join(line if len(line) <= width or "colocate: " in line else f"{line[:width]}..." for line in lines)


def _show_times(found: dict[str, tuple[Measured, Measured]]) -> bool:
    table = Table(title="The same rows, with a shuffle and without")
    for name in ("query", "rows", "exchanges", "shuffled", "seconds", "faster"):
        table.add_column(name, justify="left" if name == "query" else "right")
    for name, (off, on) in found.items():
        table.add_row(
            name,
            f"{len(on.rows)} equal" if same(off.rows, on.rows) else "[bold red]DIFFER[/]",
            f"{off.exchanges} -> {on.exchanges}",
            f"{size(off.shuffle_bytes)} -> {size(on.shuffle_bytes)}",
            f"{off.seconds:.2f} -> {on.seconds:.2f}",
            f"{off.seconds / on.seconds:.1f}x",
        )
    console.print(table)
    return all(same(off.rows, on.rows) for off, on in found.values())


def _show_group(spark: SparkSession) -> None:
    for statement in ("SHOW PROC '/colocation_group'", LISTING):
        df = spark.sql(statement)
        table = Table(title=statement)
        for column in df.columns:
            table.add_column(column)
        for row in df.collect():
            table.add_row(*map(str, row))
        console.print(table)


def _show_unstable(spark: SparkSession, text: str) -> None:
    """An operator marks the group: joins go back to what Spark would do, and say why."""
    marking = f"CALL system.set_group_stable(group => '{GROUP}', stable => false)"
    spark.sql(marking)
    table = Table(title=marking)
    for name in ("query", "fallback", "exchanges", "broadcasts", "shuffled"):
        table.add_column(name)
    reasons = []
    for name, sql in (("the join", text), ("the join, one side small", SMALL_SIDE)):
        ran = measure(spark, sql)
        reasons += [f"{name}: {one.text}" for one in verdicts(spark.sql(sql)) if not one.colocated][:1]
        how = ", ".join(name.removesuffix("Exec") for name in ran.joins)
        table.add_row(name, how, str(ran.exchanges), str(ran.broadcasts), size(ran.shuffle_bytes))
    console.print(table)
    console.print("EXPLAIN says of", *reasons, sep="\n  ", soft_wrap=True)
    spark.sql(f"CALL system.set_group_stable(group => '{GROUP}', stable => true)")


NEXT = """./run demo --scale 3                      the bigger the tables, the more a shuffle costs
./run bench join --scale 5                stock Delta, bucketed Parquet, and both colocated
docs/quickstart.md                        the same in a session of your own
docs/how-to/read-explain.md               why a join is not colocated, and what to do
SELECT * FROM system.colocation_buckets   files, rows and bytes of each bucket"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
