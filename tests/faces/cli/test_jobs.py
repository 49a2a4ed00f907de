"""Waiting for jobs: how it ends, with which code, and what is said when nobody does them."""

import functools
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from spark_colocate.bridge import owners
from spark_colocate.faces import registry as opening
from spark_colocate.faces.cli import jobs, watching
from spark_colocate.model import Job, JobState
from spark_colocate.service.jobs.states import LEASE_SECONDS

from tests.faces.cli.conftest import Run
from tests.faces.registries import Registry

HERE = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait of half a second lasts no time, and each look at a clock finds five seconds gone. For what waits alone:
    threads of other tests look at the real clock."""
    seconds = itertools.count(0.0, 5.0)
    clock = SimpleNamespace(sleep=lambda _: None, monotonic=lambda: next(seconds))
    monkeypatch.setattr(watching, "time", clock)


def dead_driver() -> str:
    """The name of a driver that has ended."""
    driver = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    owner = owners.owner_of(driver.pid)
    driver.communicate()
    return owner


@pytest.fixture
def started(run: Run, registry: Registry) -> Callable[..., Job]:
    """A job as it is after `changed`."""

    def start(**changed: object) -> Job:
        job_id = json.loads(run("verify", "--group", "db.g1", "-o", "json").out)["job_id"]
        job = replace(registry.service.jobs.get(job_id), **changed)  # type: ignore[arg-type]
        with registry.service.writing_unasked() as tx:
            tx.put_job(job)
        return job

    return start


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"state": JobState.DONE, "findings": ("no damage found",)}, 0),
        ({"state": JobState.DONE, "findings": ("db.t: part-7 claims bucket 2 and has a row of bucket 3",)}, 4),
        ({"state": JobState.FAILED, "error": "The disk is full."}, 1),
        ({"state": JobState.CANCELLED}, 5),
        ({"state": JobState.PAUSED}, 5),
    ],
)
def test_the_code_says_how_a_job_has_ended(
    run: Run, started: Callable[..., Job], changed: dict[str, object], code: int
) -> None:
    job = started(**changed)
    assert run("jobs", "watch", str(job.job_id)).code == code
    assert run("jobs", "show", str(job.job_id)).code == 0, "to show it is no failure"


def test_a_wait_is_over_after_its_time_and_the_job_goes_on(run: Run, registry: Registry) -> None:
    ran = run("verify", "--group", "db.g1", "--wait", "--timeout", "60")
    job = registry.service.jobs.all()[-1]
    assert (ran.code, job.state) == (6, JobState.PENDING)
    assert "has not ended within 60 s: it is pending.\nIt goes on. Wait again with colocate jobs watch" in ran.err


def test_it_is_said_that_no_worker_lives(run: Run, started: Callable[..., Job]) -> None:
    job_id = started().job_id
    told = run("jobs", "watch", str(job_id), "--timeout", "60").err
    assert told.count(f"No session and no worker has taken job {job_id} for 10 s, so none seems to live.") == 1
    assert f"colocate worker, or end the job with colocate jobs cancel {job_id}." in told


def test_it_is_said_that_a_job_waits_for_another_one(run: Run, registry: Registry, started: Callable[..., Job]) -> None:
    first = started(state=JobState.RUNNING, owner="other machine|1|1")
    registry.plane.create("db.third", "g3")
    second = json.loads(run("verify", "--group", "db.g3", "-o", "json").out)["job_id"]
    told = run("jobs", "watch", str(second), "--timeout", "40").err
    assert f"Job {second} waits: sessions and workers do one job at a time, and do {first.job_id}." in told


def test_it_is_said_why_a_job_is_tried_again(run: Run, started: Callable[..., Job]) -> None:
    job_id = started(attempts=2, error="The disk is full.", retry_at=4e9).job_id
    told = run("jobs", "watch", str(job_id), "--timeout", "60").err
    assert f"Job {job_id} is tried again (attempt 3 of 5): The disk is full." in told


@pytest.mark.parametrize(("command", "state"), [("cancel", "cancelled"), ("pause", "paused"), ("resume", "pending")])
def test_a_job_whose_driver_was_killed_is_changed_at_once(
    run: Run, started: Callable[..., Job], command: str, state: str
) -> None:
    job_id = started(state=JobState.RUNNING, owner=dead_driver()).job_id
    assert " orphaned " in run("jobs", "list").out
    assert "running, but its driver has ended" in run("jobs", "show", str(job_id)).out
    found = json.loads(run("doctor", "--db", "db", "-o", "json").out)
    orphaned = next(one for one in found if one["code"] == "JOB_ORPHANED")
    assert (orphaned["object"], orphaned["cure"]) == ("db.g1", f"CALL system.cancel_job({job_id})")
    assert json.loads(run("jobs", command, str(job_id), "-o", "json").out)["state"] == state
    assert "JOB_ORPHANED" not in run("doctor").out


def test_the_same_command_goes_on_with_the_job_of_a_killed_driver(run: Run, started: Callable[..., Job]) -> None:
    job = started(state=JobState.RUNNING, owner=dead_driver())
    refused = run("repair", "--group", "db.g1")
    assert (refused.code, f"end it: colocate jobs cancel {job.job_id}." in refused.err) == (1, True)
    assert json.loads(run("verify", "--group", "db.g1", "-o", "json").out)["job_id"] == job.job_id


def test_a_cancel_that_waits_ends_a_job_whose_driver_does_not_answer(
    run: Run, registry: Registry, started: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = started(state=JobState.RUNNING, owner="other machine|1|1").job_id
    monkeypatch.setattr(opening, "Service", functools.partial(opening.Service, steady=watching.time.monotonic))
    assert "running, cancel requested" in run("jobs", "cancel", str(job_id)).out
    ran = run("jobs", "cancel", str(job_id), "--wait", "--timeout", str(3 * LEASE_SECONDS))
    assert (ran.code, registry.service.jobs.get(job_id).state) == (0, JobState.CANCELLED)


@pytest.mark.parametrize("given", [["--conf", "nonsense"], ["--conf", "spark.master=nonsense"], ["JAVA_HOME"]])
def test_a_session_that_can_not_be_started_leaves_no_job(registry: Registry, tmp_path: Path, given: list[str]) -> None:
    """In a process of its own: each needs a JVM."""
    broken = {"JAVA_HOME": str(tmp_path / "nowhere")} if given == ["JAVA_HOME"] else {}
    command = [sys.executable, "-m", "spark_colocate.faces.cli.main", "verify", "--group", "db.g1", "--here"]
    ran = subprocess.run(
        [*command, *([] if broken else given)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{HERE / 'python'}", **broken},
        capture_output=True,
        text=True,
    )
    usage = given == ["--conf", "nonsense"]
    assert ran.returncode == (2 if usage else 1), ran.stderr
    assert ("is not KEY=VALUE" if usage else "Error: Cannot start a session of Spark: ") in ran.stderr
    assert "Traceback" not in ran.stderr
    assert registry.service.jobs.all() == []


@pytest.mark.parametrize("has_claimed", [True, False])
def test_a_session_that_dies_ends_its_job(
    run: Run, registry: Registry, monkeypatch: pytest.MonkeyPatch, has_claimed: bool
) -> None:
    """Its JVM is killed, before or after it has taken the job."""
    owner = dead_driver()

    class Gateway:
        class proc:
            @staticmethod
            def poll() -> int:
                job = registry.service.jobs.all()[-1]
                if has_claimed and job.state is JobState.PENDING:
                    with registry.service.writing_unasked() as tx:
                        tx.put_job(replace(job, state=JobState.RUNNING, owner=owner, claim=1))
                return -9

    @contextmanager
    def killed(_conf: object, _store: object) -> Iterator[object]:
        yield SimpleNamespace(sparkContext=SimpleNamespace(_gateway=Gateway))

    monkeypatch.setattr(jobs, "session_here", killed)
    ran = run("verify", "--group", "db.g1", "--here")
    assert (ran.code, "The session of this command has ended" in ran.err) == (1, True)
    assert registry.service.jobs.all()[-1].state is JobState.CANCELLED


def test_a_session_of_this_command_ends_its_job_when_its_time_is_over(
    run: Run, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def silent(_conf: object, _store: object) -> Iterator[object]:
        yield SimpleNamespace(sparkContext=SimpleNamespace(_gateway=None))

    monkeypatch.setattr(jobs, "session_here", silent)
    ran = run("verify", "--group", "db.g1", "--here", "--timeout", "30")
    assert (ran.code, "With --here, this ends it." in ran.err) == (6, True)
    assert registry.service.jobs.all()[-1].state is JobState.CANCELLED


def test_what_is_no_target_needs_no_session(run: Run) -> None:
    assert run("verify", "--here").code == 2
    assert "it is in no group" in run("verify", "--table", "db.nothing", "--here").err


def test_jobs_are_listed_with_who_and_when_and_whole_times_in_80_columns(
    run: Run, registry: Registry, started: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = registry.plane.clock.now
    job = started(
        state=JobState.RUNNING, owner="o|1|1", started_at=now, steps=12, done=3, bytes=100, bytes_done=50, error="Why."
    )
    registry.plane.clock.now += 125
    monkeypatch.setenv("COLUMNS", "80")
    told = run("jobs", "list").out
    for text in (str(job.job_id), "2027-01-15 08:00", "2m 5s", "3/12", "Why.", "db.g1", "ops"):
        assert text in told
    assert all(len(line) <= 80 for line in told.splitlines())
    audited = run("audit").out
    assert "2027-01-15T08:00:00+00:00" in audited, "a time is not broken"


def test_a_job_number_that_is_too_large_is_unknown(run: Run) -> None:
    for number in ("99999999999999", "9" * 30):
        ran = run("jobs", "cancel", number)
        assert (ran.code, f"There is no job {number}." in ran.err) == (1, True), ran


@pytest.mark.parametrize(("fail_on", "code"), [("advice", 4), ("warning", 0), ("error", 0), ("never", 0)])
def test_doctor_fails_from_the_severity_on_that_is_asked_for(run: Run, fail_on: str, code: int) -> None:
    ran = run("doctor", "--fail-on", fail_on)
    assert (ran.code, "ADVICE STORE_OF_ONE_HOST" in ran.out) == (code, True)


def test_doctor_lists_a_failed_job_until_one_has_done_its_work(run: Run, started: Callable[..., Job]) -> None:
    job = started(state=JobState.FAILED, error="The disk is full.")
    told = run("doctor", "--fail-on", "warning")
    assert told.code == 4 and f"job {job.job_id} (verify db.g1) has failed" in told.out
    assert "\n  colocate verify --group db.g1" in told.out
    started(state=JobState.CANCELLED)
    assert "JOB_FAILED" in run("doctor").out
    started(state=JobState.DONE)
    assert "JOB_FAILED" not in run("doctor").out


def test_a_table_is_adopted_by_a_job_of_its_own(run: Run, registry: Registry) -> None:
    ran = run("adopt", "--table", "db.new", "--group", "g1", "--key", "k", "--buckets", "10", "-o", "json")
    started = json.loads(ran.out)
    assert (started["kind"], started["target"], started["group_name"]) == ("adopt", "db.new", "db.g1")
    held = registry.service.jobs.get(started["job_id"])
    assert (held.options["keys"], held.options["buckets"]) == (["k"], 10)
    again = run("adopt", "--table", "db.new", "--group", "g1", "--key", "k")
    assert (again.code, f"colocate jobs cancel {started['job_id']}" in again.err) == (1, True)
    assert run("adopt", "--table", "new", "--group", "g1", "--key", "k").code == 2
    assert run("adopt", "--table", "db.new", "--group", "g1").code == 2
    assert "in group db.g1 already" in run("adopt", "--table", "db.orders", "--group", "g1", "--key", "k").err
