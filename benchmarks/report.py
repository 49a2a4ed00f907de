"""What a benchmark leaves behind: a table on the screen, a bar chart, and a JSON file with everything."""

import importlib.metadata
import json
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from rich.console import Console
from rich.table import Table

from benchmarks import cost
from benchmarks.sizes import size

RESULTS = Path(__file__).parent / "results"
REFERENCE = "delta-shuffle"
Record = dict[str, Any]


def write(record: Record, chart: Callable[[Record, Path], None], results: Path) -> list[Path]:
    """JSON and PNG under <results>/<version>/; the name says benchmark, scale and time."""
    data = write_json(record, results)
    image = data.with_suffix(".png")
    chart(record, image)
    return [data, image]


def write_json(record: Record, results: Path) -> Path:
    folder = results / importlib.metadata.version("spark-colocate")
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{record['benchmark']}-scale{record['scale']:g}-{record['time'][:16].replace(':', '')}"
    data = folder / f"{stem}.json"
    data.write_text(json.dumps(record, indent=1) + "\n")
    return data


def console() -> Console:
    """As wide as the terminal, but never so narrow (as in a log) that the tables break."""
    return Console(width=max(Console().width, 130))


def print_cluster(record: Record) -> None:
    """What was measured, beside what the cost model expects; and what it expects of larger hosts."""
    measured = cost.points(record)
    model = cost.fitted(list(measured.values()))
    table = Table(title=f"TPC-H scale {record['scale']:g} on {record['hosts']} hosts")
    for name in ("link", "statement", "engine"):
        table.add_column(name)
    numbers = ("seconds", "vs shuffle", "model", "off by", "exchanges", "worker to worker", "to the driver", "at hosts")
    for name in numbers:
        table.add_column(name, justify="right")
    for (link, statement, engine), point in measured.items():
        run = next(
            one for one in record["links"][link]["runs"] if (one["statement"], one["name"]) == (statement, engine)
        )
        last, expected = run["rounds"][-1], model.seconds(point.work, point.machines)
        tasks = last["at_host"] + last["elsewhere"]
        table.add_row(
            link,
            statement,
            run["title"],
            f"{point.seconds:.2f}",
            f"{measured[link, statement, REFERENCE].seconds / point.seconds:.2f}x",
            f"{expected:.2f}",
            f"{expected / point.seconds - 1:+.0%}",
            str(last["exchanges"]),
            size(last["between_bytes"]),
            size(last["driver_bytes"]),
            f"{last['at_host']} of {tasks}" if tasks else "",
        )
    console().print(table)
    console().print("rows equal on all engines" if record["rows_equal"] else "ROWS DIFFER")
    console().print(
        f"model: {model.stage:.3f} s for each stage, {model.cpu:.2f} s for each second of CPU, "
        f"{model.wire:.2f} s for each second that the bytes take on the links"
    )
    _print_larger_hosts(record, measured, model)


LARGER_CORES, LARGER_LINK = 16, "10gbit"


def _print_larger_hosts(
    record: Record, measured: dict[tuple[str, str, str], cost.Point], model: cost.Constants
) -> None:
    """The same number of hosts, with as much data for each core."""
    hosts, first = record["hosts"], next(iter(record["links"]))
    cores = hosts * LARGER_CORES
    machines = cost.Machines(hosts, cores, cost.bits(LARGER_LINK))
    points = {key[1:]: point for key, point in measured.items() if key[0] == first}
    factor = cores / next(iter(points.values())).machines.cores
    title = f"expected of {hosts} hosts with {LARGER_CORES} cores and {LARGER_LINK}, scale {record['scale'] * factor:g}"
    table = Table(title=title)
    for name in ("statement", "engine"):
        table.add_column(name)
    for name in ("seconds", "vs shuffle", "worker to worker"):
        table.add_column(name, justify="right")
    expected = {key: model.seconds(point.work.times(factor), machines) for key, point in points.items()}
    for (statement, engine), seconds in expected.items():
        wire = size(points[statement, engine].work.wire_bytes * factor)
        ratio = f"{expected[statement, REFERENCE] / seconds:.2f}x"
        table.add_row(statement, engine, f"{seconds:.2f}", ratio, wire)
    console().print(table)


def print_join(record: Record) -> None:
    table = Table(title=f"lineitem JOIN orders, TPC-H scale {record['scale']:g}, median of {record['rounds']} rounds")
    table.add_column("engine")
    for name in ("seconds", "vs shuffle", "exchanges", "join shuffle", "spill", "task memory", "heap", "load lineitem"):
        table.add_column(name, justify="right")
    reference = next((one["median_seconds"] for one in record["engines"] if one["name"] == REFERENCE), None)
    for one in record["engines"]:
        last = one["rounds"][-1]
        table.add_row(
            one["title"],
            f"{one['median_seconds']:.2f}",
            f"{reference / one['median_seconds']:.2f}x" if reference else "",
            str(last["exchanges"]),
            size(last["join_shuffle_bytes"]),
            size(last["spill_bytes"]),
            size(last["task_memory_bytes"]),
            size(max(found["heap_bytes"] for found in one["rounds"])),
            f"{median(load['seconds'] for load in one['load']['lineitem']):.1f} s",
        )
    screen = console()
    screen.print(table)
    screen.print("rows equal on all engines" if record["rows_equal"] else "[bold red]ROWS DIFFER[/]")


def print_rules(record: Record) -> None:
    table = Table(
        title=f"Time without a rule by time with it, TPC scale {record['scale']:g}, {record['rounds']} rounds"
    )
    table.add_column("rule")
    for name in ("lines", "plans changed", "mean", "most", "least", "seconds saved"):
        table.add_column(name, justify="right")
    for one in record["rules"]:
        table.add_row(
            one["rule"],
            str(one["lines"]),
            f"{one['cases']} of {len(record['cases'])}",
            f"{one['ratio']:.2f}" if one["ratio"] else "",
            *(f"{end['ratio']:.2f} {end['case']}" if end["case"] else "" for end in (one["best"], one["worst"])),
            f"{one['seconds_saved']:.2f}" if one["cases"] else "",
        )
    screen = console()
    screen.print(table)
    equal = all(one["rows_equal"] for one in record["changed"])
    screen.print("rows equal without each rule" if equal else "[bold red]ROWS DIFFER[/]")


def print_merge(record: Record) -> None:
    table = Table(title=f"MERGE into orders, TPC-H scale {record['scale']:g}, median of {record['rounds']} rounds")
    table.add_column("engine")
    for name in ("seconds", "vs stock", "exchanges", "shuffle", "shuffle in the log", "files"):
        table.add_column(name, justify="right")
    medians = {one["name"]: one["median_seconds"] for one in record["engines"]}
    for one in record["engines"]:
        last = one["rounds"][-1]
        stock = medians.get(REFERENCE + ("-vectors" if one["name"].endswith("-vectors") else ""))
        table.add_row(
            one["title"],
            f"{one['median_seconds']:.2f}",
            f"{stock / one['median_seconds']:.2f}x" if stock else "",
            str(last["exchanges"]),
            size(last["shuffle_bytes"]),
            size(last["log_shuffle_bytes"]),
            str(last["files"]),
        )
    console().print(table)


def print_hybrid(record: Record) -> None:
    table = Table(title=f"lineitem JOIN orders, TPC-H scale {record['scale']:g}, median of {record['rounds']} rounds")
    table.add_column("case")
    for name in ("seconds", "time ratio", "exchanges", "shuffle", "of switched off"):
        table.add_column(name, justify="right")
    reference = record["cases"][0]["median_seconds"]
    whole = record["cases"][-1]["rounds"][-1]["shuffle_bytes"]
    for one in record["cases"]:
        last = one["rounds"][-1]
        table.add_row(
            one["title"],
            f"{one['median_seconds']:.2f}",
            f"{one['median_seconds'] / reference:.2f}",
            str(last["exchanges"]),
            size(last["shuffle_bytes"]),
            f"{last['shuffle_bytes'] / whole:.2%}",
        )
    screen = console()
    screen.print(table)
    screen.print("rows equal in all cases" if record["rows_equal"] else "[bold red]ROWS DIFFER[/]")


def chart_join(record: Record, path: Path) -> None:
    engines = list(reversed(record["engines"]))
    medians = [one["median_seconds"] for one in engines]
    spread = [[found["seconds"] for found in one["rounds"]] for one in engines]
    below = [middle - min(found) for middle, found in zip(medians, spread, strict=True)]
    above = [max(found) - middle for middle, found in zip(medians, spread, strict=True)]
    figure, axes = pyplot.subplots(figsize=(9, 0.6 * len(engines) + 1.4), layout="constrained")
    bars = axes.barh([one["title"] for one in engines], medians, xerr=[below, above], color=[*map(_colour, engines)])
    axes.bar_label(bars, [f"{middle:.2f} s" for middle in medians], padding=6)
    axes.set_xlabel("seconds, median; the line is the range of the rounds")
    what = "lineitem JOIN orders" if record["benchmark"] == "join" else "MERGE into orders"
    axes.set_title(f"{what}, TPC-H scale {record['scale']:g}, {record['settings']['spark.master']}")
    axes.margins(x=0.15)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _colour(one: Record) -> str:
    if "floor" in one["name"]:
        return "#bbbbbb"
    return "#2a7f62" if "colocated" in one["name"] else "#c8553d"


def print_suite(record: Record) -> None:
    table = Table(title=f"{record['benchmark']} scale {record['scale']:g}: stock Delta against colocated Delta")
    for name in ("query", "rows", "planned", "exchanges", "shuffle", "seconds", "time ratio", "verdicts"):
        table.add_column(name, justify="left" if name in ("query", "verdicts") else "right")
    ran = [one for one in record["queries"] if "error" not in one]
    for one in ran:
        stock, ours = one["stock"], one["colocated"]
        table.add_row(
            one["query"],
            "equal" if one["rows_equal"] else "[bold red]DIFFER[/]",
            f"{stock['planned_exchanges']} -> {ours['planned_exchanges']}",
            f"{stock['exchanges']} -> {ours['exchanges']}",
            f"{size(stock['shuffle_bytes'])} -> {size(ours['shuffle_bytes'])}",
            f"{one['stock_seconds']:.2f} -> {one['colocated_seconds']:.2f}",
            f"{one['time_ratio']:.2f}",
            ", ".join(one["verdicts"]),
        )
    fewer = [one["time_ratio"] for one in ran if one["lost_planned"] > 0]
    screen = console()
    screen.print(table)
    for one in record["queries"]:
        if "error" in one:
            screen.print(f"[bold red]{one['query']} failed:[/] {one['error'][:400]}")
    if fewer:
        mean = f"geometric mean of their ratios {geometric_mean(fewer):.2f}"
        screen.print(f"{len(fewer)} queries lose an Exchange of their plan; {mean}")


def suite_line(one: Record) -> str:
    """One query of a suite, as it is done."""
    if "error" in one:
        return f"{one['query']}: failed"
    equal = "rows equal" if one["rows_equal"] else "ROWS DIFFER"
    exchanges = f"{one['stock']['exchanges']} -> {one['colocated']['exchanges']} exchanges"
    return f"{one['query']}: {equal}, {exchanges}, {one['stock_seconds']:.2f} -> {one['colocated_seconds']:.2f} s"


def chart_suite(record: Record, path: Path) -> None:
    ran = [one for one in record["queries"] if "error" not in one]
    names, ratios = [one["query"] for one in ran], [one["time_ratio"] for one in ran]
    colours = ["#2a7f62" if one["lost_planned"] > 0 else "#bbbbbb" for one in ran]
    figure, axes = pyplot.subplots(figsize=(max(8, 0.28 * len(names)), 4), layout="constrained")
    axes.bar(names, ratios, color=colours)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("time, colocated / stock")
    axes.set_title(f"{record['benchmark']} scale {record['scale']:g}; green: fewer Exchanges")
    axes.tick_params(axis="x", rotation=90)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def print_skew(record: Record) -> None:
    table = Table(title=f"90 % of {record['scale']:g} million rows in one bucket, median of {record['rounds']} rounds")
    table.add_column("join")
    for name in ("rows", "even", "hot", "hot, unsplit", "hot / even", "unsplit / even", "longest / median task"):
        table.add_column(name, justify="right")
    for one in record["queries"]:
        table.add_row(
            one["query"],
            "equal" if one["rows_equal"] else "[bold red]DIFFER[/]",
            *(f"{seconds:.2f}" for seconds in one["seconds"].values()),
            f"{one['ratio']:.2f}",
            f"{one['unsplit_ratio']:.2f}",
            f"{one['longest_task']:.2f}",
        )
    console().print(table)


def chart_skew(record: Record, path: Path) -> None:
    """Rows read by each task of the inner join, as it is laid out and as it is split."""
    tasks = record["queries"][0]["rows_by_task"]
    figure, axes = pyplot.subplots(1, len(tasks), figsize=(10, 3), sharey=True, layout="constrained")
    for one, (case, rows) in zip(axes, tasks.items(), strict=True):
        one.bar(range(len(rows)), [count / 1e6 for count in sorted(rows, reverse=True)], color="#2a7f62")
        one.set_title(f"{case}: {len(rows)} tasks")
    axes[0].set_ylabel("million rows read")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
