"""`--here` whose processes are killed in the midst of a job: what the next commands say of it, and do."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from spark_colocate.model import JobState

from tests.spark.sessions import QUICK_DRIVER, small_options

TABLE = """
CREATE DATABASE shop;
CREATE TABLE shop.orders (id INT, v INT) USING parquet CLUSTERED BY (id) INTO 4 BUCKETS
  TBLPROPERTIES ('colocate_with' = 'g');
INSERT INTO shop.orders SELECT id, id FROM range(100);
"""
SOON = 120.0
"""Seconds for what takes a few on a machine with nothing else to do."""


@dataclass
class Machine:
    """A warehouse, and commands on it as a user types them, each a process of its own."""

    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    @property
    def options(self) -> list[str]:
        conf = {key: value for key, value in small_options(self.folder).items() if "catalogImpl" not in key}
        return [text for key, value in conf.items() for text in ("--conf", f"{key}={value}")]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """In a process group of its own, with its JVM and its control plane."""
        command = [sys.executable, "-m", "spark_colocate.faces.cli.main", *arguments]
        environment = {**os.environ, **QUICK_DRIVER, "COLUMNS": "120", "NO_COLOR": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(
            command, cwd=self.warehouse, env=environment, text=True, start_new_session=True, **pipes
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def jobs(self, *store: str) -> list[dict[str, object]]:
        code, out, err = self.run("jobs", "list", "-o", "json", *store)
        assert code == 0, err
        found: list[dict[str, object]] = json.loads(out)
        return found

    @property
    def store(self) -> Path:
        (found,) = self.warehouse.rglob("*.sqlite")
        return found

    def begun(self, process: subprocess.Popen[str]) -> None:
        """Returns within milliseconds of the moment in which the job is claimed."""
        end = time.monotonic() + SOON
        while time.monotonic() < end:
            assert process.poll() is None, process.communicate()
            with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=5) as db:
                found = db.execute("SELECT state FROM colocate_jobs ORDER BY job_id").fetchall()
            if found and found[-1][0] == str(JobState.RUNNING):
                return
            time.sleep(0.01)
        raise AssertionError("no job was claimed")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    found = Machine(tmp_path)
    found.warehouse.mkdir()
    (tmp_path / "table.sql").write_text(TABLE)
    code, _, err = found.run("sql", str(tmp_path / "table.sql"), *found.options)
    assert code == 0, err[-3000:]
    yield found
    for process in found.started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _copy(store: Path) -> Path:
    """Of what a killed driver has left, so that two ends of it can be seen."""
    copied = store.with_name("copy.db")
    with sqlite3.connect(store) as source, sqlite3.connect(copied) as target:
        source.backup(target)
    return copied


def test_a_job_whose_driver_was_killed_is_listed_ended_or_done_by_the_next_command(machine: Machine) -> None:
    process = machine.start("verify", "--table", "shop.orders", "--here", *machine.options)
    machine.begun(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (job,) = machine.jobs()
    assert job["state"] == "running", "the job has ended before its driver was killed"
    number = str(job["job_id"])
    copied = ("--store", f"sqlite:///{_copy(machine.store)}")

    assert "orphaned" in machine.run("jobs", "list")[1]
    code, out, _ = machine.run("doctor", "--fail-on", "warning")
    assert code == 4 and "JOB_ORPHANED" in out and f"jobs cancel {number}" in out, out

    code, out, err = machine.run("jobs", "cancel", number, *copied)
    assert code == 0 and "cancelled" in out, (out, err)
    assert [one["state"] for one in machine.jobs(*copied)] == ["cancelled"]
    assert "JOB_" not in machine.run("doctor", *copied)[1]

    code, out, err = machine.run("verify", "--table", "shop.orders", "--here", "-o", "json", *machine.options)
    assert code == 0, err[-3000:]
    assert (json.loads(out)["job_id"], json.loads(out)["state"]) == (job["job_id"], "done")
    assert [one["state"] for one in machine.jobs()] == ["done"]


def test_a_command_whose_jvm_was_killed_ends_with_its_job(machine: Machine) -> None:
    process = machine.start("verify", "--table", "shop.orders", "--here", *machine.options)
    machine.begun(process)
    os.kill(jvm_of(process.pid), signal.SIGKILL)
    _, err = process.communicate(timeout=SOON)
    assert process.returncode == 1
    assert "Error: The session of this command has ended: its JVM was killed" in err, err
    assert "Traceback" not in err and "py4j" not in err, err

    code, _, err = machine.run("verify", "--table", "shop.orders", "--here", *machine.options)
    assert code == 0, err[-3000:]
    assert [one["state"] for one in machine.jobs()] == ["cancelled", "done"]


def test_a_session_that_does_not_start_leaves_no_job(machine: Machine) -> None:
    code, _, err = machine.run("verify", "--group", "shop.g", "--here", *machine.options, "--conf", "nonsense")
    assert code == 2 and "nonsense' is not KEY=VALUE" in err, err
    wrong = ("--conf", "spark.driver.memory=much")
    code, _, err = machine.run("verify", "--group", "shop.g", "--here", *machine.options, *wrong)
    assert code == 1 and "Error: Cannot start a session of Spark: " in err and "Traceback" not in err, err
    assert machine.jobs() == []


def jvm_of(parent: int) -> int:
    """The JVM that a command has started."""
    (found,) = (child.pid for child in psutil.Process(parent).children(recursive=True) if child.name() == "java")
    return found
