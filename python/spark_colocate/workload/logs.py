"""Spark's event logs as the driver or the history server leaves them: one file or a rolling folder, packed or not."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from spark_colocate.errors import Code, RequestError

Event = dict[str, Any]

_ROLLING, _PART = "eventlog_v2_", re.compile(r"events_(\d+)_")
_UNREADABLE = {".lz4": "lz4", ".snappy": "snappy", ".lzf": "lzf"}
_WANTED = tuple(
    f'{{"Event":"{name}"'
    for name in (
        "SparkListenerStageCompleted",
        "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
        "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate",
        "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
    )
)
"""How the lines begin that are read. Most lines of a log tell of tasks."""


def applications(path: str | os.PathLike[str]) -> list[Path]:
    """The logs at `path`, oldest name first: itself, if it is one, else those of the folder.

    Raises RequestError where there is none.
    """
    place = _local(path)
    if place.is_file() or place.name.startswith(_ROLLING):
        found = [place] if place.exists() else []
    else:
        found = sorted(one for one in place.glob("*") if _is_log(one)) if place.is_dir() else []
    if not found:
        raise RequestError(
            Code.EVENT_LOG_UNREADABLE,
            f"There is no event log of Spark at {path}.",
            "Name a file or a folder that spark.eventLog.dir named while spark.eventLog.enabled was true.",
        )
    return found


def _local(path: str | os.PathLike[str]) -> Path:
    """Of `file:/logs`, as spark.eventLog.dir has it, the path."""
    scheme, colon, rest = os.fspath(path).partition(":")
    if not colon or "/" in scheme:
        return Path(path)
    if scheme != "file":
        raise RequestError(
            Code.EVENT_LOG_UNREADABLE,
            f"The event log {path} is on another file system ({scheme}) than this machine's own.",
            "Copy it here, for example with hadoop fs -get, and name the copy.",
        )
    return Path("/" + unquote(rest.lstrip("/")))


def _is_log(path: Path) -> bool:
    return path.name.startswith(_ROLLING) if path.is_dir() else not path.name.startswith((".", "_"))


def events(application: Path) -> Iterator[Event]:
    """The events of one application that tell of queries, in the order in which they happened.

    A line that was cut off, as the last one of an application that was killed may be, is passed over.
    Raises RequestError for a file that can't be read.
    """
    for part in _parts(application):
        with _opened(part) as lines:
            for line in lines:
                if line.startswith(_WANTED):
                    try:
                        yield json.loads(line)
                    except ValueError:
                        continue


def _parts(application: Path) -> list[Path]:
    """Of a rolling log its files by their numbers; one that was compacted stands for those before it."""
    if not application.is_dir():
        return [application]
    numbered = sorted((int(found[1]), part) for part in application.iterdir() if (found := _PART.match(part.name)))
    compacted = max((number for number, part in numbered if part.name.endswith(".compact")), default=0)
    return [part for number, part in numbered if number > compacted or part.name.endswith(".compact")]


@contextmanager
def _opened(part: Path) -> Iterator[Iterator[str]]:
    suffixes = [suffix for suffix in part.suffixes if suffix not in (".inprogress", ".compact")]
    codec = suffixes[-1] if suffixes else ""
    try:
        with part.open("rb") as raw:
            if codec in (".zstd", ".zst"):
                yield _lines(_zstd(raw))
            elif codec in _UNREADABLE:
                raise _packed(part, _UNREADABLE[codec])
            else:
                yield _lines(raw)
    except OSError as error:
        raise RequestError(
            Code.EVENT_LOG_UNREADABLE,
            f"The event log {part} can't be read: {error.strerror or error}.",
            "Call it as somebody who may read the files of spark.eventLog.dir.",
        ) from error


def _lines(raw: IO[bytes]) -> Iterator[str]:
    """Ends where a packed file ends before its time, as that of a running application does."""
    text = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
    while True:
        try:
            line = text.readline()
        except EOFError:
            return
        if not line:
            return
        yield line


def _zstd(raw: IO[bytes]) -> IO[bytes]:
    try:
        from zstandard import ZstdDecompressor
    except ImportError as error:
        raise RequestError(
            Code.EVENT_LOG_UNREADABLE,
            "The event log is packed by zstd, and the Python package zstandard, which unpacks it, is not installed.",
            "pip install zstandard",
        ) from error

    # Spark ends a frame at each flush, so one file has many.
    return ZstdDecompressor().stream_reader(raw, read_across_frames=True)


def _packed(part: Path, codec: str) -> RequestError:
    return RequestError(
        Code.EVENT_LOG_UNREADABLE,
        f"The event log {part} is packed by {codec}, which is not read; plain files and zstd are.",
        "Set spark.eventLog.compression.codec to zstd, Spark's default, in the applications whose logs are to be read.",
    )
