"""/api/v1/jobs: starts, lists and ends jobs. A driver of the catalog runs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from starlette.responses import Response

from spark_colocate.checks import adoption
from spark_colocate.checks.table_checks import MAX_BUCKETS
from spark_colocate.faces.rest.answers import SAME, IfNoneMatch, Limit, NumberCursor, Page, answer, page
from spark_colocate.faces.rest.callers import Caller, changes, reads
from spark_colocate.faces.rest.v1 import MAX_ID, Body
from spark_colocate.jobs import options
from spark_colocate.model import Job, JobKind
from spark_colocate.views import rows

router = APIRouter(prefix="/api/v1")

JobId = Annotated[int, Path(ge=1, le=MAX_ID, description="Its number.")]
IdempotencyKey = Annotated[
    Annotated[str, Field(pattern="^[A-Za-z0-9_.-]{1,64}$")] | SkipJsonSchema[None],
    Header(description="A name for this request, which may then be repeated."),
]
Target = Annotated[str, Field(min_length=1, max_length=300)]


class WantedRepair(Body):
    """What is repaired: a table in a group, as db.t, or a group by its name or GroupId."""

    target: Target


class WantedVerify(WantedRepair):
    """What is checked, as for a repair, and how much of it."""

    mode: Literal["rows", "sample", "metadata"] = "rows"


class WantedBalance(Body):
    """The group, by its name or GroupId."""

    group: Target


class WantedAdoption(Body):
    """A Delta table, as db.t, and the group of its database, or `__global__name`, that it is to join: by what columns,
    and in how many buckets.

    Without `buckets` it gets those of the group, or as many as fit its size where there is no such group."""

    table: Annotated[str, Field(pattern=r"^[^.`\s]{1,150}[.][^.`\s]{1,149}$")]
    group: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,127}$")]
    keys: Annotated[list[Annotated[str, Field(min_length=1, max_length=300)]], Field(min_length=1, max_length=100)]
    buckets: Annotated[int, Field(ge=1, le=MAX_BUCKETS)] | None = None


@router.get("/jobs", response_model=Page[rows.JobRow], responses=SAME)
def jobs(
    who: Annotated[Caller, reads("jobs")],
    limit: Limit = 100,
    cursor: NumberCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """All jobs by id; of those that have ended, the last thousand."""
    version, now = who.service.version(), who.service.clock()
    listed = page(who.service.jobs.all(), lambda one: one.job_id, cursor, limit, lambda one: rows.job_row(one, now))
    return answer(listed, version, if_none_match)


@router.get("/jobs/{job_id}", response_model=rows.JobRow, responses=SAME)
def job(who: Annotated[Caller, reads("jobs")], job_id: JobId, if_none_match: IfNoneMatch = None) -> Response:
    """One job, with its progress."""
    version = who.service.version()
    return answer(rows.job_row(who.service.jobs.get(job_id), who.service.clock()), version, if_none_match)


@router.post("/jobs/verify", response_model=rows.JobRow)
def verify(
    who: Annotated[Caller, changes("start_job")], body: WantedVerify, idempotency_key: IdempotencyKey = None
) -> Response:
    """Starts a check of whether rows are in their buckets; a driver of the catalog does it.

    Repeated with the same Idempotency-Key, it answers with the job of the first call."""
    return _started(who, JobKind.VERIFY, body.target, {"mode": body.mode}, idempotency_key)


@router.post("/jobs/repair", response_model=rows.JobRow)
def repair(
    who: Annotated[Caller, changes("start_job")], body: WantedRepair, idempotency_key: IdempotencyKey = None
) -> Response:
    """Starts a repair: strays are written into their buckets, and lost hosts replaced. Repeated as `verify` is."""
    return _started(who, JobKind.REPAIR, body.target, {}, idempotency_key)


@router.post("/jobs/balance", response_model=rows.JobRow)
def balance(
    who: Annotated[Caller, changes("start_job")], body: WantedBalance, idempotency_key: IdempotencyKey = None
) -> Response:
    """Starts a balance of the bytes that hosts hold of a group. Repeated as `verify` is."""
    return _started(who, JobKind.BALANCE, f"group:{body.group}", {}, idempotency_key)


@router.post("/jobs/adopt", response_model=rows.JobRow)
def adopt(
    who: Annotated[Caller, changes("start_job")], body: WantedAdoption, idempotency_key: IdempotencyKey = None
) -> Response:
    """Starts a job that makes a Delta table as it is a member of a group. What speaks against it, the job says.

    Repeated as `verify` is."""
    table = adoption.table_name(body.table, "")
    wanted = options(JobKind.ADOPT, {"keys": body.keys, "buckets": body.buckets or 0})
    request = replace(who.request, request_id=idempotency_key or "")
    group = adoption.group_name(body.group, table)
    return _job(who, who.service.jobs.start_adoption(table, group, wanted, request))


@router.post("/jobs/{job_id}/pause", response_model=rows.JobRow)
def pause_job(who: Annotated[Caller, changes("pause_job")], job_id: JobId) -> Response:
    """Stops a job after its running step."""
    return _job(who, who.service.jobs.pause(job_id, who.request))


@router.post("/jobs/{job_id}/resume", response_model=rows.JobRow)
def resume_job(who: Annotated[Caller, changes("resume_job")], job_id: JobId) -> Response:
    """Lets a paused job go on."""
    return _job(who, who.service.jobs.resume(job_id, who.request))


@router.post("/jobs/{job_id}/cancel", response_model=rows.JobRow)
def cancel_job(who: Annotated[Caller, changes("cancel_job")], job_id: JobId) -> Response:
    """Ends a job, and stops its running step. What is done stays."""
    return _job(who, who.service.jobs.cancel(job_id, who.request))


def _started(who: Caller, kind: JobKind, target: str, given: dict[str, str], request_id: str | None) -> Response:
    request = replace(who.request, request_id=request_id or "")
    return _job(who, who.service.jobs.start(kind, target, "", options(kind, given), request))


def _job(who: Caller, changed: Job) -> Response:
    return answer(rows.job_row(changed, who.service.clock()), who.service.version())
