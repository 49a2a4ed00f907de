"""Java processes on the hosts of a network: started, waited for by a line in their logs, ended with their children."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.cluster.network import Host

START_SECONDS = 60
END_SECONDS = 30


def java(
    host: Host, log: Path, options: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Starts a JVM on a host in a process group of its own. options: all that comes after `java`."""
    with log.open("ab") as out:
        return subprocess.Popen(
            host.command(program(), *options),
            env={**os.environ, **(environment or {})},
            stdout=out,
            stderr=out,
            cwd=log.parent,
            start_new_session=True,
        )


def program() -> str:
    """Java of JAVA_HOME, else the one on the path."""
    return str(Path(os.environ["JAVA_HOME"], "bin", "java")) if "JAVA_HOME" in os.environ else "java"


def wait(log: Path, pattern: str, process: subprocess.Popen[bytes], times: int = 1) -> None:
    """Returns when the log has the pattern `times` times. Raises RuntimeError with the log's end if it never does."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if len(re.findall(pattern, log.read_text(errors="replace"))) >= times:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{log.name} did not say '{pattern}':\n{log.read_text(errors='replace')[-2000:]}")


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """The process and its children: a worker's executors are processes of their own."""
    tree = [process.pid]
    for pid in tree:
        tree += _children(pid)
    for pid in reversed(tree):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
    process.wait(END_SECONDS)


def _children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]
