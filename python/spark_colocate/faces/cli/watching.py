"""Waits for the end of a job, and shows its progress, or why it does not progress."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spark_colocate.errors import Code, RequestError
from spark_colocate.model import Job, JobState
from spark_colocate.service import Service
from spark_colocate.service.jobs.states import MAX_ATTEMPTS
from spark_colocate.views import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_SECONDS = 10.0
"""How often a line of progress is printed where there is no terminal."""

UNTAKEN_SECONDS = 10.0
"""After how many seconds without an owner no session lives: a free one takes a job within seconds."""

LOOK_SECONDS = 0.5


def alone() -> None:
    """Looks at the job alone."""


@dataclass
class Watch:
    """Waits for one job.

    timeout: seconds; None waits as long as it takes.
    check: is called at each look; raises where this can come to nothing.
    then: what becomes of the job after that time.
    """

    service: Service
    timeout: float | None = None
    check: Callable[[], None] = alone
    then: str = ""
    _began: float = field(default_factory=lambda: time.monotonic())
    _told: set[str] = field(default_factory=set)

    def until_over(self, job: Job) -> Job:
        """The job when it has ended or is paused. Raises RequestError when the time is over."""
        with _bar(job) if sys.stderr.isatty() else _lines() as shows:
            while True:
                shows(self.service, job)
                if is_over(job):
                    return job
                self._is_in_time(job)
                time.sleep(LOOK_SECONDS)
                self.check()
                self.service.jobs.settle()
                job = self.service.jobs.get(job.job_id)
                self._say_what_it_waits_for(job)

    def _is_in_time(self, job: Job) -> None:
        if self.timeout is not None and self._waited() >= self.timeout:
            raise RequestError(
                Code.JOB_TIMEOUT,
                f"Job {job.job_id} ({job.kind} {job.target}) has not ended within {self.timeout:g} s: it is "
                f"{job.state}.",
                self.then
                or f"It goes on. Wait again with colocate jobs watch {job.job_id}, or end it with colocate jobs cancel "
                f"{job.job_id}.",
            )

    def _waited(self) -> float:
        return time.monotonic() - self._began

    def _say_what_it_waits_for(self, job: Job) -> None:
        if job.state is not JobState.PENDING:
            return
        if job.attempts:
            self._say(f"Job {job.job_id} is tried again (attempt {job.attempts + 1} of {MAX_ATTEMPTS}): {job.error}")
        elif self._waited() >= UNTAKEN_SECONDS:
            self._say(self._untaken(job))

    def _untaken(self, job: Job) -> str:
        others = [one for one in self.service.jobs.all() if one.state is JobState.RUNNING]
        if others:
            numbers = ", ".join(str(one.job_id) for one in others)
            return f"Job {job.job_id} waits: sessions and workers do one job at a time, and do {numbers}."
        return (
            f"No session and no worker has taken job {job.job_id} for {UNTAKEN_SECONDS:g} s, so none seems to live. "
            f"Start one with colocate worker, or end the job with colocate jobs cancel {job.job_id}."
        )

    def _say(self, text: str) -> None:
        """Prints each text once."""
        if text not in self._told:
            self._told.add(text)
            print(text, file=sys.stderr, flush=True)


Shows = Callable[[Service, Job], None]


def is_over(job: Job) -> bool:
    """Does nobody go on with the job by himself?"""
    return job.state.is_end or job.state is JobState.PAUSED


def progress(row: rows.JobRow) -> str:
    return "" if row.steps is None else f"{row.steps_done} of {row.steps} steps, {row.bytes_done} of {row.bytes} bytes"


@contextmanager
def _bar(job: Job) -> Iterator[Shows]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TransferSpeedColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task(f"{job.kind} {job.target}", total=None)

        def shows(_service: Service, job: Job) -> None:
            total = job.bytes if job.steps is not None else None
            text = f"{job.kind} {job.target}: {job.state}, {job.done} of {job.steps or '?'} steps"
            bars.update(bar, description=text, total=total, completed=job.bytes_done)

        yield shows


@contextmanager
def _lines() -> Iterator[Shows]:
    told = time.monotonic()

    def shows(service: Service, job: Job) -> None:
        nonlocal told
        if time.monotonic() - told >= LINE_SECONDS and not is_over(job):
            told += LINE_SECONDS
            row = rows.job_row(job, service.clock())
            line: dict[str, Any] = {"job_id": row.job_id, "state": row.state, "progress": progress(row)}
            print(json.dumps(line), file=sys.stderr, flush=True)

    yield shows
