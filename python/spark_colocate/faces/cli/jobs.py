"""Commands on jobs. A driver with the extension does the work, or `python -m spark_colocate.worker`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from spark_colocate.checks import adoption
from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.cli import codes, output
from spark_colocate.faces.cli.cures import as_commands
from spark_colocate.faces.cli.here import here as session_here
from spark_colocate.faces.cli.options import Catalog, Output, Shown, StoreUrl, asked, opened
from spark_colocate.faces.cli.spark import Conf, check
from spark_colocate.faces.cli.watching import Watch, is_over, progress
from spark_colocate.jobs import options
from spark_colocate.model import Job, JobKind, JobState, Wish
from spark_colocate.service import Service
from spark_colocate.views import rows

app = typer.Typer(help="List, watch and end jobs.", no_args_is_help=True, rich_markup_mode=None)

Table = Annotated[str | None, typer.Option("--table", help="Only this table, as db.t.")]
Group = Annotated[str | None, typer.Option("--group", help="All tables of this group, by its name or GroupId.")]
Here = Annotated[bool, typer.Option("--here", help="Do it in a session of this command, and wait for its end.")]
Wait = Annotated[bool, typer.Option("--wait", help="Watch it until it ends.")]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", min=0, help="Wait no longer. The job goes on, but with --here."),
]
JobId = Annotated[int, typer.Argument(metavar="JOB", help="Its number.", min=1)]

_JOBS = {
    "job_id": "JOB",
    "kind": "KIND",
    "target": "TARGET",
    "state": "STATE",
    "who": "WHO",
    "created_at": "CREATED (UTC)",
    "took": "TOOK",
    "steps": "STEPS",
}
_FACTS = (
    *("job_id", "kind", "target", "state", "who"),
    *("created_at", "started_at", "ended_at", "took", "progress", "error"),
)

_WISHED = {Wish.PAUSE: "pausing", Wish.CANCEL: "cancelling"}

_STOP_SECONDS = 10.0
"""How long the session of this command may take to stop a step."""


def verify(
    table: Table = None,
    group: Group = None,
    mode: Annotated[str, typer.Option(help="rows, sample or metadata.")] = "rows",
    wait: Wait = False,
    here: Here = False,
    timeout: Timeout = None,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Check whether rows are in their buckets."""
    _start(JobKind.VERIFY, table, group, {"mode": mode}, Way(wait, here, timeout, conf, store), catalog, shown)


def repair(
    table: Table = None,
    group: Group = None,
    wait: Wait = False,
    here: Here = False,
    timeout: Timeout = None,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Write strays into their buckets, and replace lost hosts."""
    _start(JobKind.REPAIR, table, group, {}, Way(wait, here, timeout, conf, store), catalog, shown)


def balance(
    group: Group = None,
    wait: Wait = False,
    here: Here = False,
    timeout: Timeout = None,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Even the bytes that hosts hold of a group."""
    _start(JobKind.BALANCE, None, group, {}, Way(wait, here, timeout, conf, store), catalog, shown)


def adopt(
    table: Annotated[str, typer.Option("--table", help="The Delta table, as db.t.")],
    group: Annotated[str, typer.Option("--group", help="The group that it is to join; a new one is made.")],
    key: Annotated[list[str], typer.Option("--key", help="A bucket key. Several keys: in the group's order.")],
    buckets: Annotated[int, typer.Option(help="Left out: those of the group, or as many as fit the size.")] = 0,
    wait: Wait = False,
    here: Here = False,
    timeout: Timeout = None,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Make a Delta table as it is a member of a group."""
    wanted = options(JobKind.ADOPT, {"keys": key, "buckets": buckets})
    name = adoption.table_name(table, "")
    if not name.db:
        raise typer.BadParameter("Name the table with its database, as db.t.", param_hint="--table")
    target = adoption.group_name(group, name)
    way = Way(wait, here, timeout, conf, store)
    service = opened(store, catalog)
    _run(service, way, shown, lambda: service.jobs.start_adoption(name, target, wanted, asked()))


@app.command("list")
def list_(store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """List the jobs, the newest last."""
    service = opened(store, catalog)
    found = service.jobs.all()
    if shown is Output.JSON:
        output.show([rows.job_row(job, service.clock()) for job in found], {}, shown)
        return
    output.show_table([_line(service, job) for job in found], _JOBS)
    for job in found:
        if job.error:
            print(f"\n{job.job_id}: {as_commands(job.error)}")


def _line(service: Service, job: Job) -> dict[str, object]:
    row = rows.job_row(job, service.clock())
    steps = "" if row.steps is None else f"{row.steps_done}/{row.steps}"
    left = "" if row.eta_seconds is None else f", {output.duration(row.eta_seconds)} left"
    derived = {"state": _word(service, job), "took": _took(service, job), "steps": steps + left}
    return {**asdict(row), "created_at": output.minute(row.created_at), **derived}


@app.command()
def show(job: JobId, store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """Show one job with its findings."""
    service = opened(store, catalog)
    _show(service, service.jobs.get(job), shown)


@app.command()
def watch(
    job: JobId,
    timeout: Timeout = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Watch a job until it ends."""
    service = opened(store, catalog)
    _end(service, Watch(service, timeout).until_over(service.jobs.get(job)), shown)


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
def cancel(
    job: JobId,
    wait: Wait = False,
    timeout: Timeout = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """End a job; what is done stays.

    With --wait, until its running step has stopped, or its driver has not answered for half a minute."""
    service = opened(store, catalog)
    job_then = service.jobs.cancel(job, asked())
    _show(service, Watch(service, timeout).until_over(job_then) if wait else job_then, shown)


@dataclass(frozen=True, slots=True)
class Way:
    """Which session runs a new job: any that finds it, or one of this command."""

    wait: bool
    here: bool
    timeout: float | None
    conf: list[str] | None
    store: str | None

    @contextmanager
    def watching(self, service: Service) -> Iterator[Watch]:
        """While this is open, the job is done."""
        if self.here:
            with session_here(self.conf, self.store) as spark:
                yield Watch(service, self.timeout, lambda: check(spark), "With --here, this ends it.")
        else:
            yield Watch(service, self.timeout)


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
        what = "--group NAME" if kind is JobKind.BALANCE else "either --group NAME, or --table db.t"
        raise typer.BadParameter(f"Name {what}.", param_hint="target")
    wanted = options(kind, given)
    service = opened(way.store, catalog)
    target = f"table:{table}" if table else f"group:{group}"
    service.jobs.target(kind, target, "")  # What can't be needs no session.
    # The control plane of the session goes on by itself with a job that was left.
    left = service.jobs.left(kind, target, wanted) if way.here else None

    def start() -> Job:
        return service.jobs.get(left.job_id) if left else service.jobs.start(kind, target, "", wanted, asked())

    _run(service, way, shown, start)


def _run(service: Service, way: Way, shown: Output, start: Callable[[], Job]) -> None:
    """Starts a job, and waits for its end if the way says so."""
    with way.watching(service) as watch:
        job = start()
        if way.here:
            job = _done_here(service, watch, job)
        elif way.wait:
            job = watch.until_over(job)
    (_end if way.wait or way.here else _show)(service, job, shown)


def _done_here(service: Service, watch: Watch, job: Job) -> Job:
    """Whatever ends the wait ends the job as well: nobody else was to do it."""
    try:
        return watch.until_over(job)
    finally:
        if not is_over(service.jobs.get(job.job_id)):
            cancelled = service.jobs.cancel(job.job_id, asked())
            with suppress(RequestError):
                Watch(service, _STOP_SECONDS).until_over(cancelled)


def _show(service: Service, job: Job, shown: Output) -> None:
    row = rows.job_row(job, service.clock())
    if shown is Output.JSON:
        output.show_json(asdict(row))
        return
    facts = {**asdict(row), "state": _state(service, job), "took": _took(service, job), "progress": progress(row)}
    for name in _FACTS:
        output.show_fact(name.replace("_", " ").removesuffix(" at"), facts[name])
    for finding in row.findings:
        print(as_commands(finding))


def _word(service: Service, job: Job) -> str:
    """The state in a word."""
    return "orphaned" if service.jobs.is_abandoned(job) else _WISHED.get(job.wish, str(job.state))


def _state(service: Service, job: Job) -> str:
    if service.jobs.is_abandoned(job):
        return f"{job.state}, but its driver has ended"
    return f"{job.state}, {job.wish} requested" if job.wish else str(job.state)


def _took(service: Service, job: Job) -> str:
    """How long somebody has worked on it, or how long it waits."""
    end = service.clock() if job.ended_at is None else job.ended_at
    return output.duration(end - (job.created_at if job.started_at is None else job.started_at))


def _end(service: Service, job: Job, shown: Output) -> None:
    """Shows a job that was waited for, and exits with what became of it."""
    _show(service, job, shown)
    if job.state is JobState.FAILED:
        headline = f"Job {job.job_id} has failed: {job.error}"
        raise RequestError(Code.JOB_FAILED, headline, "Cure the cause, and start it again.")
    if codes.of_job(job):
        raise typer.Exit(codes.of_job(job))
