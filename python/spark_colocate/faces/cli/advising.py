"""`colocate advise`: which tables to put into groups, from Spark's event logs."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer

from spark_colocate.faces.cli import output
from spark_colocate.faces.cli.options import Output, Shown
from spark_colocate.service.base.sizes import sized
from spark_colocate.workload.report import AdvisedTable, Report
from spark_colocate.workload.report import advise as advice


def advise(
    log: Annotated[str, typer.Argument(help="An event log, or the folder that spark.eventLog.dir names.")],
    days: Annotated[float, typer.Option(help="Only the last days of the logs. Default: all.")] = 0,
    shown: Shown = Output.TABLE,
) -> None:
    """Show which tables to put into colocation groups, what that saves, and the statements that do it.

    Reads the event logs alone: no table, no store, no session of Spark."""
    found = advice(log, days)
    if shown is Output.JSON:
        output.show_json(asdict(found))
        return
    print(f"{found.queries} queries in {found.days:g} days; their shuffles wrote {sized(found.shuffled_bytes)}.")
    if not found.tables:
        print("No group of tables would save one percent of that.")
    for _, tables in groupby(found.tables, key=lambda one: one.rank):
        print()
        print("\n".join(_lines(list(tables), found)))


def _lines(tables: list[AdvisedTable], found: Report) -> list[str]:
    """The statements stand alone in their lines, so that they can be copied."""
    first = tables[0]
    share = round(100 * first.saved_bytes / found.shuffled_bytes)
    return [
        f"{first.rank}. Group {first.group_name}, {first.buckets} buckets: saves {sized(first.saved_bytes)} of "
        f"shuffles ({share} %) in {first.queries} queries, {sized(first.saved_bytes_per_day)} a day, "
        f"and at least {first.saved_seconds:g} seconds of tasks.",
        *(f"   {one.table} by {', '.join(one.keys)}: {sized(one.rewritten_bytes)} are written once" for one in tables),
        *(f"{one.statement};" for one in tables),
    ]
