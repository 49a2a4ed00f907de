"""The kinds of jobs, a file each: it plans steps (`begin`), runs one (`step`), and ends the job (`end`).

A step may be repeated, because a driver may end before it has recorded that a step is done. `runner` runs the jobs,
`scheduler` starts regular ones.
"""

from collections.abc import Mapping
from typing import Any

from spark_colocate.engine import Engine
from spark_colocate.jobs import adopt, balance, discard, repair, verify
from spark_colocate.jobs.work import Kind, Work
from spark_colocate.model import GroupName, Job, JobKind, JobStep, TableName
from spark_colocate.service import Request, Service

KINDS: Mapping[JobKind, Kind] = {
    JobKind.VERIFY: verify.Verify(),
    JobKind.REPAIR: repair.Repair(),
    JobKind.BALANCE: balance.Balance(),
    JobKind.ADOPT: adopt.Adopt(),
    JobKind.DISCARD: discard.Discard(),
}
"""A new kind is a line here, a name in `model.JobKind`, and a procedure in `JobProcedures.scala`."""


def options(kind: JobKind, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a job: what was given, and else the kind's defaults. Raises RequestError for a wrong value."""
    wanted = {**KINDS[kind].options, **given}
    KINDS[kind].check(wanted)
    return wanted


def forecast(
    service: Service, engine: Engine, target: tuple[TableName, GroupName], given: Mapping[str, Any], request: Request
) -> list[tuple[str, str]]:
    """What an adoption would do, as names and texts. Nothing is written. Raises ColocateError if it can't be done."""
    table, group = target
    job = Job(0, JobKind.ADOPT, group, table, options(JobKind.ADOPT, given), request.who, service.clock())
    return adopt.facts(Work(job, service, engine))


def rehearsed(
    service: Service, engine: Engine, kind: JobKind, target: str, db: str, given: Mapping[str, Any], request: Request
) -> list[JobStep]:
    """The steps that a job would have. Nothing is written. Raises as `Jobs.start` does."""
    group, member = service.jobs.target(kind, target, db)
    table = member.name if member else None
    job = Job(0, kind, group.name, table, options(kind, given), request.who, service.clock())
    return KINDS[kind].begin(Work(job, service, engine))
