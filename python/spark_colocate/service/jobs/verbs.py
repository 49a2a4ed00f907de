"""The verbs on jobs: for users, and for the driver that runs them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spark_colocate.errors import Code, RequestError
from spark_colocate.model import Group, GroupName, Job, JobKind, JobState, JobStep, Member, TableName, Wish
from spark_colocate.service.base.beats import Beats
from spark_colocate.service.base.requests import OperationContext, Request
from spark_colocate.service.base.transactions import Transactions
from spark_colocate.service.groups import groups, listings
from spark_colocate.service.jobs import states
from spark_colocate.service.placement import hosts
from spark_colocate.store.protocol import Transaction

_MAX_ID = 2**63 - 1
"""The greatest id that a store can hold."""


class JobLost(Exception):
    """Another driver does the job now, or somebody has ended it."""


class Jobs:
    """The jobs of one catalog. Verbs may be called from several threads."""

    def __init__(self, catalog: Transactions) -> None:
        self._catalog = catalog
        self._beats = Beats()
        self._lock = threading.Lock()
        self.doing: set[int] = set()
        """Ids of the jobs that this process does."""

    # --- For users ---

    def start(self, kind: JobKind, target: str, db: str, options: Mapping[str, Any], request: Request) -> Job:
        """Starts a job on a group, or on one table of a group; some driver of this catalog does it.

        target: a table as `db.t` or `t`, or a group as for `Service.set_group_stable`; `table:` or `group:` before it
            says which one is meant where a table and a group have the same name.
        db: the current database, for names without one.
        Raises GroupError or RequestError if there is no such table or group, or its group has a job already.
        """
        self._refuse_without_store(target)
        with self._catalog.writing(request) as tx:
            group, member = self._target(tx, kind, target, db)
            return self._started(tx, kind, group, member, options, request)

    def start_adoption(self, table: TableName, group: GroupName, options: Mapping[str, Any], request: Request) -> Job:
        """Starts a job that makes a table a member of a group; there may be none of this name yet.

        Raises RequestError if such a job on the table has not ended, or if the table is in a group.
        """
        with self._catalog.writing(request) as tx:
            held = _member(tx, table)
            if held:
                raise _is_member(held)
            context = self._context(request)
            return states.start(
                tx, JobKind.ADOPT, group, table, options, context, self._catalog.owner, self.is_abandoned
            )

    def start_due(self, kind: JobKind, seconds: float, options: Mapping[str, Any], request: Request) -> list[Job]:
        """Starts a job on each group that has none, and whose last one of this kind and user began so long ago."""
        if not self._catalog.listed(lambda tx: self._due(tx, kind, seconds, request)):
            return []
        with self._catalog.writing_unasked() as tx:
            due = self._due(tx, kind, seconds, request)
            return [self._started(tx, kind, group, None, options, request) for group in due]

    def target(self, kind: JobKind, target: str, db: str) -> tuple[Group, Member | None]:
        """The group that a job would concern, and its table if it concerns only one. Raises as `start` does."""
        self._refuse_without_store(target)
        with self._catalog.reading() as tx:
            return self._target(tx, kind, target, db)

    def all(self) -> list[Job]:
        """All jobs by id; of those that have ended, the last thousand."""
        return self._catalog.listed(lambda tx: list(tx.jobs()))

    def get(self, job_id: int) -> Job:
        """Raises RequestError for an unknown one."""
        if job_id > _MAX_ID or not self._catalog.store.exists():
            raise states.unknown(job_id)
        with self._catalog.reading() as tx:
            return states.find(tx, job_id)

    def steps(self, job_id: int) -> list[JobStep]:
        """The steps of a job, if they are known already."""
        return self._catalog.listed(lambda tx: list(tx.job_steps(job_id)))

    def pause(self, job_id: int, request: Request) -> Job:
        """Stops a job after its running step. Raises RequestError for an unknown one, or one that has ended."""
        return self._changed(states.pause, job_id, request)

    def resume(self, job_id: int, request: Request) -> Job:
        """Lets a paused job go on. Raises the same errors as `pause`."""
        return self._changed(states.resume, job_id, request)

    def cancel(self, job_id: int, request: Request) -> Job:
        """Ends a job; the running step is stopped, and what is done stays. Raises the same errors as `pause`."""
        return self._changed(states.cancel, job_id, request)

    def is_abandoned(self, job: Job) -> bool:
        """Has the driver that does the job ended, as far as this process has seen? It is certain where the driver ran
        on this machine; of others it takes a look before, so long ago that their beats would have moved."""
        with self._lock:
            stands = self._beats.stands(job.job_id, self._catalog.steady())
        return job.job_id not in self.doing and states.is_abandoned(job, stands, self._catalog.is_gone)

    def left(self, kind: JobKind, target: str, options: Mapping[str, Any]) -> Job | None:
        """The job like this one whose driver has ended, as far as this process has seen: whoever comes first goes on
        with it. Raises as `target` does."""
        group, member = self.target(kind, target, "")
        wanted = (kind, group.name, member.name if member else None, dict(options), Wish.NONE)
        found = self._open()
        self._see(found)
        like = (job for job in found if (job.kind, job.group, job.table, dict(job.options), job.wish) == wanted)
        return next(filter(self.is_abandoned, like), None)

    def settle(self) -> None:
        """Ends or frees the jobs whose drivers have ended. Each look counts, so a waiting caller calls it again."""
        found = self._open()
        self._see(found)
        if any(map(self.is_abandoned, found)):
            with self._catalog.writing_unasked() as tx:
                for job in filter(self.is_abandoned, tx.open_jobs()):
                    self._settle(tx, states.settled(tx, job, self._context(Request(who=job.who))))

    # --- For the driver that does them ---

    def claim(self) -> Job | None:
        """A job that this driver is to do now, from its first step that is not done."""
        found = self._free(self._open())
        if not found:
            return None
        with self._catalog.writing_unasked() as tx:
            for job in self._free(tx.open_jobs()):
                taken = states.taken(job, self._catalog.owner, self._catalog.clock())
                self._put(tx, taken)
                if taken.state is JobState.RUNNING:
                    with self._lock:
                        self.doing.add(taken.job_id)
                    return taken
        return None

    def planned(self, job: Job, steps: Sequence[JobStep]) -> Job:
        """The steps of a job are known. Raises JobLost."""
        with self._catalog.writing_unasked() as tx:
            changed = states.planned(self._mine(tx, job), steps)
            tx.put_job_steps(job.job_id, steps)
            tx.put_job(changed)
            return changed

    def stepped(self, job: Job, step: JobStep, findings: Sequence[str]) -> Job:
        """A step is done. The answer's state says whether to go on. Raises JobLost."""
        return self._passed(job, lambda held, now: states.stepped(held, step, findings, now))

    def finished(self, job: Job, findings: Sequence[str]) -> Job:
        """Ends a job whose steps are all done. Raises JobLost."""
        return self._passed(job, lambda held, now: states.finished(held, findings, now))

    def failed(self, job: Job, error: str, final: bool) -> Job:
        """A step has failed. Raises JobLost."""
        return self._passed(job, lambda held, now: states.failed(held, error, final, now))

    def waits(self, job: Job, why: str) -> Job:
        """A step can't be done now, though nothing is wrong. Raises JobLost."""
        return self._passed(job, lambda held, now: states.waits(held, why, now))

    def holds(self, job: Job) -> bool:
        """Is the job still this process' by the claim that it has, and is not to be cancelled? Asks the store."""
        with self._catalog.reading() as tx:
            held = tx.job(job.job_id)
            return _is_claimed(held, job) and held is not None and held.wish is not Wish.CANCEL

    def released(self, job: Job) -> None:
        """This process does the job no more, whatever its state is."""
        with self._lock:
            self.doing.discard(job.job_id)

    def renew(self) -> None:
        """Increments the beats of the jobs that this process runs."""
        with self._lock:
            mine = frozenset(self.doing)
        if mine:
            with self._catalog.writing_unasked() as tx:
                for job_id in mine:
                    tx.beat_job(job_id, self._catalog.owner)

    def to_stop(self) -> list[Job]:
        """The jobs of this process whose running step somebody wants stopped."""
        if not self.doing:
            return []
        return [job for job in self._open() if job.job_id in self.doing and job.wish is Wish.CANCEL]

    # --- Helpers ---

    def _open(self) -> list[Job]:
        """The jobs that have not ended."""
        return self._catalog.listed(lambda tx: list(tx.open_jobs()))

    def _due(self, tx: Transaction, kind: JobKind, seconds: float, request: Request) -> list[Group]:
        now, held = self._catalog.clock(), tx.jobs()
        busy = {job.group for job in held if not job.state.is_end and not job.kind.is_of_newcomer}
        lately = {
            job.group for job in held if job.kind is kind and job.who == request.who and now - job.created_at < seconds
        }
        found = [one.group for one in listings.groups(tx, now) if one.table_ids]
        return [group for group in found if group.name not in busy | lately]

    def _refuse_without_store(self, target: str) -> None:
        if not self._catalog.store.exists():
            raise groups.unknown(target.rpartition(":")[2], ())

    def _target(self, tx: Transaction, kind: JobKind, target: str, db: str) -> tuple[Group, Member | None]:
        sort, _, name = target.rpartition(":")
        if sort != "group":
            member = _member(tx, _table(name, db))
            group = tx.group(member.group) if member else None
            if member and group:
                if kind is JobKind.BALANCE:
                    raise _only_groups(member)
                return group, member
        if sort == "table":
            known = ", ".join(sorted(str(one.name) for one in tx.members())[:3]) or "none"
            raise RequestError(
                Code.JOB_TARGET,
                f"Cannot {kind} table {name}: it is in no group (tables in groups: {known}).",
                "SELECT db, `table` FROM system.colocation_tables lists them; CALL system.reconcile() finds tables "
                "that another session has changed.",
            )
        return groups.find(tx, name, db, self._catalog.clock()), None

    def _changed(
        self, change: Callable[[Transaction, int, OperationContext], Job], job_id: int, request: Request
    ) -> Job:
        if job_id > _MAX_ID or not self._catalog.store.exists():
            raise states.unknown(job_id)
        with self._catalog.writing(request) as tx:
            job = self._settled_first(tx, job_id, request) or change(tx, job_id, self._context(request))
            self._settle(tx, job)
            return job

    def _settled_first(self, tx: Transaction, job_id: int, request: Request) -> Job | None:
        """A job whose driver has ended does not wait for a step to end. The answer: what was wished of it before."""
        self._see(tx.open_jobs())
        held = tx.job(job_id)
        if held is None or not self.is_abandoned(held):
            return None
        settled = states.settled(tx, held, self._context(request))
        return settled if settled.state.is_end else None

    def _see(self, found: Sequence[Job]) -> None:
        with self._lock:
            self._beats.see({job.job_id: job.beats for job in found}, self._catalog.steady())

    def _started(
        self,
        tx: Transaction,
        kind: JobKind,
        group: Group,
        member: Member | None,
        options: Mapping[str, Any],
        request: Request,
    ) -> Job:
        context = self._context(request)
        table = member.name if member else None
        return states.start(tx, kind, group.name, table, options, context, self._catalog.owner, self.is_abandoned)

    def _passed(self, job: Job, change: Callable[[Job, float], Job]) -> Job:
        with self._catalog.writing_unasked() as tx:
            changed = change(self._mine(tx, job), self._catalog.clock())
            self._put(tx, changed)
            return changed

    def _mine(self, tx: Transaction, job: Job) -> Job:
        held = tx.job(job.job_id)
        if held is None or not _is_claimed(held, job):
            raise JobLost(f"job {job.job_id}")
        return held

    def _put(self, tx: Transaction, job: Job) -> None:
        tx.put_job(job)
        if job.state.is_end:
            context = self._context(Request(who=job.who))
            context.log(tx, f"{job.state}_job", job.job_id, f"{job.kind} {job.target}")
        self._settle(tx, job)

    def _settle(self, tx: Transaction, job: Job) -> None:
        """A job that moves buckets makes its group's placement unstable; that ends with it, however it ends.

        What an adoption has written without a commit is removed by a job that follows it."""
        states.follow_up(tx, job, self._context(Request(who=job.who)))
        group = tx.group(job.group) if job.state.is_end else None
        if group:
            settled = hosts.placed(group, group.sequence, hosts.living(tx))
            if settled != group:
                tx.put_group(settled)

    def _free(self, found: Sequence[Job]) -> list[Job]:
        catalog, now = self._catalog, self._catalog.steady()
        with self._lock:
            self._beats.see({job.job_id: job.beats for job in found}, now)
            doing = frozenset(self.doing)
            return [
                job
                for job in found
                if states.is_free(
                    job, catalog.owner, doing, self._beats.stands(job.job_id, now), catalog.is_gone, catalog.clock()
                )
            ]

    def _context(self, request: Request) -> OperationContext:
        return self._catalog.context(request)


def _is_claimed(held: Job | None, job: Job) -> bool:
    return held is not None and held.state is JobState.RUNNING and held.claim == job.claim


def _table(name: str, db: str) -> TableName:
    before, _, table = name.replace("`", "").rpartition(".")
    return TableName(before or db, table)


def _member(tx: Transaction, name: TableName) -> Member | None:
    """Also in small letters, as Spark's catalog keeps names unless the session distinguishes case."""
    return tx.member(name) or tx.member(TableName(name.db.lower(), name.table.lower()))


def _is_member(member: Member) -> RequestError:
    return RequestError(
        Code.ADOPT_REFUSED,
        f"Cannot adopt {member.name}: it is in group {member.group} already.",
        f"ALTER TABLE {member.name.sql} SET TBLPROPERTIES ('colocate_with' = '...') moves it to another group.",
    )


def _only_groups(member: Member) -> RequestError:
    return RequestError(
        Code.JOB_TARGET,
        f"Cannot balance table {member.name} alone: all tables of a group share one bucket sequence.",
        f"Balance its group: CALL system.balance(group => '{member.group}').",
    )
