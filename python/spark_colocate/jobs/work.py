"""The interface of a kind of job, and what it works with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spark_colocate.engine import Engine
from spark_colocate.errors import Code, EngineError, GroupError, RequestError
from spark_colocate.model import Format, Group, Job, JobStep, Member, TableName
from spark_colocate.service import JobLost, Request, Service

STEP_BUCKETS = 32
STEP_BYTES = 1 << 30


class NotYet(Exception):
    """A step can't be done now, but nothing is wrong: the job waits for a while, and its text says for what."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a task, by table, and a line for each table on which it can't be done."""

    found: Sequence[tuple[Member, Any]]
    left_out: Sequence[str]


@dataclass(frozen=True, slots=True)
class Work:
    """One job that this process runs: its tables, and what changes them."""

    job: Job
    service: Service
    engine: Engine

    @property
    def job_group(self) -> str:
        """Spark's job group of this job, as the Spark UI shows it."""
        return job_group(self.job)

    @property
    def token(self) -> str:
        """The numbers of the job and of this process' claim on it. Both grow: of two claims, the later is greater."""
        return f"{self.job.job_id}-{self.job.claim}"

    def hold(self) -> None:
        """Raises JobLost if another process has claimed the job meanwhile, or somebody has ended or cancelled it."""
        if not self.service.jobs.holds(self.job):
            raise JobLost(f"job {self.job.job_id}")

    def group(self) -> Group:
        """Raises GroupError if it has ended, StoreError if the store is gone."""
        name = str(self.job.group)
        try:
            return self.service.group(name).group
        except GroupError:  # A store whose folder is away looks empty. The job is in the store, so it can't be.
            self.service.require_store()
            return self.service.group(name).group

    def members(self) -> Sequence[Member]:
        """The tables that the job concerns, those that have joined since it was started among them.

        Raises GroupError if the group has ended, RequestError if the table has left it.
        """
        found = self._members()
        if not found:
            self.group()
            found = self._members()
        if not found:
            raise RequestError(
                Code.JOB_TARGET, f"{self.job.target} has left its group.", "Nothing is left to do for this job."
            )
        return found

    def _members(self) -> list[Member]:
        return [member for member in self.group_members() if self.job.table in (None, member.name)]

    def group_members(self) -> list[Member]:
        """All tables of the job's group, also where the job concerns one of them."""
        return [one.member for one in self.service.members() if one.group.name == self.job.group]

    def host_names(self) -> dict[int, str]:
        """The names of all hosts, by their backend ids."""
        return {host.backend_id: host.host for host in self.service.hosts()}

    def member(self, name: str) -> Member | None:
        """One table of the group; None if it has left the group."""
        return next((member for member in self.members() if str(member.name) == name), None)

    def on(self, member: Member, task: str, **args: Any) -> Any:
        """The answer of a task on one table. Raises EngineError."""
        return self.on_table(member.name, task, member.format, **args)

    def on_table(self, name: TableName, task: str, table_format: Format = Format.DELTA, **args: Any) -> Any:
        """The same on a table that may be in no group. Raises EngineError."""
        table = {"db": name.db, "table": name.table, "format": str(table_format)}
        return self.engine.run(task, {**table, **args}, self.job_group)

    def on_each(self, members: Iterable[Member], task: str, **args: Any) -> Answers:
        """The answers of a task on several tables. One that another session dropped, or made anew without buckets, does
        not keep the job from the others.

        Raises EngineError where no table is left, as in a job that concerns one table, and where the task may succeed
        later.
        """
        found: list[tuple[Member, Any]] = []
        failed: dict[Member, EngineError] = {}
        for member in members:
            try:
                found.append((member, self.on(member, task, **args)))
            except EngineError as error:
                if not error.final:
                    raise
                failed[member] = error
        if failed and not found:
            raise next(iter(failed.values()))
        return Answers(found, [f"{member.name} was left out: {error.headline}" for member, error in failed.items()])

    def request(self) -> Request:
        """A request to the service in the name of the user who started the job."""
        return Request(who=self.job.who)


class Kind(Protocol):
    """One kind of job."""

    options: Mapping[str, Any]
    """Names of its options, with their defaults."""

    def check(self, options: Mapping[str, Any]) -> None:
        """Raises RequestError for a wrong value."""

    def begin(self, work: Work) -> list[JobStep]:
        """The steps, in order. It changes nothing, so it also answers a dry run."""

    def step(self, work: Work, step: JobStep) -> list[str]:
        """Does a step, or finds it done. Returns what is worth knowing, a line each."""

    def end(self, work: Work) -> list[str]:
        """Ends the job after its last step."""


def job_group(job: Job) -> str:
    """Spark's job group of a job."""
    return f"colocate-job-{job.job_id}"


def batches(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Buckets, given with their bytes, in runs for a step each: every step of a table lists its files anew, and what
    ends within a step does all of it again. One bucket is never cut."""
    run: list[int] = []
    held = 0
    for bucket, size in sizes.items():
        if run and (len(run) == STEP_BUCKETS or held + size > STEP_BYTES):
            yield run
            run, held = [], 0
        run.append(bucket)
        held += size
    if run:
        yield run


def named(buckets: Sequence[int]) -> str:
    """`bucket 3`, or `buckets 3 to 7`, or `buckets 3, 7`."""
    if len(buckets) == 1:
        return f"bucket {buckets[0]}"
    if list(buckets) == list(range(buckets[0], buckets[-1] + 1)):
        return f"buckets {buckets[0]} to {buckets[-1]}"
    return f"buckets {', '.join(map(str, buckets))}"


def unknown_option(kind: str, name: str, value: object, known: str) -> RequestError:
    """The error for a wrong value of an option."""
    return RequestError(
        Code.JOB_OPTION, f"Cannot {kind} with {name} => {value!r} ({known}).", "Use one of these values."
    )
