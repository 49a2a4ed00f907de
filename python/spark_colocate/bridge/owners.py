"""Which driver owns a ticket or an in-memory catalog, and whether that driver has ended for sure."""

from __future__ import annotations

import os
import socket
from pathlib import Path

_PROC = Path("/proc")


def owner_of(pid: int) -> str:
    """A driver process, told apart from a later one with the same number."""
    return f"{_machine()}|{pid}|{_started(pid)}"


def is_gone(owner: str) -> bool:
    """True only when it is certain: a process of this machine that has ended. Of others nothing is known."""
    machine, _, process = owner.partition("|")
    pid, _, started = process.partition("|")
    if machine != _machine() or not pid.isdigit():
        return False
    return not _is_alive(int(pid)) or _is_zombie(int(pid)) or _started(int(pid)) != started


def _machine() -> str:
    """The host and, on Linux, its boot and process namespace: in a container the same number is another process."""
    return ":".join([socket.gethostname(), _text(_PROC / "sys/kernel/random/boot_id"), _namespace()])


def _namespace() -> str:
    try:
        return os.readlink(_PROC / "self/ns/pid")
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When the process was started, in ticks since boot; empty where /proc does not tell."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _is_zombie(pid: int) -> bool:
    """A process that has ended and whose parent has not asked how: it can do nothing any more."""
    return _stat(pid)[:1] in (["Z"], ["X"])


def _stat(pid: int) -> list[str]:
    """The fields of /proc behind the name of the program, which may hold spaces."""
    return _text(_PROC / str(pid) / "stat").rpartition(")")[2].split()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
