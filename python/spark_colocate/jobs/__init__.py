"""The kinds of jobs, a file each: it plans steps (`begin`), runs one (`step`), and ends the job (`end`).

A step may be repeated, because a driver may end before it has recorded that a step is done. `runner` runs the jobs,
`scheduler` starts regular ones.
"""

from collections.abc import Mapping
from typing import Any

from spark_colocate.engine import Engine
from spark_colocate.jobs import balance, repair, verify
from spark_colocate.jobs.work import Kind, Work
from spark_colocate.model import Job, JobKind, JobStep
from spark_colocate.service import Request, Service

KINDS: Mapping[JobKind, Kind] = {
    JobKind.VERIFY: verify.Verify(),
    JobKind.REPAIR: repair.Repair(),
    JobKind.BALANCE: balance.Balance(),
}
"""A new kind is a line here, a name in `model.JobKind`, and a procedure in `JobProcedures.scala`."""


def options(kind: JobKind, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a job: what was given, and else the kind's defaults. Raises RequestError for a wrong value."""
    wanted = {**KINDS[kind].options, **given}
    KINDS[kind].check(wanted)
    return wanted


def rehearsed(
    service: Service, engine: Engine, kind: JobKind, target: str, db: str, given: Mapping[str, Any], request: Request
) -> list[JobStep]:
    """The steps that a job would have. Nothing is written. Raises as `Jobs.start` does."""
    group, member = service.jobs.target(kind, target, db)
    table = member.name if member else None
    job = Job(0, kind, group.name, table, options(kind, given), request.who, service.clock())
    return KINDS[kind].begin(Work(job, service, engine))
