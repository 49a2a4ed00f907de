"""Commands on jobs. A driver with the extension does the work, or `python -m spark_colocate.worker`."""

from __future__ import annotations

import json
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from spark_colocate.errors import Code, RequestError
from spark_colocate.faces import rows
from spark_colocate.faces.cli import output
from spark_colocate.faces.cli.options import Catalog, Output, Shown, StoreUrl, asked, opened
from spark_colocate.faces.cli.spark import Conf
from spark_colocate.faces.cli.worker import looking
from spark_colocate.jobs import options
from spark_colocate.model import Job, JobKind, JobState
from spark_colocate.service import Service

app = typer.Typer(help="List, watch and end jobs.", no_args_is_help=True, rich_markup_mode=None)

Table = Annotated[str | None, typer.Option("--table", help="Only this table, as db.t.")]
Group = Annotated[str | None, typer.Option("--group", help="All tables of this group, by its name or GroupId.")]
Here = Annotated[bool, typer.Option("--here", help="Do it in a session of this command, and wait for its end.")]
Wait = Annotated[bool, typer.Option("--wait", help="Watch it until it ends.")]
JobId = Annotated[int, typer.Argument(metavar="JOB", help="Its number.", min=1)]

_JOBS = {
    "job_id": "JOB",
    "kind": "KIND",
    "target": "TARGET",
    "state": "STATE",
    "progress": "PROGRESS",
    "eta_seconds": "ETA (S)",
    "error": "ERROR",
}
LINE_SECONDS = 10.0
"""Where there is no terminal, the progress has a line so often."""

_LOOK_SECONDS = 0.5


def verify(
    table: Table = None,
    group: Group = None,
    mode: Annotated[str, typer.Option(help="rows, sample or metadata.")] = "rows",
    wait: Wait = False,
    here: Here = False,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Check whether rows are in their buckets."""
    _start(JobKind.VERIFY, table, group, {"mode": mode}, Way(wait, here, conf, store), catalog, shown)


def repair(
    table: Table = None,
    group: Group = None,
    wait: Wait = False,
    here: Here = False,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Write strays into their buckets, and replace lost hosts."""
    _start(JobKind.REPAIR, table, group, {}, Way(wait, here, conf, store), catalog, shown)


def balance(
    group: Group = None,
    wait: Wait = False,
    here: Here = False,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Even the bytes that hosts hold of a group."""
    _start(JobKind.BALANCE, None, group, {}, Way(wait, here, conf, store), catalog, shown)


@app.command("list")
def list_(store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """List the jobs, the newest last."""
    service = opened(store, catalog)
    found = [rows.job_row(job, service.clock()) for job in service.jobs.all()]
    if shown is Output.JSON:
        output.show(found, {}, shown)
    else:
        output.show_table([{**asdict(one), "progress": _progress(one)} for one in found], _JOBS)


@app.command()
def show(job: JobId, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """Show one job with its findings."""
    service = opened(store, catalog)
    _show(service, service.jobs.get(job), shown)


@app.command()
def watch(job: JobId, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """Watch a job until it ends."""
    service = opened(store, catalog)
    _show(service, _watched(service, service.jobs.get(job)), shown)


@app.command()
def pause(job: JobId, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """Stop a job after its running step."""
    service = opened(store, catalog)
    _show(service, service.jobs.pause(job, asked()), shown)


@app.command()
def resume(job: JobId, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """Let a paused job go on."""
    service = opened(store, catalog)
    _show(service, service.jobs.resume(job, asked()), shown)


@app.command()
def cancel(job: JobId, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """End a job; what is done stays."""
    service = opened(store, catalog)
    _show(service, service.jobs.cancel(job, asked()), shown)


@dataclass(frozen=True, slots=True)
class Way:
    """How a job that was started is done: by whoever finds it, or by a session of this command."""

    wait: bool
    here: bool
    conf: list[str] | None
    store: str | None

    def doing(self) -> AbstractContextManager[object]:
        """While this is open, the job is done."""
        return looking(self.conf, self.store) if self.here else nullcontext()


def _start(
    kind: JobKind,
    table: str | None,
    group: str | None,
    given: dict[str, str],
    way: Way,
    catalog: str | None,
    shown: Output,
) -> None:
    if (table is None) == (group is None):
        raise RequestError(
            Code.JOB_TARGET, f"Cannot {kind}: name either a table or a group.", "Add --group NAME, or --table db.t."
        )
    wanted = options(kind, given)
    service = opened(way.store, catalog)
    target = f"table:{table}" if table else f"group:{group}"
    job = service.jobs.start(kind, target, "", wanted, asked())
    with way.doing():
        _show(service, _watched(service, job) if way.wait or way.here else job, shown)


def _show(service: Service, job: Job, shown: Output) -> None:
    row = rows.job_row(job, service.clock())
    if shown is Output.JSON:
        output.show_json(asdict(row))
    else:
        for name in ("job_id", "kind", "target", "state", "error"):
            output.show_fact(name.replace("_", " "), getattr(row, name))
        output.show_fact("progress", _progress(row))
        for finding in row.findings:
            print(finding)
    if job.state is JobState.FAILED:
        headline = f"Job {job.job_id} has failed: {job.error}"
        raise RequestError(Code.JOB_FAILED, headline, "Cure the cause, and start it again.")


def _progress(row: rows.JobRow) -> str:
    return "" if row.steps is None else f"{row.steps_done} of {row.steps} steps, {row.bytes_done} of {row.bytes} bytes"


def _watched(service: Service, job: Job) -> Job:
    return _on_terminal(service, job) if sys.stderr.isatty() else _line_by_line(service, job)


def _is_over(job: Job) -> bool:
    return job.state.is_end or job.state is JobState.PAUSED


def _on_terminal(service: Service, job: Job) -> Job:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TransferSpeedColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(f"{job.kind} {job.target}", total=None)
        while True:
            total = job.bytes if job.steps is not None else None
            text = f"{job.kind} {job.target}: {job.state}, {job.done} of {job.steps or '?'} steps"
            progress.update(bar, description=text, total=total, completed=job.bytes_done)
            if _is_over(job):
                return job
            time.sleep(_LOOK_SECONDS)
            job = service.jobs.get(job.job_id)


def _line_by_line(service: Service, job: Job) -> Job:
    told = time.monotonic()
    while not _is_over(job):
        time.sleep(_LOOK_SECONDS)
        job = service.jobs.get(job.job_id)
        if time.monotonic() - told >= LINE_SECONDS:
            told += LINE_SECONDS
            row = rows.job_row(job, service.clock())
            print(json.dumps({"job_id": row.job_id, "state": row.state, "progress": _progress(row)}), file=sys.stderr)
    return job
