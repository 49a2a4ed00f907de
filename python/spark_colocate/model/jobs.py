"""Jobs and their steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from spark_colocate.model.groups import GroupName, TableName


class JobKind(StrEnum):
    """What a job does to its tables; `jobs/` has a file for each."""

    VERIFY = "verify"
    REPAIR = "repair"
    BALANCE = "balance"
    ADOPT = "adopt"
    DISCARD = "discard"

    @property
    def is_of_newcomer(self) -> bool:
        """Is it about a table that is in no group yet? Then it is in the way of no other job on the group."""
        return self in (JobKind.ADOPT, JobKind.DISCARD)


class JobState(StrEnum):
    """Where a job is. The last three are its end."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Wish(StrEnum):
    """A request to a running job, done when the running step ends or is stopped."""

    NONE = ""
    PAUSE = "pause"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class JobStep:
    """A part of a job that may be repeated.

    label: what it does, for people.
    buckets, bytes: about how many it reads or writes.
    args: what the job's kind needs for it; values of JSON.
    """

    label: str
    buckets: int = 0
    bytes: int = 0
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """A long operation on the tables of one group, or on one of them. It survives the end of the driver that runs it.

    group: of an adoption, the one that the table is to join; there may be none of this name yet.
    table: the only table that it concerns; None means all of the group.
    options: what the caller asked for beside; values of JSON.
    who: the user that started it.
    owner: the driver that does it; while the job is pending, the one that may begin first.
    beats: is incremented while the owner lives, as those of a host are.
    claim: is incremented when a driver takes the job. Earlier owners may write nothing of it any more.
    steps: their number; None before they are known.
    done: how many of them are done; the next one is `steps[done]`.
    buckets, bytes: of all steps; those with `_done` are of the steps that are done.
    attempts: failures of the running step, one after another.
    stepped_at: when its last step ended, or somebody took it.
    retry_at: not before this time; times are in seconds since the epoch.
    error: the last failure.
    request_id: the name that the caller gave to its request, so that a repeated one starts no second job; may be empty.
    findings: what the steps have found, a line each.
    """

    job_id: int
    kind: JobKind
    group: GroupName
    table: TableName | None
    options: Mapping[str, Any]
    who: str
    created_at: float
    state: JobState = JobState.PENDING
    wish: Wish = Wish.NONE
    owner: str = ""
    beats: int = 0
    claim: int = 0
    steps: int | None = None
    done: int = 0
    buckets: int = 0
    buckets_done: int = 0
    bytes: int = 0
    bytes_done: int = 0
    attempts: int = 0
    retry_at: float = 0.0
    started_at: float | None = None
    stepped_at: float | None = None
    ended_at: float | None = None
    error: str = ""
    request_id: str = ""
    findings: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        return str(self.table or self.group)
