"""The rows of the command line, REST and the system tables, with the same names in all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from spark_colocate.model import (
    AccessRole,
    AuditEntry,
    Format,
    Host,
    HostState,
    Job,
    JobKind,
    JobState,
    JobStep,
    Role,
    Token,
)
from spark_colocate.service import BucketPlacement, ConfigEntry, GroupListing, MemberListing


class TokenState(StrEnum):
    """Whether a token still opens anything."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group. recycled_until: when it ends, if it has no table any more."""

    group_id: str
    group_name: str
    db: str | None
    buckets: int
    replication: int
    key_types: list[str]
    layout_stable: bool
    placement_stable: bool
    is_stable: bool
    table_ids: list[int]
    recycled_until: str | None


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table in a group.

    verified_at: when the last verify ended that has read rows of it. verified_mode: `rows` or `sample`.
    """

    db: str
    table: str
    table_id: int
    group_id: str
    group_name: str
    role: Role
    format: Format
    keys: list[str]
    is_stable: bool
    location: str | None
    verified_at: str | None
    verified_mode: str | None


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host under its backend id. capacity: relative to other hosts."""

    backend_id: int
    host: str
    capacity: float
    state: HostState


@dataclass(frozen=True, slots=True)
class BucketRow:
    """A bucket and its hosts, the first choice first."""

    bucket: int
    hosts: list[HostRow]
    is_stable: bool


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """A configuration of the catalog."""

    key: str
    value: str
    comment: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A line of the audit log."""

    entry: int
    at: str
    who: str
    verb: str
    object: str
    detail: str


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job.

    requested: `pause` or `cancel`, until the running step ends. owner: the driver that does it.
    bytes_per_second, eta_seconds: none before the first step is done, and none at the end.
    """

    job_id: int
    kind: JobKind
    target: str
    group_name: str
    state: JobState
    requested: str | None
    who: str
    owner: str | None
    steps: int | None
    steps_done: int
    buckets: int
    buckets_done: int
    bytes: int
    bytes_done: int
    bytes_per_second: int | None
    eta_seconds: int | None
    attempts: int
    error: str | None
    findings: list[str]
    created_at: str
    started_at: str | None
    ended_at: str | None


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of a job."""

    step: int
    label: str
    buckets: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token, without its secret."""

    name: str
    role: AccessRole
    state: TokenState
    created_at: str
    expires_at: str
    revoked_at: str | None


def group_row(listing: GroupListing) -> GroupRow:
    group = listing.group
    return GroupRow(
        group_id=group.id,
        group_name=str(group.name),
        db=group.name.db or None,
        buckets=group.schema.buckets,
        replication=group.schema.replication,
        key_types=list(group.schema.key_types),
        layout_stable=group.layout_stable,
        placement_stable=group.placement_stable,
        is_stable=group.is_stable,
        table_ids=list(listing.table_ids),
        recycled_until=None if group.expires_at is None else instant(group.expires_at),
    )


def table_row(listing: MemberListing) -> TableRow:
    member, group = listing.member, listing.group
    return TableRow(
        db=member.name.db,
        table=member.name.table,
        table_id=member.table_id,
        group_id=group.id,
        group_name=str(group.name),
        role=listing.role,
        format=member.format,
        keys=list(member.keys),
        is_stable=group.is_stable,
        location=member.location,
        verified_at=None if member.verified_at is None else instant(member.verified_at),
        verified_mode=member.verified_mode or None,
    )


def host_row(host: Host) -> HostRow:
    return HostRow(host.backend_id, host.host, host.capacity, host.state)


def bucket_row(placed: BucketPlacement) -> BucketRow:
    return BucketRow(placed.bucket, [host_row(host) for host in placed.hosts], placed.is_stable)


def config_row(entry: ConfigEntry) -> ConfigRow:
    return ConfigRow(entry.key, entry.value, entry.comment)


def audit_row(line: AuditEntry) -> AuditRow:
    return AuditRow(line.entry, instant(line.at), line.who, line.verb, line.object, line.detail)


def job_row(job: Job, now: float) -> JobRow:
    """now: in seconds since the epoch."""
    rate = _rate(job, now)
    left = job.bytes - job.bytes_done
    return JobRow(
        job_id=job.job_id,
        kind=job.kind,
        target=job.target,
        group_name=str(job.group),
        state=job.state,
        requested=str(job.wish) or None,
        who=job.who,
        owner=job.owner or None,
        steps=job.steps,
        steps_done=job.done,
        buckets=job.buckets,
        buckets_done=job.buckets_done,
        bytes=job.bytes,
        bytes_done=job.bytes_done,
        bytes_per_second=None if rate is None else round(rate),
        eta_seconds=round(left / rate) if rate and not job.state.is_end else None,
        attempts=job.attempts,
        error=job.error or None,
        findings=list(job.findings),
        created_at=instant(job.created_at),
        started_at=None if job.started_at is None else instant(job.started_at),
        ended_at=None if job.ended_at is None else instant(job.ended_at),
    )


def _rate(job: Job, now: float) -> float | None:
    """Bytes per second since the job began, pauses included."""
    if job.started_at is None or not job.bytes_done:
        return None
    return job.bytes_done / max(1.0, (now if job.ended_at is None else job.ended_at) - job.started_at)


def step_row(number: int, step: JobStep) -> StepRow:
    return StepRow(number, step.label, step.buckets, step.bytes)


def token_row(token: Token, now: float) -> TokenRow:
    """now: in seconds since the epoch."""
    ended = TokenState.REVOKED if token.revoked_at is not None else TokenState.EXPIRED
    return TokenRow(
        name=token.name,
        role=token.role,
        state=TokenState.VALID if token.is_valid(now) else ended,
        created_at=instant(token.created_at),
        expires_at=instant(token.expires_at),
        revoked_at=None if token.revoked_at is None else instant(token.revoked_at),
    )


def instant(seconds: float) -> str:
    """A time in UTC as ISO 8601 writes it, to the second."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
