"""Jobs that adopt a table, without Spark: their steps, waits, ends, and what follows them; the same on every store."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from spark_colocate.bridge.endpoint import Endpoint
from spark_colocate.errors import Code, EngineError
from spark_colocate.jobs import adopt
from spark_colocate.jobs.runner import JobRunner
from spark_colocate.model import Job, JobKind, JobState

from tests.contract.adoptable import Adoptable
from tests.contract.plane import Plane, Refused


class Worker:
    """A driver that does jobs on one table, with a clock of its own that never jumps."""

    def __init__(self, plane: Plane, table: Adoptable) -> None:
        self.plane, self.table, self.steady = plane, table, 0.0
        plane.service.steady = lambda: self.steady
        plane.endpoint = Endpoint(plane.service, table)
        self.runner = JobRunner(plane.service, table)

    def look(self, after: float = 0.0) -> bool:
        self.steady += after
        return self.runner.look()

    def start(self, table: str = "db.t", group: str = "g", **options: Any) -> int:
        wanted = {"keys": ["k"], "buckets": 4, **options}
        started = self.plane.call("start_job", kind="adopt", target=table, group=group, db="db", options=wanted)
        return int(started["job_id"])

    def job(self, job_id: int) -> Job:
        return self.plane.service.jobs.get(job_id)

    def cancel(self, job_id: int) -> None:
        self.plane.call("cancel_job", job_id=job_id)

    def kinds(self) -> list[tuple[JobKind, JobState]]:
        return [(job.kind, job.state) for job in self.plane.service.jobs.all()]


@pytest.fixture
def table() -> Adoptable:
    return Adoptable()


@pytest.fixture
def worker(plane: Plane, table: Adoptable) -> Worker:
    return Worker(plane, table)


@pytest.fixture
def other(another: Callable[..., Plane], worker: Worker, table: Adoptable) -> Worker:
    return Worker(another(), table)


def test_an_adopted_table_is_in_a_new_group(worker: Worker) -> None:
    job_id = worker.start()
    assert worker.look()
    job = worker.job(job_id)
    assert (job.state, job.error, job.done, job.steps) == (JobState.DONE, "", 7, 7)
    assert job.findings == ("db.t is in group db.g, with 4 buckets; 0 files of others' commits were caught up",)
    assert worker.plane.members() == {"db.t": "db.g"}
    assert worker.plane.group("db.g")["buckets"] == 4
    assert worker.table.calls[-1] == "adopt_finish"
    assert not worker.look()


def test_without_a_number_a_group_gets_one_that_fits_the_size(worker: Worker) -> None:
    worker.start(buckets=0)
    worker.look()
    assert worker.plane.group("db.g")["buckets"] == 16


def test_without_a_number_a_table_gets_that_of_its_group(worker: Worker) -> None:
    worker.plane.create("db.u", buckets=6)
    worker.start(buckets=0)
    worker.look()
    assert worker.plane.members() == {"db.u": "db.g", "db.t": "db.g"}


def test_the_job_is_in_the_way_of_no_other_job_on_the_group(worker: Worker) -> None:
    worker.plane.create("db.u")
    worker.start()
    worker.plane.call("start_job", kind="verify", target="db.g", options={}, db="db")
    with pytest.raises(Refused, match=r"job .* is pending") as refused:
        worker.start()
    assert refused.value.code == "JOB_RUNNING"


def test_a_member_is_not_adopted_again(worker: Worker) -> None:
    worker.plane.create("db.t")
    with pytest.raises(Refused, match=r"in group db.g already") as refused:
        worker.start()
    assert refused.value.code == "ADOPT_REFUSED"


def test_other_commits_are_caught_up_in_rounds(worker: Worker) -> None:
    worker.table.late = 3
    job_id = worker.start()
    worker.look()
    assert worker.job(job_id).state is JobState.DONE
    assert "3 files of others' commits" in worker.job(job_id).findings[0]


def test_where_writers_never_pause_the_job_says_so_and_waits(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopt, "ROUND_SECONDS", 0.0)
    worker.table.late = 2
    job_id = worker.start()
    assert worker.look()
    job = worker.job(job_id)
    assert (job.state, job.attempts) == (JobState.PENDING, 0)
    assert "Cannot commit yet: 1 time in a row" in job.error and f"cancel_job({job_id})" in job.error
    assert not worker.look(), "it waits"
    for _ in range(2):
        worker.plane.clock.now += 6
        assert worker.look()
    assert (worker.job(job_id).state, worker.job(job_id).error) == (JobState.DONE, "")


def test_a_job_that_waits_can_be_given_up(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopt, "ROUND_SECONDS", 0.0)
    worker.table.late = 99
    job_id = worker.start()
    worker.look()
    worker.cancel(job_id)
    assert worker.look(), "what it has written is removed"
    assert worker.kinds() == [(JobKind.ADOPT, JobState.CANCELLED), (JobKind.DISCARD, JobState.DONE)]
    assert worker.table.discarded and not worker.table.parts and not worker.table.marks
    assert worker.plane.members() == {} and worker.plane.groups() == []


@pytest.mark.parametrize("task", ["adopt_part", "adopt_mark"])
def test_a_job_that_is_cancelled_before_its_commit_makes_none(worker: Worker, task: str) -> None:
    """Though nothing has stopped the running step yet."""
    job_id = worker.start()
    worker.table.before = lambda now, _args: worker.cancel(job_id) if now == task else None
    for _ in range(3):  # the step, the end of the job, what follows it
        worker.look()
    assert worker.kinds() == [(JobKind.ADOPT, JobState.CANCELLED), (JobKind.DISCARD, JobState.DONE)]
    assert not worker.table.committed and not worker.table.parts and not worker.table.marks
    assert worker.plane.members() == {} and worker.plane.groups() == []


def test_a_job_that_is_cancelled_before_it_has_steps_leaves_nothing_to_remove(worker: Worker) -> None:
    worker.cancel(worker.start())
    assert not worker.look()
    assert worker.kinds() == [(JobKind.ADOPT, JobState.CANCELLED)]


def test_a_job_that_fails_is_followed_by_one_that_removes_what_it_has_written(worker: Worker) -> None:
    def fails(task: str, _args: Mapping[str, Any]) -> None:
        if task == "adopt_mark":
            raise EngineError(Code.ENGINE_FAILED, "The table was altered.", "Start it again.", final=True)

    worker.table.before = fails
    job_id = worker.start()
    worker.look()
    assert worker.job(job_id).state is JobState.FAILED
    worker.table.before = lambda _task, _args: None
    worker.look()
    assert worker.kinds()[1:] == [(JobKind.DISCARD, JobState.DONE)] and worker.table.discarded
    assert worker.plane.members() == {} and worker.plane.groups() == []


def test_files_are_removed_though_it_fails_often(worker: Worker) -> None:
    """The storage is away for a while."""
    worker.table.late = 1

    def fails(task: str, _args: Mapping[str, Any]) -> None:
        if task in ("adopt_mark", "adopt_discard"):
            raise EngineError(Code.ENGINE_FAILED, "The storage is away.", "Try again.", final=True)

    worker.table.before = fails
    worker.start()
    for _ in range(10):
        worker.look()
        worker.plane.clock.now += 1000
    assert worker.kinds() == [(JobKind.ADOPT, JobState.FAILED), (JobKind.DISCARD, JobState.PENDING)]
    worker.table.before = lambda _task, _args: None
    worker.look()
    assert worker.kinds()[1:] == [(JobKind.DISCARD, JobState.DONE)] and worker.table.discarded


def _dies_at(table: Adoptable, task: str, times: int = 1) -> None:
    """The driver ends when it comes to the task for the n-th time."""
    seen = 0

    def dies(name: str, _args: Mapping[str, Any]) -> None:
        nonlocal seen
        seen += name == task
        if seen == times and name == task:
            raise SystemExit

    table.before = dies


TASKS = ["adopt_facts", "adopt_part", "adopt_mark", "adopt_commit", "adopt_finish"]


@pytest.mark.parametrize("task", TASKS)
def test_a_driver_that_ends_is_followed_by_another(worker: Worker, other: Worker, task: str) -> None:
    """Also between the commit and its entry in the store."""
    job_id = worker.start()
    _dies_at(worker.table, task)
    with pytest.raises(SystemExit):
        worker.look()
    worker.table.before = lambda _task, _args: None
    other.plane.gone.add("driver")
    assert other.look()
    assert (other.job(job_id).state, other.job(job_id).error) == (JobState.DONE, "")
    assert other.plane.members() == {"db.t": "db.g"}


def test_a_commit_whose_driver_has_ended_counts_though_the_job_is_cancelled(worker: Worker, other: Worker) -> None:
    job_id = worker.start()
    _dies_at(worker.table, "adopt_finish")
    worker.plane.service.finish = lambda *_args, **_more: (_ for _ in ()).throw(SystemExit())  # type: ignore[method-assign, assignment, misc]
    with pytest.raises(SystemExit):
        worker.look()
    worker.table.before = lambda _task, _args: None
    assert worker.table.committed and other.plane.members() == {}
    other.plane.gone.add("driver")
    other.cancel(job_id)
    assert other.look()
    assert not worker.table.discarded
    assert other.plane.members() == {"db.t": "db.g"}


@pytest.mark.parametrize("task", ["adopt_part", "adopt_mark"])
def test_a_late_owner_removes_what_it_has_written_and_does_no_more(worker: Worker, other: Worker, task: str) -> None:
    """While its step runs, another driver takes the job over, and somebody cancels it there."""
    job_id = worker.start()

    def taken_over(name: str, _args: Mapping[str, Any]) -> None:
        if name == task:
            worker.table.before = lambda _task, _args: None
            other.look()
            other.plane.gone.add("driver")
            other.cancel(job_id)
            other.plane.gone.clear()

    worker.table.before = taken_over
    worker.look()
    assert not worker.table.committed
    assert worker.job(job_id).state is JobState.CANCELLED
    assert "adopt_commit" not in worker.table.calls and worker.table.calls[-1] == "adopt_drop"
    worker.look()
    assert worker.table.discarded and not worker.table.parts and not worker.table.marks
