"""A second driver of the same catalog, in a process of its own, that can be made to stand still.

It takes one statement at a time, a JSON object a line, and answers with the rows or the error.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from pyspark.errors import PySparkException

from tests.soak.gates import Gate
from tests.spark.control import control_planes_of, jvm_pid
from tests.spark.oracle import plain
from tests.spark.sessions import ROOT, builder

PARTS = ("JVM", "control plane", "both")
"""What of a driver can stand still. Its Python only waits for them."""


class PeerFailed(Exception):
    """A statement of the second driver has failed; its text says how."""


class Peer:
    """gate: alone for whoever makes it stand still; shared for those who only use it."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        folder.mkdir(parents=True)
        command = [sys.executable, "-m", "tests.soak.peer", str(folder), json.dumps(dict(settings))]
        path = os.pathsep.join([str(ROOT), str(ROOT / "python")])
        with (folder / "peer.log").open("wb") as log:
            self._process = subprocess.Popen(
                command, env={**os.environ, "PYTHONPATH": path}, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        self.gate = Gate()
        self.turn = threading.RLock()
        """Held for several statements of which no other may come between."""
        self.pid = int(self._answer()["pid"])

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """Raises PeerFailed."""
        with self.turn:
            assert self._process.stdin
            print(json.dumps({"sql": text}), file=self._process.stdin, flush=True)
            answer = self._answer()
        if "error" in answer:
            raise PeerFailed(answer["error"])
        return [plain(row) for row in answer["rows"]]

    def pids(self, part: str) -> list[int]:
        """The processes of a part, one of PARTS."""
        planes = control_planes_of(self.pid)
        return {"JVM": [self.pid], "control plane": planes, "both": [self.pid, *planes]}[part]

    @contextmanager
    def still(self, part: str) -> Iterator[None]:
        """It stands still in the block."""
        with still(self.pids(part)):
            yield

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, f"the second driver has ended: {self._process.poll()}"
        return json.loads(line)


@contextmanager
def still(pids: list[int]) -> Iterator[None]:
    """These processes stand still in the block."""
    for pid in pids:
        send(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            send(pid, signal.SIGCONT)


def send(pid: int, what: signal.Signals) -> None:
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        """It has ended by itself."""


def serve(folder: str, settings: str) -> None:
    """The second driver's own process."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a JVM prints is no answer
    spark = builder(Path(folder), json.loads(settings)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    _say(out, {"pid": jvm_pid(spark)})
    for line in sys.stdin:
        try:
            rows = spark.sql(json.loads(line)["sql"]).collect()
            _say(out, {"rows": [list(row) for row in rows]})
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            _say(out, {"error": _text(error)})
    spark.stop()


def _text(error: Exception) -> str:
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return f"[{condition}] {error}" if condition else f"{type(error).__name__}: {error}"


def _say(out: TextIO, answer: Mapping[str, Any]) -> None:
    print(json.dumps(answer, default=str), file=out, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
