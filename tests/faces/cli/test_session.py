"""`colocate sql` with a session of its own, and what other commands then see in its store."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.spark.sessions import QUICK_DRIVER, small_options

DORIS = """
CREATE DATABASE shop;
CREATE TABLE shop.orders (id INT, day DATE) DISTRIBUTED BY HASH(id) BUCKETS 4 PROPERTIES ("colocate_with" = "g");
INSERT INTO shop.orders VALUES (1, DATE'2026-01-01');
SELECT * FROM shop.orders;
"""


def test_a_table_made_by_sql_is_listed_from_the_store_alone(tmp_path: Path) -> None:
    (tmp_path / "file.sql").write_text(DORIS)
    conf = {key: value for key, value in small_options(tmp_path).items() if key != "spark.sql.catalogImplementation"}
    options = [text for key, value in conf.items() for text in ("--conf", f"{key}={value}")]

    def colocate(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "spark_colocate.faces.cli.main", *arguments]
        environment = {**os.environ, **QUICK_DRIVER, "COLUMNS": "120", "NO_COLOR": "1"}
        # A warehouse in this folder is found without a name.
        return subprocess.run(command, cwd=tmp_path / "warehouse", env=environment, capture_output=True, text=True)

    (tmp_path / "warehouse").mkdir()
    ran = colocate("sql", str(tmp_path / "file.sql"), "-o", "json", *options)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert json.loads(ran.stdout.splitlines()[-1])["rows"] == [[1, "2026-01-01"]]
    listed = colocate("tables", "-o", "json")
    assert [(one["db"], one["table"], one["group_name"]) for one in json.loads(listed.stdout)] == [
        ("shop", "orders", "shop.g")
    ], listed.stderr
    at_once = ("--conf", "spark.colocate.doctor.minAge=0s")
    looked = colocate("doctor", "--tables", "--db", "shop", *at_once, *options)
    assert looked.stdout == (
        "ADVICE GROUP_OF_ONE_TABLE: shop.g\n  the group has one table only, so no join gains from it:\n"
        "  ALTER TABLE shop.orders SET TBLPROPERTIES ('colocate_with' = '')\n"
    ), looked.stderr[-3000:]
    marked = colocate("unstable", "shop.g")
    assert marked.stdout == "Group shop.g is marked as unstable.\n"


def test_a_worker_does_the_jobs_that_a_command_line_starts_and_ends_when_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "file.sql").write_text(DORIS)
    conf = {key: value for key, value in small_options(tmp_path).items() if key != "spark.sql.catalogImplementation"}
    options = [text for key, value in conf.items() for text in ("--conf", f"{key}={value}")]
    environment = {**os.environ, **QUICK_DRIVER, "COLUMNS": "120", "NO_COLOR": "1"}
    (tmp_path / "warehouse").mkdir()

    def started(*module: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", *module]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=tmp_path / "warehouse", env=environment, text=True, **pipes)

    def colocate(*arguments: str) -> tuple[int | None, str, str]:
        ran = started("spark_colocate.faces.cli.main", *arguments)
        out, err = ran.communicate()
        return ran.returncode, out, err

    assert colocate("sql", str(tmp_path / "file.sql"), *options)[0] == 0
    waiting = json.loads(colocate("verify", "--table", "shop.orders", "-o", "json")[1])
    assert waiting["state"] == "pending"
    worker = started("spark_colocate.worker", *options)
    try:
        code, out, err = colocate("jobs", "watch", str(waiting["job_id"]), "-o", "json")
        assert code == 0, err
        done = json.loads(out)
        assert (done["state"], done["findings"]) == ("done", ["no damage found"])
    finally:
        worker.terminate()
        told = worker.communicate(timeout=60)[1]
    assert worker.returncode == 0, told[-3000:]
    assert "The worker looks for jobs." in told
