"""Adoptions that end before their commit, or beside another one: nothing is left, and no row is lost or doubled."""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.control import plane
from tests.spark.foreign import without_us
from tests.spark.jobs.adoptions import adopt, data_files, folders, job, live_files, paused, rows, sleep, until_over
from tests.spark.members import database, folder

INTERPRETED = True

POINTS = ["adopt:written", "adopt:staged", "adopt:marked", "adopt:ready"]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "ends", lambda _: None)


@pytest.fixture
def table(session: SparkSession, request: pytest.FixtureRequest) -> str:
    name = f"t{abs(hash(request.node.name)) % 10**8}"
    session.sql(f"CREATE TABLE {name} (k INT, v BIGINT) USING delta")
    for start in (0, 100):
        session.sql(f"INSERT INTO {name} SELECT CAST(id AS INT), id FROM range({start}, {start + 100})")
    return name


def _start(spark: SparkSession, table: str) -> int:
    return int(adopt(spark, table, f"g_{table}", wait="false").job_id)


def _is_clean(spark: SparkSession, table: str) -> bool:
    return not any(name.startswith(("_colocate", "adopt-")) for name in folders(spark, table))


def _assert_untouched(spark: SparkSession, table: str, before: set[str]) -> None:
    """No file, no member and no group is left of the adoption."""
    assert data_files(spark, table) == before
    assert _is_clean(spark, table)
    assert spark.sql(f"SELECT * FROM system.colocation_tables WHERE `table` = '{table}'").count() == 0
    assert spark.sql(f"SELECT * FROM system.colocation_groups WHERE group_name = 'ends.g_{table}'").count() == 0
    assert "colocate_with" not in {row.key for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}


@pytest.mark.parametrize("point", POINTS[:-1])
def test_a_job_that_is_cancelled_leaves_nothing(session: SparkSession, table: str, point: str) -> None:
    before, content = data_files(session, table), rows(session, table)
    with paused(session, point, lambda: _start(session, table)) as started:
        number = started.result()
        session.sql(f"CALL system.cancel_job({number})").collect()
    found = until_over(session, f"ends.{table}")
    assert [(one.kind, one.state) for one in found] == [("adopt", "cancelled"), ("discard", "done")], found
    _assert_untouched(session, table, before)
    assert rows(session, table) == content
    assert adopt(session, table, f"g_{table}").state == "done", "it can be started again"
    assert rows(session, table) == content


def test_a_cancel_that_comes_too_late_is_said_to(session: SparkSession, table: str) -> None:
    """The commit is on its way already, and is not stopped."""
    content = rows(session, table)
    with paused(session, "adopt:ready", lambda: _start(session, table)) as started:
        session.sql(f"CALL system.cancel_job({started.result()})").collect()
    cancelled, follower = until_over(session, f"ends.{table}")
    assert (cancelled.state, follower.state) == ("cancelled", "done")
    assert follower.findings == [f"ends.{table} had joined group ends.g_{table} already; the registry says so now"]
    assert rows(session, table) == content
    listed = session.sql(f"SELECT `group` FROM system.colocation_tables WHERE `table` = '{table}'").collect()
    assert [row.group for row in listed] == [f"ends.g_{table}"]


CHANGES = {
    "altered": ("ALTER TABLE {t} ADD COLUMNS (w INT)", "its columns"),
    "made anew": ("CREATE OR REPLACE TABLE {t} (k INT, v BIGINT) USING delta", "made anew"),
    "dropped": ("DROP TABLE {t}", "no table of this name"),
    "renamed": ("ALTER TABLE {t} RENAME TO {t}_renamed", "no table of this name"),
    "another format": ("DROP TABLE {t}; CREATE TABLE {t} (k INT, v BIGINT) USING parquet", "no Delta table any more"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_changes_meanwhile_ends_the_job(session: SparkSession, table: str, change: str) -> None:
    statements, why = CHANGES[change]
    with paused(session, "adopt:staged", lambda: _start(session, table)):
        for statement in statements.format(t=table).split("; "):
            session.sql(statement)
    failed, removed = until_over(session, f"ends.{table}")
    assert (failed.state, removed.state) == ("failed", "done"), (failed, removed)
    assert "ADOPT_CHANGED" in failed.error and why in failed.error
    if change != "dropped":
        left = f"{table}_renamed" if change == "renamed" else table
        assert _is_clean(session, left)
        assert session.table(left).count() == (200 if change in ("altered", "renamed") else 0)


def test_a_restore_meanwhile_is_followed(session: SparkSession, table: str) -> None:
    with paused(session, "adopt:staged", lambda: _start(session, table)):
        session.sql(f"RESTORE TABLE {table} TO VERSION AS OF 1")
    (done,) = until_over(session, f"ends.{table}")
    assert done.state == "done", done
    assert session.table(table).count() == 100


def test_a_member_is_not_adopted_while_its_adoption_runs(session: SparkSession, table: str) -> None:
    with (
        paused(session, "adopt:staged", lambda: _start(session, table)),
        pytest.raises(PySparkException, match=r"JOB_RUNNING.*cancel_job"),
    ):
        adopt(session, table, f"g_{table}")
    until_over(session, f"ends.{table}")


def test_a_writer_that_never_pauses_is_named_and_the_job_can_be_given_up(session: SparkSession, table: str) -> None:
    """Another commit comes first each time: at the last point before ours."""
    pauses = session._jvm.org.apache.spark.sql.colocate.testing.Pauses
    before = session.table(table).count()
    with ThreadPoolExecutor(1) as pool:
        pauses.plan("adopt:ready")
        started = pool.submit(_start, session, table)
        for n in range(3):
            assert pauses.isReached()
            without_us(session, f"INSERT INTO ends.{table} VALUES ({1000 + n}, 0)")
            pauses.plan("adopt:ready")
            pauses.releaseReached()
        assert pauses.isReached()
        number = started.result()
        session.sql(f"CALL system.cancel_job({number})").collect()
        without_us(session, f"INSERT INTO ends.{table} VALUES (1003, 0)")
        pauses.release()
    until_over(session, f"ends.{table}")
    assert job(session, number).state == "cancelled"
    assert session.table(table).count() == before + 4
    assert _is_clean(session, table)


# --- The control plane ends ---


@pytest.mark.parametrize("point", [*POINTS, "adopt:committed"])
def test_the_control_plane_is_killed(session: SparkSession, table: str, point: str) -> None:
    """The next one goes on with the job. What the driver still does for the killed one is late."""
    content = rows(session, table)
    with paused(session, point, lambda: _start(session, table)):
        _kill_control_plane(session)
        session.sql("SELECT * FROM system.colocation_jobs").collect()
        sleep(session, 3000)
    (done,) = until_over(session, f"ends.{table}")
    assert (done.state, done.error) == ("done", None), done
    assert rows(session, table) == content
    assert data_files(session, table) >= live_files(session, table)
    listed = session.sql(f"SELECT `group` FROM system.colocation_tables WHERE `table` = '{table}'").collect()
    assert [row.group for row in listed] == [f"ends.g_{table}"]


def _kill_control_plane(spark: SparkSession) -> None:
    os.kill(plane(spark).pid(), signal.SIGKILL)


# --- A late owner ---


class Run:
    """The tasks of one adoption as a driver does them, without the control plane. claim: grows with each owner."""

    def __init__(self, spark: SparkSession, table: str) -> None:
        self.spark, self.table = spark, table
        facts = self._task("adopt_facts")
        self.args = {
            "run": table,
            "shape": facts["shape"],
            "location": facts["location"],
            "keys": ["k"],
            "buckets": 4,
            "added": {"colocate_with": "late"},
            "bytes": 1 << 30,
        }

    def _task(self, task: str, **args: Any) -> Any:
        tasks = self.spark._jvm.org.apache.spark.sql.colocate.ops.jobs.JobTasks
        text = json.dumps({"db": "ends", "table": self.table, "format": "delta", **args})
        answer = json.loads(tasks.run(self.spark._jsparkSession, task, text, "job of a test"))
        assert "ok" in answer, answer
        return answer["ok"]

    def do(self, task: str, **args: Any) -> Any:
        return self._task(task, **self.args, **args)

    def write(self, part: str) -> int:
        """How many files were read."""
        files = int(self.do("adopt_part", part=part)["files"])
        self.do("adopt_keep", part=part)
        return files


@pytest.mark.parametrize("claim", ["same", "other"])
def test_a_commit_that_is_late_changes_nothing_after_the_job_was_ended(
    session: SparkSession, table: str, claim: str
) -> None:
    """It stands still right before the commit; meanwhile all that it would make part of the table is removed."""
    run, before, content = Run(session, table), data_files(session, table), rows(session, table)
    run.write("1-a")
    assert run.do("adopt_mark", claim="1")["marked"]
    with paused(session, "adopt:ready", lambda: run.do("adopt_commit", claim="1", told="late")) as late:
        assert run.do("adopt_discard") == {"committed": False, "found": True}
        if claim == "other":
            session.sql(f"INSERT INTO {table} VALUES (-1, -1)")
    assert late.result(timeout=60)["committed"] is False
    session.sql(f"REFRESH TABLE {table}")
    assert rows(session, table) == sorted([*content, *([(-1, -1)] if claim == "other" else [])])
    assert _is_clean(session, table)
    assert len(data_files(session, table) - before) == (claim == "other")
    assert run.do("adopt_mark", claim="1")["marked"] is False or run.do("adopt_commit", claim="1", told="later") == {
        "committed": False,
        "fenced": True,
    }


def test_of_two_commits_one_is_made(session: SparkSession, table: str) -> None:
    """A second owner does the same while the first one stands still."""
    run, content = Run(session, table), rows(session, table)
    run.write("1-a")
    run.do("adopt_mark", claim="1")
    with paused(session, "adopt:ready", lambda: run.do("adopt_commit", claim="1", told="first")) as late:
        run.do("adopt_mark", claim="2")
        assert run.do("adopt_commit", claim="2", told="second")["committed"]
        run.do("adopt_finish")
    assert late.result(timeout=60)["committed"] is False
    assert rows(session, table) == content
    assert run.do("adopt_discard")["committed"], "what was committed is not removed"
    assert rows(session, table) == content
    run.do("adopt_finish")
    run.do("adopt_drop", part="1-a", claim="1")
    session.sql(f"REFRESH TABLE {table}")
    assert rows(session, table) == content


def test_a_driver_that_has_lost_its_job_removes_only_what_nobody_uses(session: SparkSession, table: str) -> None:
    run, content = Run(session, table), rows(session, table)
    run.do("adopt_part", part="1-late")
    run.write("2-a")
    run.do("adopt_drop", part="1-late")
    run.do("adopt_drop", part="2-a")
    run.do("adopt_keep", part="1-late")
    run.do("adopt_mark", claim="2")
    assert run.do("adopt_commit", claim="2", told="x")["committed"]
    for _ in range(2):
        run.do("adopt_mark", claim="3")
        assert run.do("adopt_part", part="3-a") == {"files": 0, "bytes": 0}
        run.do("adopt_finish")
    session.sql(f"REFRESH TABLE {table}")
    assert rows(session, table) == content
    assert {path.name for path in (folder(session, table) / f"adopt-{table}").iterdir()} == {"2-a"}


def test_parts_whose_files_were_deleted_are_written_again(session: SparkSession, table: str) -> None:
    run, content = Run(session, table), rows(session, table)
    run.write("1-a")
    next((folder(session, table) / f"adopt-{table}").rglob("*.parquet")).unlink()
    assert run.do("adopt_mark", claim="1") == {"committed": False, "marked": False, "left_files": 0, "left_bytes": 0}
    assert run.write("1-b") == 4
    assert run.do("adopt_mark", claim="1")["marked"]
    assert run.do("adopt_commit", claim="1", told="x")["committed"]
    run.do("adopt_finish")
    assert rows(session, table) == content


def test_a_half_written_note_of_a_part_counts_for_nothing(session: SparkSession, table: str) -> None:
    run, content = Run(session, table), rows(session, table)
    run.write("1-a")
    (note,) = (folder(session, table) / "_colocate" / f"adopt-{table}").glob("*.part")
    text = note.read_text()
    note.with_name(f".{note.name}.crc").unlink(missing_ok=True)
    note.rename(note.with_name("0-z.part")).write_text(text[: len(text) // 2])
    assert run.write("1-b") == 4
    run.do("adopt_mark", claim="1")
    assert run.do("adopt_commit", claim="1", told="x")["committed"]
    run.do("adopt_finish")
    assert rows(session, table) == content and _is_clean_but_for_data(session, table)


def _is_clean_but_for_data(spark: SparkSession, table: str) -> bool:
    return not any(name.startswith("_colocate") for name in folders(spark, table))
