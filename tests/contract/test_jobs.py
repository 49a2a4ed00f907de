"""Jobs: who does them, and what becomes of them; the same on every store."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from spark_colocate.errors import Code, EngineError, StoreError
from spark_colocate.jobs.runner import JobRunner
from spark_colocate.jobs.scheduler import NAME, Scheduler
from spark_colocate.jobs.work import named
from spark_colocate.model import Job, JobKind, JobState
from spark_colocate.service import Request
from spark_colocate.service.jobs.states import FIRST_CHOICE_SECONDS, LEASE_SECONDS, MAX_ATTEMPTS
from spark_colocate.store import open_store

from tests.contract.plane import HOUR, Plane, Refused
from tests.contract.tables import Table, Tables

WHO = Request(who="tester")


class Worker:
    """A driver that does jobs, with a clock of its own that never jumps."""

    def __init__(self, plane: Plane, tables: Tables) -> None:
        self.plane, self.tables, self.steady = plane, tables, 0.0
        plane.service.steady = lambda: self.steady
        self.runner = JobRunner(plane.service, tables)

    def look(self, after: float = 0.0) -> bool:
        self.steady += after
        return self.runner.look()

    def start(self, kind: str = "verify", target: str = "db.t", **options: Any) -> int:
        return int(self.plane.call("start_job", kind=kind, target=target, options=options, db="db")["job_id"])

    def job(self, job_id: int) -> Job:
        return self.plane.service.jobs.get(job_id)


@pytest.fixture
def tables() -> Tables:
    return Tables({"db.t": Table([10, 20, 30, 40]), "db.u": Table([1, 1, 1, 1])})


@pytest.fixture
def worker(plane: Plane, tables: Tables) -> Worker:
    plane.hosts = ("a", "b")
    plane.create("db.t")
    plane.create("db.u")
    return Worker(plane, tables)


@pytest.fixture
def other(another: Callable[..., Plane], worker: Worker, tables: Tables) -> Worker:
    return Worker(another(), tables)


def test_a_job_is_done_and_tells_its_progress(worker: Worker) -> None:
    job_id = worker.start(target="db.g")
    row = worker.plane.call("job", job_id=job_id)
    assert (row["state"], row["target"], row["steps"], row["who"]) == ("pending", "db.g", None, "tester")
    assert worker.look()
    row = worker.plane.call("job", job_id=job_id)
    assert (row["state"], row["findings"], row["error"]) == ("done", ["no damage found"], None)
    assert (row["steps"], row["steps_done"], row["buckets_done"], row["bytes_done"]) == (2, 2, 8, 104)
    assert not worker.look()
    assert worker.plane.call("rows", table="colocation_jobs") == [row]


def test_it_is_noted_when_and_how_a_table_was_verified(worker: Worker) -> None:
    def verified() -> list[tuple[str | None, str | None]]:
        return [(row["verified_at"], row["verified_mode"]) for row in worker.plane.call("table_rows")]

    worker.start(mode="metadata")
    worker.look()
    assert verified() == [(None, None)] * 2, "no row was read"
    worker.start(mode="sample")
    worker.look()
    assert verified() == [("2027-01-15T08:00:00+00:00", "sample"), (None, None)]
    worker.plane.clock.now += HOUR
    worker.start(target="db.g")
    worker.look()
    assert verified() == [("2027-01-15T09:00:00+00:00", "rows")] * 2


def test_wrong_files_are_found_and_then_repaired(worker: Worker) -> None:
    worker.tables.tables["db.t"].wrong[2] = "part-7"
    found = worker.start()
    worker.look()
    assert worker.job(found).findings[0] == "db.t: part-7 claims bucket 2 and has a row of bucket 3"
    assert "CALL system.repair(table => 'db.t')" in worker.job(found).findings[1]
    worker.plane.call("table_rows")
    pushed = {member["table"]: member.get("damaged") for member in (worker.plane.snapshot or {})["members"]}
    assert pushed == {"t": True, "u": None}, "drivers know it, and look into the manifest"
    repaired = worker.start("repair")
    worker.look()
    assert worker.job(repaired).findings == ("db.t: 1 stray became 1 file of buckets",)


@pytest.mark.parametrize("moved", ["store", "store/store.sqlite"])
@pytest.mark.parametrize("kind", ["verify", "repair"])
def test_a_job_outlives_a_store_that_is_away(tables: Tables, tmp_path: Path, kind: str, moved: str) -> None:
    file, elsewhere = tmp_path / moved, tmp_path / "elsewhere"
    plane = Plane(open_store(f"sqlite:///{tmp_path}/store/store.sqlite"), hosts=("a",))
    plane.create("db.t")
    worker = Worker(plane, tables)
    job_id = worker.start(kind)

    def moves(_task: str, _args: Mapping[str, Any]) -> None:
        file.rename(elsewhere)

    tables.before = moves
    with pytest.raises(StoreError):
        worker.look()
    tables.before = lambda _task, _args: None
    with suppress(StoreError):
        assert not worker.look()
    elsewhere.rename(file)
    assert worker.look()
    assert (worker.job(job_id).state, worker.job(job_id).attempts) == (JobState.DONE, 0)


def test_a_driver_that_is_gone_is_followed_by_another(worker: Worker, other: Worker) -> None:
    job_id = worker.start(target="db.g")

    def dies(task: str, _args: Mapping[str, Any]) -> None:
        if len(worker.tables.done("verify_buckets")) == 2:
            raise SystemExit

    worker.tables.before = dies
    with pytest.raises(SystemExit):
        worker.look()
    worker.plane.service.jobs.doing.clear()
    worker.tables.before = lambda _task, _args: None
    assert (worker.job(job_id).state, worker.job(job_id).done) == (JobState.RUNNING, 1)
    assert not other.look(), "it may still be alive"
    assert not other.look(LEASE_SECONDS - 1)
    assert other.look(2)
    assert other.job(job_id).state is JobState.DONE
    assert [args["table"] for args in worker.tables.done("verify_buckets")] == ["t", "u", "u"], "no step is done twice"


def test_a_driver_that_is_certainly_gone_is_not_waited_for(worker: Worker, other: Worker) -> None:
    worker.start()
    worker.plane.service.jobs.claim()
    assert not other.look()
    other.plane.gone.add("driver")
    assert other.look()


def test_a_process_that_starts_anew_goes_on_with_its_jobs(worker: Worker) -> None:
    job_id = worker.start()
    worker.plane.service.jobs.claim()
    again = Worker(Plane(worker.plane.store, "driver", worker.plane.catalog, worker.plane.clock), worker.tables)
    assert again.look()
    assert again.job(job_id).state is JobState.DONE


def test_a_process_that_wakes_up_late_notes_nothing(worker: Worker) -> None:
    job_id = worker.start(target="db.g")
    again = Worker(Plane(worker.plane.store, "driver", worker.plane.catalog, worker.plane.clock), worker.tables)

    def is_stopped_for_long(task: str, _args: Mapping[str, Any]) -> None:
        if task == "verify_buckets":
            worker.tables.before = lambda _task, _args: None
            assert again.look()

    worker.tables.before = is_stopped_for_long
    assert worker.look()
    job = worker.job(job_id)
    assert (job.state, job.done, job.findings) == (JobState.DONE, 2, ("no damage found",))


def test_a_slow_step_keeps_its_job(worker: Worker, other: Worker) -> None:
    worker.start()
    worker.plane.service.jobs.claim()
    for _ in range(5):
        worker.plane.service.jobs.renew()
        assert not other.look(LEASE_SECONDS - 5)


def test_clocks_that_differ_by_an_hour_do_not_take_a_job_away(worker: Worker, other: Worker) -> None:
    other.plane.service.clock = lambda: worker.plane.clock.now + HOUR
    worker.start()
    worker.plane.service.jobs.claim()
    assert not other.look()
    assert not other.look(LEASE_SECONDS - 5)


def test_the_driver_in_which_a_job_was_started_has_the_first_choice(worker: Worker, other: Worker) -> None:
    worker.start()
    assert not other.look()
    assert other.look(FIRST_CHOICE_SECONDS + 1)


def test_a_job_that_was_taken_away_is_left_alone(worker: Worker, other: Worker) -> None:
    job_id = worker.start(target="db.g")

    def is_taken(task: str, _args: Mapping[str, Any]) -> None:
        if task == "verify_buckets" and len(worker.tables.done("verify_buckets")) == 1:
            other.plane.gone.add("driver")
            other.plane.service.jobs.claim()

    worker.tables.before = is_taken
    assert worker.look()
    assert (worker.job(job_id).owner, worker.job(job_id).done) == ("other driver", 0)


def test_a_failed_step_is_tried_again_with_longer_and_longer_waits(worker: Worker) -> None:
    job_id = worker.start()

    def fails(_task: str, _args: Mapping[str, Any]) -> None:
        raise EngineError(Code.ENGINE_FAILED, "The disk is full.", "Make room.")

    worker.tables.before = fails
    waits = []
    while worker.look():
        job = worker.job(job_id)
        assert "The disk is full." in job.error
        if job.state is JobState.FAILED:
            break
        assert not worker.look(), "not before its time"
        waits.append(job.retry_at - worker.plane.clock.now)
        worker.plane.clock.now = job.retry_at
    assert waits == [5, 10, 20, 40]
    assert (worker.job(job_id).state, worker.job(job_id).attempts) == (JobState.FAILED, MAX_ATTEMPTS)


def test_a_step_that_can_never_succeed_is_not_tried_again(worker: Worker) -> None:
    del worker.tables.tables["db.t"]
    job_id = worker.start()
    worker.look()
    assert (worker.job(job_id).state, worker.job(job_id).attempts) == (JobState.FAILED, 1)
    worker.plane.drop("db.u")
    gone = worker.start()
    worker.plane.drop("db.t")
    worker.look()
    assert worker.job(gone).state is JobState.FAILED
    assert "db.t" in worker.job(gone).error or "db.g" in worker.job(gone).error


def test_a_job_pauses_after_its_step_and_goes_on_later(worker: Worker) -> None:
    job_id = worker.start(target="db.g")

    def pauses(task: str, _args: Mapping[str, Any]) -> None:
        if task == "verify_buckets":
            worker.plane.call("pause_job", job_id=job_id)

    worker.tables.before = pauses
    worker.look()
    assert (worker.job(job_id).state, worker.job(job_id).done) == (JobState.PAUSED, 1)
    assert not worker.look(HOUR)
    worker.tables.before = lambda _task, _args: None
    worker.plane.call("resume_job", job_id=job_id)
    assert worker.look()
    assert worker.job(job_id).state is JobState.DONE
    assert len(worker.tables.done("verify_buckets")) == 2


def test_a_cancelled_job_stops_its_running_step(worker: Worker) -> None:
    job_id = worker.start(target="db.g")

    def is_cancelled(task: str, _args: Mapping[str, Any]) -> None:
        if task == "verify_buckets":
            assert worker.plane.call("cancel_job", job_id=job_id)["requested"] == "cancel"
            worker.runner.stop_cancelled()

    worker.tables.before = is_cancelled
    worker.look()
    assert worker.tables.cancelled == [f"colocate-job-{job_id}"]
    assert (worker.job(job_id).state, worker.job(job_id).done) == (JobState.CANCELLED, 0)


def test_jobs_that_wait_are_paused_and_cancelled_at_once(worker: Worker) -> None:
    job_id = worker.start()
    assert worker.plane.call("pause_job", job_id=job_id)["state"] == "paused"
    assert worker.plane.call("cancel_job", job_id=job_id)["state"] == "cancelled"
    for verb in ("pause_job", "resume_job", "cancel_job"):
        with pytest.raises(Refused, match=r"it is cancelled. Start a new one: CALL system.verify\(table => 'db.t'\)"):
            worker.plane.call(verb, job_id=job_id)
    for unknown in (77, 99_999_999_999_999, 10**30):
        with pytest.raises(Refused, match=f"There is no job {unknown}\\.") as refused:
            worker.plane.call("cancel_job", job_id=unknown)
        assert refused.value.code == "JOB_UNKNOWN"


def test_a_cancelled_job_of_a_driver_that_is_gone_ends(worker: Worker, other: Worker) -> None:
    job_id = worker.start()
    worker.plane.service.jobs.claim()
    worker.plane.call("cancel_job", job_id=job_id)
    other.plane.gone.add("driver")
    assert not other.look()
    assert other.job(job_id).state is JobState.CANCELLED


@pytest.mark.parametrize("wish", ["", "pause", "cancel"])
@pytest.mark.parametrize("verb", ["cancel_job", "pause_job", "resume_job"])
def test_a_job_of_a_driver_that_is_gone_is_changed_at_once(worker: Worker, other: Worker, wish: str, verb: str) -> None:
    job_id = worker.start()
    worker.plane.service.jobs.claim()
    if wish:
        worker.plane.call(f"{wish}_job", job_id=job_id)
    other.plane.gone.add("driver")
    row = other.plane.call(verb, job_id=job_id)
    then = {"cancel_job": "cancelled", "pause_job": "paused", "resume_job": "pending"}[verb]
    assert (row["state"], row["requested"]) == ("cancelled" if wish == "cancel" else then, None)
    assert other.look() == (row["state"] == "pending")


def test_a_job_whose_driver_does_not_answer_is_ended_by_whoever_waits(worker: Worker, other: Worker) -> None:
    """Of a driver on another machine nothing is certain, but its beats stand still."""
    job_id = worker.start()
    worker.plane.service.jobs.claim()
    assert other.plane.call("cancel_job", job_id=job_id)["state"] == "running"
    other.steady += LEASE_SECONDS - 1
    other.plane.service.jobs.settle()
    assert other.job(job_id).state is JobState.RUNNING
    other.steady += 2
    other.plane.service.jobs.settle()
    assert other.job(job_id).state is JobState.CANCELLED


def test_a_living_driver_keeps_its_job_from_whoever_waits(worker: Worker, other: Worker) -> None:
    job_id = worker.start()
    worker.plane.service.jobs.claim()
    for _ in range(4):
        worker.plane.service.jobs.renew()
        other.steady += LEASE_SECONDS - 5
        other.plane.service.jobs.settle()
        worker.steady += LEASE_SECONDS + 1
        worker.plane.service.jobs.settle()
    assert worker.job(job_id).state is JobState.RUNNING


def test_a_late_driver_notes_nothing_of_a_job_that_was_settled(worker: Worker, other: Worker) -> None:
    job_id = worker.start(target="db.g")

    def is_ended(task: str, _args: Mapping[str, Any]) -> None:
        if task == "verify_buckets":
            other.plane.gone.add("driver")
            other.plane.service.jobs.settle()

    worker.tables.before = is_ended
    assert worker.look()
    assert (other.job(job_id).state, other.job(job_id).done) == (JobState.PENDING, 0)


def test_the_same_job_goes_on_where_the_driver_of_the_first_one_is_gone(worker: Worker, other: Worker) -> None:
    job_id = worker.start()
    worker.plane.service.jobs.claim()
    with pytest.raises(Refused, match="is running") as refused:
        other.start()
    assert "driver" not in str(refused.value)
    other.plane.gone.add("driver")
    with pytest.raises(Refused, match=rf"is pending, because the driver that did it has ended.*cancel_job\({job_id}\)"):
        other.start("repair")
    assert other.start() == job_id
    assert other.look()
    assert other.job(job_id).state is JobState.DONE


def test_a_cancelled_job_of_a_driver_that_is_gone_keeps_nobody_from_a_new_one(worker: Worker, other: Worker) -> None:
    job_id = worker.start()
    worker.plane.service.jobs.claim()
    worker.plane.call("cancel_job", job_id=job_id)
    other.plane.gone.add("driver")
    assert other.start("repair") != job_id
    assert other.job(job_id).state is JobState.CANCELLED


def test_a_group_has_one_job_at_a_time(worker: Worker) -> None:
    worker.start()
    with pytest.raises(Refused, match=r"job \d+ \(verify db.t\) of group db.g is pending") as refused:
        worker.start("balance", "db.g")
    assert refused.value.code == "JOB_RUNNING"
    worker.look()
    worker.start("balance", "db.g")


@pytest.mark.parametrize(
    ("kind", "target", "options", "code"),
    [
        ("verify", "db.absent", {}, "GROUP_UNKNOWN"),
        ("verify", "table:db.absent", {}, "JOB_TARGET"),
        ("verify", "group:db.t", {}, "GROUP_UNKNOWN"),
        ("balance", "db.t", {}, "JOB_TARGET"),
        ("verify", "db.t", {"mode": "half"}, "JOB_OPTION"),
    ],
)
def test_jobs_that_can_not_be(worker: Worker, kind: str, target: str, options: dict[str, Any], code: str) -> None:
    before = worker.plane.dump()
    with pytest.raises(Refused) as refused:
        worker.start(kind, target, **options)
    assert refused.value.code == code
    assert worker.plane.dump() == before
    assert worker.plane.call("rows", table="colocation_jobs") == []


def test_a_balance_moves_one_bucket_after_another_and_is_unstable_meanwhile(worker: Worker) -> None:
    plane = worker.plane
    plane.create("db.large", "h", buckets=8)
    worker.tables.tables["db.large"] = Table([70, 10, 10, 10, 10, 10, 10, 10])
    seen = []

    def watches(task: str, _args: Mapping[str, Any]) -> None:
        seen.append((task, plane.group("db.h")["is_stable"]))

    job_id = worker.start("balance", "db.h")
    placed = plane.service.placement(plane.group("db.h")["group_id"])
    worker.tables.before = watches
    worker.look()
    job = worker.job(job_id)
    assert (job.state, job.findings) == (JobState.DONE, ())
    assert job.steps == job.done == len(plane.service.jobs.steps(job_id)) > 0
    assert plane.group("db.h")["is_stable"]
    moved = plane.service.placement(plane.group("db.h")["group_id"])
    assert moved != placed
    held = {
        host: sum(size for size, one in zip([70] + [10] * 7, moved, strict=True) if one.hosts[0].host == host)
        for host in "ab"
    }
    assert held == {"a": 70, "b": 70}
    again = worker.start("balance", "db.h")
    worker.look()
    assert (worker.job(again).state, worker.job(again).steps) == (JobState.DONE, 0)


def test_hosts_that_come_later_get_their_share_of_the_bytes(worker: Worker) -> None:
    plane, sizes = worker.plane, [70, 10, 10, 10, 10, 10, 10, 10]
    plane.create("db.large", "h", buckets=8)
    worker.tables.tables["db.large"] = Table(sizes)
    worker.start("balance", "db.h")
    worker.look()
    plane.service.see_hosts(Request(who="watch", hosts=("a", "b", "c")))
    placed = plane.service.placement(plane.group("db.h")["group_id"])
    held = dict.fromkeys("abc", 0)
    for size, one in zip(sizes, placed, strict=True):
        held[one.hosts[0].host] += size
    assert sorted(held.values()) == [30, 40, 70]


def hosts_of(plane: Plane, group: str) -> list[str]:
    return [one.hosts[0].host for one in plane.service.placement(plane.group(group)["group_id"])]


def test_a_balance_moves_the_blocks_of_a_bucket_before_tasks_prefer_its_new_host(worker: Worker) -> None:
    plane = worker.plane
    plane.create("db.large", "h", buckets=8)
    table = worker.tables.tables["db.large"] = Table([70, 10, 10, 10, 10, 10, 10, 10], blocks=hosts_of(plane, "db.h"))
    seen = []

    def watches(task: str, args: Mapping[str, Any]) -> None:
        if task == "move_blocks":
            seen.extend((one["hosts"][0], hosts_of(plane, "db.h")[one["bucket"]]) for one in args["moves"])

    worker.tables.before = watches
    worker.start("balance", "db.h")
    worker.look()
    assert seen
    assert all(new != old for new, old in seen)
    assert table.blocks == hosts_of(plane, "db.h")


def test_a_repair_brings_blocks_to_the_hosts_of_their_buckets(worker: Worker) -> None:
    hosts = hosts_of(worker.plane, "db.g")
    tables = worker.tables.tables
    tables["db.t"].blocks, tables["db.u"].blocks = ["a"] * 4, list(hosts)
    job_id = worker.start("repair", "db.g")
    worker.look()
    job = worker.job(job_id)
    assert (job.state, job.steps, job.buckets, job.findings) == (JobState.DONE, 1, hosts.count("b"), ())
    assert job.bytes == sum(size for size, host in zip([10, 20, 30, 40], hosts, strict=True) if host == "b")
    assert tables["db.t"].blocks == hosts
    again = worker.start("repair", "db.t")
    worker.look()
    assert worker.job(again).steps == 0


def test_blocks_that_hdfs_leaves_where_they_are_fail_no_job(worker: Worker) -> None:
    hosts, table = hosts_of(worker.plane, "db.g"), worker.tables.tables["db.t"]
    table.blocks, table.nodes = ["a"] * 4, frozenset("a")
    job_id = worker.start("repair")
    worker.look()
    assert worker.job(job_id).state is JobState.DONE
    assert list(worker.job(job_id).findings) == [
        f"db.t: blocks of {named([bucket for bucket, host in enumerate(hosts) if host == 'b'])} "
        "stay where they are: HDFS has no data node on b that takes blocks"
    ]


def test_blocks_of_many_buckets_move_in_few_steps(worker: Worker) -> None:
    plane, buckets = worker.plane, 100
    plane.create("db.wide", "h", buckets=buckets)
    hosts = hosts_of(plane, "db.h")
    others = ["a" if host == "b" else "b" for host in hosts]
    table = worker.tables.tables["db.wide"] = Table([1] * buckets, blocks=others)
    job_id = worker.start("repair", "db.h")
    worker.look()
    assert table.blocks == hosts
    assert (worker.job(job_id).steps, worker.job(job_id).buckets) == (4, buckets)
    assert [len(args["moves"]) for args in worker.tables.done("move_blocks")] == [32, 32, 32, 4]


def test_a_repair_that_was_taken_over_rewrites_nothing(worker: Worker, other: Worker) -> None:
    worker.plane.create("db.n", format="parquet")
    worker.tables.tables["db.n"] = Table([1, 1, 1, 1], strays={"": [5]})
    job_id = worker.start("repair", "db.n")

    def suspended(task: str, _args: Mapping[str, Any]) -> None:
        """Its folder is made; then the driver stands still for longer than the lease."""
        if task == "open_rewrite" and worker.job(job_id).claim == 1:
            other.look()
            other.look(after=LEASE_SECONDS + 1)

    worker.tables.before = suspended
    worker.look()
    assert [(args["token"], args["others"]) for args in worker.tables.done("rewrite_strays")] == [(f"{job_id}-2", [])]
    assert worker.job(job_id).state is JobState.DONE


def test_doris_switch_leaves_blocks_where_they_are(worker: Worker) -> None:
    worker.tables.tables["db.t"].blocks = ["a"] * 4
    worker.plane.call("set_config", key="disable_colocate_relocate", value="true")
    job_id = worker.start("repair")
    worker.look()
    assert (worker.job(job_id).state, worker.job(job_id).steps) == (JobState.DONE, 0)


def test_a_balance_that_ends_early_leaves_no_group_unstable(worker: Worker) -> None:
    plane = worker.plane
    plane.create("db.large", "h", buckets=8)
    worker.tables.tables["db.large"] = Table([70, 10, 10, 10, 10, 10, 10, 10])
    job_id = worker.start("balance", "db.h")
    job = plane.service.jobs.claim()
    assert job is not None
    plane.service.mark_moving(job.group)
    assert not plane.group("db.h")["is_stable"]
    plane.call("cancel_job", job_id=job_id)
    plane.service.jobs.released(job)
    worker.look()
    assert worker.job(job_id).state is JobState.CANCELLED
    assert plane.group("db.h")["is_stable"]


def test_doris_switch_forbids_a_balance(worker: Worker) -> None:
    worker.plane.call("set_config", key="disable_colocate_balance", value="true")
    job_id = worker.start("balance", "db.g")
    worker.look()
    assert worker.job(job_id).state is JobState.FAILED
    assert 'ADMIN SET FRONTEND CONFIG ("disable_colocate_balance" = "false")' in worker.job(job_id).error


def test_a_rehearsal_shows_the_steps_and_writes_nothing(worker: Worker) -> None:
    worker.tables.tables["db.t"].strays = {"day=1": [5, 6], "day=2": [7]}
    worker.plane.endpoint.engine = worker.tables
    before = worker.plane.dump()
    steps = worker.plane.call("rehearse_job", kind="repair", target="t", db="db")
    assert [(step["label"], step["bytes"]) for step in steps] == [
        ("db.t, 2 strays of day=1", 11),
        ("db.t, 1 stray of day=2", 7),
    ]
    assert worker.plane.dump() == before
    assert not worker.tables.done("rewrite_strays")


def test_jobs_that_are_due_are_started_once_by_several_drivers(worker: Worker, other: Worker) -> None:
    for each in (worker, other):
        Scheduler(each.plane.service, {JobKind.VERIFY: HOUR}).look()
    jobs = worker.plane.service.jobs.all()
    assert [(job.who, job.target, job.options) for job in jobs] == [(NAME, "db.g", {"mode": "sample"})]
    worker.look()
    worker.plane.clock.now += HOUR / 2
    Scheduler(other.plane.service, {JobKind.VERIFY: HOUR}).look()
    assert len(worker.plane.service.jobs.all()) == 1
    worker.plane.clock.now += HOUR
    Scheduler(other.plane.service, {JobKind.VERIFY: HOUR}).look()
    assert len(worker.plane.service.jobs.all()) == 2


def test_a_job_waits_for_a_store_that_is_gone(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = worker.start()
    jobs = worker.plane.service.jobs

    def is_gone(*_: object) -> Job:
        raise StoreError(Code.STORE_UNREACHABLE, "It is gone.", "Wait.")

    with monkeypatch.context() as patched:
        patched.setattr(jobs, "stepped", is_gone)
        with pytest.raises(StoreError):
            worker.look()
    assert worker.look(), "its own driver takes it again at once"
    assert worker.job(job_id).state is JobState.DONE


def test_old_jobs_are_forgotten(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_colocate.service.jobs.states.KEPT", 2)
    ids = []
    for _ in range(4):
        ids.append(worker.start())
        worker.look()
    assert [job.job_id for job in worker.plane.service.jobs.all()] == ids[-3:]


def test_the_store_keeps_all_of_a_job(plane: Plane) -> None:
    plane.create("db.t")
    held = plane.service.jobs.start(JobKind.VERIFY, "db.t", "", {"mode": "rows"}, WHO)
    changed = replace(held, beats=3, steps=7, done=2, error="why", findings=("a", "b"), started_at=1.5)
    with plane.service.writing_unasked() as tx:
        tx.put_job(changed)
    assert plane.service.jobs.get(held.job_id) == changed
