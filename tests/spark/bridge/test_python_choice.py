"""A Python that was named relative to the folder that the driver was started in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.sessions import ROOT

# The variables of this test run would name the Python before the driver's own is looked for.
CODE = """
import os, sys
from pathlib import Path
os.chdir("/")
from tests.spark import control
from tests.spark.sessions import small_options
from pyspark.sql import SparkSession
from spark_colocate.session import configure
for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
    os.environ.pop(name, None)
made = SparkSession.builder.master("local[1]")
for key, value in small_options(Path(sys.argv[1])).items():
    made.config(key, value)
configure(made, delta=False)
made._options.pop("spark.colocate.python")
{before}
spark = made.getOrCreate()
control.create(spark, "a")
print("PYTHON", Path(f"/proc/{{control.plane(spark).pid()}}/cmdline").read_bytes().split(b"\\0")[0].decode())
"""

WAYS = {
    "configure": "",
    "as it was typed": "os.environ.pop('COLOCATE_DRIVER_PYTHON')",
    "in a variable": "os.environ['PYSPARK_PYTHON'] = 'venv/bin/python'",
    "in the setting": "made.config('spark.colocate.python', 'venv/bin/python')",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_driver_that_changes_its_folder_finds_its_python(tmp_path: Path, way: str) -> None:
    (tmp_path / "venv").symlink_to(sys.prefix)
    environment = {**os.environ, "PWD": str(tmp_path), "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])}
    for name in ("COLOCATE_DRIVER_PYTHON", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        environment.pop(name, None)
    ran = subprocess.run(
        ["venv/bin/python", "-c", CODE.format(before=WAYS[way]), str(tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert f"PYTHON {tmp_path}/venv/bin/python\n" in ran.stdout, ran.stdout + ran.stderr[-3000:]
