"""The states of a job: which driver may run it, and its changes, each inside one store transaction.

A driver that runs a job increments the job's `beats`. If another driver sees no change for `LEASE_SECONDS` of its own
clock, the owner is gone, and the other driver goes on with the unfinished step. So clocks that differ do no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spark_colocate.errors import Code, RequestError
from spark_colocate.model import GroupName, Job, JobKind, JobState, JobStep, TableName, Wish
from spark_colocate.service.base.requests import OperationContext
from spark_colocate.store.protocol import Transaction

LEASE_SECONDS = 30.0
FIRST_CHOICE_SECONDS = 5.0
"""How long a new job waits for the driver in which it was started."""

MAX_ATTEMPTS = 5
FIRST_RETRY_SECONDS = 5.0
"""The wait after a failure; it doubles with each one."""

KEPT = 1000
"""How many ended jobs are kept."""

MAX_FINDINGS = 1000


def start(
    tx: Transaction,
    kind: JobKind,
    group: GroupName,
    table: TableName | None,
    options: Mapping[str, Any],
    context: OperationContext,
    owner: str,
    is_abandoned: Callable[[Job], bool],
) -> Job:
    """A new job, or the one that this request has started before, or one like it whose driver has ended: it goes on.

    table: the only one that it concerns; None for all of the group.
    Raises RequestError if the group has one that has not ended, or if the request has started another one.
    """
    request = context.request
    refusal = f"Cannot {kind} {table or group}"
    for held in tx.jobs() if request.request_id else ():
        if (held.request_id, held.who) == (request.request_id, request.who):
            if (held.kind, held.group, held.table, dict(held.options)) == (kind, group, table, dict(options)):
                return held
            raise RequestError(
                Code.JOB_REPEATED,
                f"{refusal}: the request's key has started job {held.job_id} ({held.kind} {held.target}) before, which "
                "is another one.",
                "Choose a new key for each new job.",
            )
    for running in tx.open_jobs():
        if _excludes(running, kind, group, table):
            left = is_abandoned(running)
            running = settled(tx, running, context) if left else running
            follow_up(tx, running, context)
            if left and (running.kind, running.table, dict(running.options)) == (kind, table, dict(options)):
                return running
            if not running.state.is_end:
                raise _is_running(refusal, running, left)
    job = Job(
        job_id=tx.next_id(),
        kind=kind,
        group=group,
        table=table,
        options=options,
        who=request.who,
        created_at=context.now,
        owner=owner,
        request_id=request.request_id,
    )
    tx.put_job(job)
    _forget_old(tx)
    context.log(tx, f"start_{kind}", job.target, f"job {job.job_id}")
    return job


def _excludes(running: Job, kind: JobKind, group: GroupName, table: TableName | None) -> bool:
    """Can the two not run at once? A group has one job at a time; a table that is to join it is not in it yet."""
    if kind.is_of_newcomer or running.kind.is_of_newcomer:
        return kind.is_of_newcomer and running.kind.is_of_newcomer and running.table == table
    return running.group == group


def follow_up(tx: Transaction, job: Job, context: OperationContext) -> None:
    """After an adoption that has ended before its commit: a job that removes what it has written, in any driver."""
    has_failed = job.state in (JobState.CANCELLED, JobState.FAILED)
    if job.kind is JobKind.ADOPT and has_failed and job.steps is not None:
        options = {"of": job.job_id}
        follower = Job(tx.next_id(), JobKind.DISCARD, job.group, job.table, options, job.who, context.now)
        tx.put_job(follower)
        context.log(tx, f"start_{follower.kind}", follower.target, f"job {follower.job_id}, after job {job.job_id}")


def _is_running(refusal: str, job: Job, is_abandoned: bool) -> RequestError:
    why = ", because the driver that did it has ended" if is_abandoned else ""
    return RequestError(
        Code.JOB_RUNNING,
        f"{refusal}: job {job.job_id} ({job.kind} {job.target}) of group {job.group} is {job.state}{why}.",
        f"Wait for it, or end it: CALL system.cancel_job({job.job_id}).",
    )


def _forget_old(tx: Transaction) -> None:
    ended = [job for job in tx.jobs() if job.state.is_end]
    for job in ended[:-KEPT]:
        tx.delete_job(job.job_id)


def find(tx: Transaction, job_id: int) -> Job:
    """Raises RequestError for an unknown one."""
    job = tx.job(job_id)
    if job is None:
        raise unknown(job_id)
    return job


def unknown(job_id: int) -> RequestError:
    """The error for a job that is not there."""
    cure = "SELECT * FROM system.colocation_jobs lists them."
    return RequestError(Code.JOB_UNKNOWN, f"There is no job {job_id}.", cure)


def pause(tx: Transaction, job_id: int, context: OperationContext) -> Job:
    """A pending job at once, a running one after its step."""
    return _wished(tx, job_id, Wish.PAUSE, JobState.PAUSED, context)


def cancel(tx: Transaction, job_id: int, context: OperationContext) -> Job:
    """A job that waits at once; the running step of another one is stopped."""
    return _wished(tx, job_id, Wish.CANCEL, JobState.CANCELLED, context)


def _wished(tx: Transaction, job_id: int, wish: Wish, then: JobState, context: OperationContext) -> Job:
    job = find(tx, job_id)
    _refuse_ended(job, str(wish))
    if job.state is then or job.wish is wish:
        return job
    changed = replace(job, wish=wish) if job.state is JobState.RUNNING else _ended(job, then, context.now)
    tx.put_job(changed)
    context.log(tx, f"{wish}_job", job_id, f"{job.kind} {job.target}")
    return changed


def resume(tx: Transaction, job_id: int, context: OperationContext) -> Job:
    """A paused job goes on, and one that waits after a failure does not wait any longer."""
    job = find(tx, job_id)
    _refuse_ended(job, "resume")
    resumed = replace(job, wish=Wish.NONE)
    if job.state is not JobState.RUNNING:
        resumed = replace(resumed, state=JobState.PENDING, owner="", retry_at=0.0, attempts=0)
    if resumed != job:
        tx.put_job(resumed)
        context.log(tx, "resume_job", job_id, f"{job.kind} {job.target}")
    return resumed


def _refuse_ended(job: Job, verb: str) -> None:
    if job.state.is_end:
        raise RequestError(
            Code.JOB_ENDED,
            f"Cannot {verb} job {job.job_id} ({job.kind} {job.target}): it is {job.state}.",
            f"Start a new one: {call(job)}.",
        )


def call(job: Job) -> str:
    """The statement that starts such a job; what else to do for one that no statement starts."""
    if job.kind is JobKind.DISCARD:
        return "it was to remove the folder adopt-... in the table's folder, which you may delete"
    if job.kind is JobKind.ADOPT:
        keys = ", ".join(f"'{key}'" for key in job.options["keys"])
        return f"CALL system.colocate(table => '{job.table}', group => '{job.group}', keys => array({keys}))"
    name = "table" if job.table else "group"
    return f"CALL system.{job.kind}({name} => '{job.target}')"


def settled(tx: Transaction, job: Job, context: OperationContext) -> Job:
    """A running job whose driver has ended: what somebody wished is done, else it waits for another driver."""
    match job.wish:
        case Wish.NONE:
            found = replace(job, state=JobState.PENDING, owner="")
        case Wish.PAUSE:
            found = _ended(job, JobState.PAUSED, context.now)
        case Wish.CANCEL:
            found = _ended(job, JobState.CANCELLED, context.now)
    tx.put_job(found)
    context.log(tx, "settle_job", job.job_id, f"{job.kind} {job.target}: its driver has ended")
    return found


def is_abandoned(job: Job, stands: float, is_gone: Callable[[str], bool]) -> bool:
    """Has the driver that does the job ended? stands: for how many seconds the job's beats have not changed."""
    return job.state is JobState.RUNNING and (is_gone(job.owner) or stands > LEASE_SECONDS)


def is_free(
    job: Job, owner: str, doing: frozenset[int], stands: float, is_gone: Callable[[str], bool], now: float
) -> bool:
    """May this driver take the job?

    doing: the jobs that this process does. stands: for how many seconds the job's beats have not changed.
    """
    ended = not job.owner or is_gone(job.owner) or (job.owner == owner and job.job_id not in doing)
    match job.state:
        case JobState.PENDING:
            return job.retry_at <= now and (ended or stands > FIRST_CHOICE_SECONDS)
        case JobState.RUNNING:
            return ended or stands > LEASE_SECONDS
        case _:
            return False


def taken(job: Job, owner: str, now: float) -> Job:
    """The job in the hands of a driver, unless somebody has wished its end meanwhile."""
    if job.wish is not Wish.NONE:
        return _ended(job, JobState.CANCELLED if job.wish is Wish.CANCEL else JobState.PAUSED, now)
    started = now if job.started_at is None else job.started_at
    held = replace(job, state=JobState.RUNNING, owner=owner, started_at=started, stepped_at=now)
    return replace(held, beats=job.beats + 1, claim=job.claim + 1)


def planned(job: Job, steps: Sequence[JobStep]) -> Job:
    """The job, with its steps."""
    return replace(
        job, steps=len(steps), buckets=sum(s.buckets for s in steps), bytes=sum(s.bytes for s in steps), attempts=0
    )


def stepped(job: Job, step: JobStep, findings: Sequence[str], now: float) -> Job:
    """The step is done. A wish ends the job here."""
    done = replace(
        job,
        done=job.done + 1,
        buckets_done=job.buckets_done + step.buckets,
        bytes_done=job.bytes_done + step.bytes,
        findings=(*job.findings, *findings)[:MAX_FINDINGS],
        attempts=0,
        error="",
        beats=job.beats + 1,
        stepped_at=now,
    )
    match job.wish:
        case Wish.NONE:
            return done
        case Wish.PAUSE:
            return replace(done, state=JobState.PAUSED, wish=Wish.NONE, owner="")
        case Wish.CANCEL:
            return _ended(done, JobState.CANCELLED, now)


def finished(job: Job, findings: Sequence[str], now: float) -> Job:
    """The job after all of its steps."""
    return replace(_ended(job, JobState.DONE, now), findings=(*job.findings, *findings)[:MAX_FINDINGS], error="")


def failed(job: Job, error: str, final: bool, now: float) -> Job:
    """The step has failed. It is tried again after a while, at most `MAX_ATTEMPTS` times, or without end where files
    are to be removed. final: it is not."""
    if job.wish is Wish.CANCEL:
        return _ended(job, JobState.CANCELLED, now)
    attempts = job.attempts + 1
    if job.kind is JobKind.DISCARD:  # Nobody else would remove the files. Somebody may cancel it.
        attempts = min(attempts, MAX_ATTEMPTS)
    elif final or attempts >= MAX_ATTEMPTS:
        return replace(_ended(job, JobState.FAILED, now), attempts=attempts, error=error)
    wait = FIRST_RETRY_SECONDS * 2 ** (attempts - 1)
    state, wish = (JobState.PAUSED, Wish.NONE) if job.wish is Wish.PAUSE else (JobState.PENDING, job.wish)
    return replace(job, state=state, wish=wish, owner="", attempts=attempts, retry_at=now + wait, error=error)


def waits(job: Job, why: str, now: float) -> Job:
    """Nothing is wrong, but the step can't be done now: it is tried again after a while, in any driver."""
    if job.wish is Wish.CANCEL:
        return _ended(job, JobState.CANCELLED, now)
    state = JobState.PAUSED if job.wish is Wish.PAUSE else JobState.PENDING
    later = now + FIRST_RETRY_SECONDS
    return replace(job, state=state, wish=Wish.NONE, owner="", attempts=0, retry_at=later, error=why)


def _ended(job: Job, state: JobState, now: float) -> Job:
    end = now if state.is_end else None
    return replace(job, state=state, wish=Wish.NONE, owner="", ended_at=end)
