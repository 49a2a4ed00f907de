"""The exit codes of the commands. The table in docs/how-to/command-line.md says the same."""

from __future__ import annotations

from spark_colocate.errors import Code, ColocateError, StoreError
from spark_colocate.jobs.verify import CLEAN
from spark_colocate.model import Job, JobKind, JobState

REFUSED, USAGE, NO_STORE = 1, 2, 3
"""USAGE is Typer's own."""

FOUND, STOPPED, TIMED_OUT = 4, 5, 6
"""A check found something; a job that was waited for was cancelled or paused; the time to wait is over."""


def of_error(error: ColocateError) -> int:
    if isinstance(error, StoreError):
        return NO_STORE
    return TIMED_OUT if error.code is Code.JOB_TIMEOUT else REFUSED


def of_job(job: Job) -> int:
    """The exit code after waiting for a job. A failed job raises an error."""
    if job.state in (JobState.CANCELLED, JobState.PAUSED):
        return STOPPED
    return FOUND if job.kind is JobKind.VERIFY and job.state is JobState.DONE and job.findings != (CLEAN,) else 0
