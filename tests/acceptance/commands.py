"""Runs a module of the benchmarks as `run` does, in a session that is quick with tiny tables."""

import os
import subprocess
import sys

from tests.spark.sessions import QUICK_DRIVER, ROOT


def run(*arguments: str) -> str:
    """What `python -m <arguments>` prints; it must end well."""
    environment = {**os.environ, **QUICK_DRIVER}
    command = [sys.executable, "-m", *arguments]
    # Sooner than pytest's own limit, which would not say which command it was.
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-5000:]
    return done.stdout
