"""Which driver owns a ticket or an in-memory catalog, and whether that driver has ended for sure."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import psutil

_SAME_START_SECONDS = 2.0
"""Two readings of one process differ by less: the system gives its own start to the second."""


def owner_of(pid: int) -> str:
    """A driver process, told apart from a later one with the same number."""
    started = _started(pid)
    return f"{_machine()}|{pid}|{'' if started is None else round(started, 2)}"


def is_gone(owner: str) -> bool:
    """True only when it is certain: a process of this machine that has ended. Of others nothing is known."""
    machine, _, process = owner.partition("|")
    pid, _, held = process.partition("|")
    if machine != _machine() or not pid.isdigit():
        return False
    try:
        started = _started(int(pid))
    except psutil.AccessDenied:
        return False
    return started is None or (held != "" and abs(started - float(held)) > _SAME_START_SECONDS)


def _machine() -> str:
    """The host and, on Linux, its boot and process namespace: in a container the same number is another process."""
    return ":".join([socket.gethostname(), _boot(), _namespace()])


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _started(pid: int) -> float | None:
    """When the process was started, in seconds since boot; None for one that has ended, reaped by its parent or not.

    psutil gives both times by the clock, and the clock may be set between the two readings: then they are taken again.
    """
    try:
        while True:
            boot, process = float(psutil.boot_time()), psutil.Process(pid)
            if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return None
            started = float(process.create_time()) - boot
            if psutil.boot_time() == boot:
                return started
    except (psutil.NoSuchProcess, OverflowError, ValueError):
        return None
