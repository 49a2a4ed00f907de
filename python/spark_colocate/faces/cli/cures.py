"""Replaces statements in messages by the commands that do the same, or by `colocate sql` with the statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from shlex import quote

Arguments = Mapping[str, str]


def _target(command: str) -> Callable[[Arguments], str]:
    def spelled(given: Arguments) -> str:
        options = (f"--{name} {quote(given[name])}" for name in ("table", "group", "mode") if name in given)
        return f"colocate {command} {' '.join(options)}".rstrip()

    return spelled


def _marked(given: Arguments) -> str:
    command = "stable" if given["stable"] == "true" else "unstable"
    return f"colocate {command} {quote(given['group'])}"


def _with(command: str, *names: str) -> Callable[[Arguments], str]:
    return lambda given: " ".join([f"colocate {command}", *(quote(given[name]) for name in names)])


_CALLS: dict[str, Callable[[Arguments], str]] = {
    "verify": _target("verify"),
    "repair": _target("repair"),
    "balance": _target("balance"),
    "pause_job": _with("jobs pause", ""),
    "resume_job": _with("jobs resume", ""),
    "cancel_job": _with("jobs cancel", ""),
    "wait_job": _with("jobs watch", ""),
    "set_group_stable": _marked,
    "set_config": _with("config", "key", "value"),
    "purge_group": _with("purge", "group"),
}
"""Procedures by name. An argument without a name has the empty one. `set_replication` also sets properties of tables,
which takes Spark."""

_LISTINGS = {
    "colocation_groups": "groups",
    "colocation_tables": "tables",
    "colocation_hosts": "hosts",
    "colocation_jobs": "jobs list",
    "colocation_audit": "audit",
}

_VALUE = r"(?:'(?:[^'\\]|\\.|'')*'|[\w.]+)"
_ARGUMENT = re.compile(rf"(?:(\w+) => )?({_VALUE})")
_CALL = re.compile(rf"CALL system\.(\w+)\(((?:(?:\w+ => )?{_VALUE}(?:, )?)*)\)")
_SELECT = re.compile(r"SELECT [\w`*, ]+ FROM system\.(\w+)(?![\w.]| \w*(?:WHERE|JOIN))")
_CONFIG = re.compile(r'ADMIN SET FRONTEND CONFIG \("(\w+)" = "(\w+)"\)')
_PROC = re.compile(r"SHOW PROC '/colocation_group'")


def as_commands(text: str) -> str:
    """The text with commands in place of the statements that have one."""
    text = _CALL.sub(_called, text)
    text = _SELECT.sub(_listed, text)
    text = _CONFIG.sub(r"colocate config \1 \2", text)
    return _PROC.sub("colocate groups", text)


def _called(found: re.Match[str]) -> str:
    spelled = _CALLS.get(found[1])
    return spelled(_arguments(found[2])) if spelled else found[0]


def _arguments(text: str) -> dict[str, str]:
    return {name: _plain(value) for name, value in _ARGUMENT.findall(text)}


def _plain(value: str) -> str:
    """A literal's value; names of tables without the quotes that only SQL needs."""
    return re.sub(r"\\(.)|''", lambda found: found[1] or "'", value[1:-1]) if value.startswith("'") else value


def _listed(found: re.Match[str]) -> str:
    command = _LISTINGS.get(found[1])
    return f"colocate {command}" if command else found[0]
