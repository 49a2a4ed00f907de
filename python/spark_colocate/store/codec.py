"""Converts rows to values and back: the only module that knows how a value is stored in a column."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from sqlalchemy import Row

from spark_colocate.model import (
    AccessRole,
    Format,
    Group,
    GroupName,
    GroupSchema,
    Host,
    Intent,
    Job,
    JobKind,
    JobState,
    JobStep,
    Kind,
    Member,
    TableName,
    Ticket,
    Token,
    Wish,
)


@lru_cache(maxsize=1024)
def _texts(column: str) -> tuple[str, ...]:
    """A list of names or types. Of thousands of tables most have the same."""
    return tuple(json.loads(column))


@lru_cache(maxsize=1024)
def _sequence(column: str) -> tuple[tuple[int, ...], ...]:
    """A bucket sequence. Groups with as many buckets on the same hosts have the same."""
    return tuple(tuple(bucket) for bucket in json.loads(column))


def group_row(group: Group, version: int) -> dict[str, Any]:
    return {
        "group_id": group.group_id,
        "db_id": group.db_id,
        "db": group.name.db,
        "name": group.name.name,
        "key_types": json.dumps(group.schema.key_types),
        "buckets": group.schema.buckets,
        "replication": group.schema.replication,
        "sequence": json.dumps(group.sequence),
        "layout_stable": group.layout_stable,
        "placement_stable": group.placement_stable,
        "created_at": group.created_at,
        "expires_at": group.expires_at,
        "sizes": json.dumps(group.sizes),
        "changed": version,
    }


def group(row: Row[Any]) -> Group:
    return Group(
        db_id=row.db_id,
        group_id=row.group_id,
        name=GroupName(row.db, row.name),
        schema=GroupSchema(_texts(row.key_types), row.buckets, row.replication),
        sequence=_sequence(row.sequence),
        layout_stable=row.layout_stable,
        placement_stable=row.placement_stable,
        created_at=row.created_at,
        expires_at=row.expires_at,
        sizes=tuple(json.loads(row.sizes)),
    )


def member_row(member: Member, version: int) -> dict[str, Any]:
    return {
        "table_id": member.table_id,
        "db": member.name.db,
        "name": member.name.table,
        "group_db": member.group.db,
        "group_name": member.group.name,
        "format": str(member.format),
        "keys": json.dumps(member.keys),
        "location": member.location,
        "joined": member.joined,
        "changed": version,
        "damaged": member.damaged,
        "rewrites": member.rewrites,
        "rewriting": member.rewriting,
        "joined_at": member.joined_at,
        "verified_at": member.verified_at,
        "verified_mode": member.verified_mode,
    }


def member(row: Row[Any]) -> Member:
    return Member(
        table_id=row.table_id,
        name=TableName(row.db, row.name),
        group=GroupName(row.group_db, row.group_name),
        format=Format(row.format),
        keys=_texts(row.keys),
        joined=row.joined,
        location=row.location,
        changed=row.changed,
        damaged=row.damaged,
        rewrites=row.rewrites,
        rewriting=row.rewriting,
        joined_at=row.joined_at,
        verified_at=row.verified_at,
        verified_mode=row.verified_mode,
    )


def host_row(host: Host) -> dict[str, Any]:
    return {
        "backend_id": host.backend_id,
        "host": host.host,
        "capacity": host.capacity,
        "beats": host.beats,
        "is_lost": host.is_lost,
    }


def host(row: Row[Any]) -> Host:
    return Host(row.backend_id, row.host, row.capacity, row.beats, row.is_lost)


def ticket_row(ticket: Ticket) -> dict[str, Any]:
    return {
        "ticket": ticket.id,
        "intent": json.dumps(asdict(ticket.intent)),
        "owner": ticket.owner,
        "created_at": ticket.created_at,
        "lease_until": ticket.lease_until,
        "committed": ticket.committed,
    }


def ticket(row: Row[Any]) -> Ticket:
    return Ticket(row.ticket, intent(json.loads(row.intent)), row.owner, row.created_at, row.lease_until, row.committed)


def intent(data: dict[str, Any]) -> Intent:
    schema = data["schema"]
    return Intent(
        kind=Kind(data["kind"]),
        table=TableName(**data["table"]),
        group=GroupName(**data["group"]) if data["group"] else None,
        schema=GroupSchema(tuple(schema["key_types"]), schema["buckets"], schema["replication"]) if schema else None,
        format=Format(data["format"]),
        keys=tuple(data["keys"]),
        location=data["location"],
        replace=data["replace"],
        purge=data["purge"],
        new_name=TableName(**data["new_name"]) if data["new_name"] else None,
    )


def token_row(token: Token) -> dict[str, Any]:
    return {**asdict(token), "role": str(token.role)}


def token(row: Row[Any]) -> Token:
    return Token(row.name, AccessRole(row.role), row.digest, row.created_at, row.expires_at, row.revoked_at)


def job_row(job: Job) -> dict[str, Any]:
    return {
        "job_id": job.job_id,
        "kind": str(job.kind),
        "group_db": job.group.db,
        "group_name": job.group.name,
        "table_db": job.table.db if job.table else None,
        "table_name": job.table.table if job.table else None,
        "options": json.dumps(job.options),
        "who": job.who,
        "created_at": job.created_at,
        "state": str(job.state),
        "wish": str(job.wish),
        "owner": job.owner,
        "beats": job.beats,
        "claim": job.claim,
        "steps": job.steps,
        "done": job.done,
        "buckets": job.buckets,
        "buckets_done": job.buckets_done,
        "bytes": job.bytes,
        "bytes_done": job.bytes_done,
        "attempts": job.attempts,
        "retry_at": job.retry_at,
        "started_at": job.started_at,
        "stepped_at": job.stepped_at,
        "ended_at": job.ended_at,
        "error": job.error,
        "request_id": job.request_id,
        "findings": json.dumps(job.findings),
    }


def job(row: Row[Any]) -> Job:
    return Job(
        job_id=row.job_id,
        kind=JobKind(row.kind),
        group=GroupName(row.group_db, row.group_name),
        table=TableName(row.table_db, row.table_name) if row.table_name else None,
        options=json.loads(row.options),
        who=row.who,
        created_at=row.created_at,
        state=JobState(row.state),
        wish=Wish(row.wish),
        owner=row.owner,
        beats=row.beats,
        claim=row.claim,
        steps=row.steps,
        done=row.done,
        buckets=row.buckets,
        buckets_done=row.buckets_done,
        bytes=row.bytes,
        bytes_done=row.bytes_done,
        attempts=row.attempts,
        retry_at=row.retry_at,
        started_at=row.started_at,
        stepped_at=row.stepped_at,
        ended_at=row.ended_at,
        error=row.error,
        request_id=row.request_id,
        findings=tuple(json.loads(row.findings)),
    )


def job_steps_text(steps: Sequence[JobStep]) -> str:
    return json.dumps([[step.label, step.buckets, step.bytes, dict(step.args)] for step in steps])


def job_steps(text: str) -> tuple[JobStep, ...]:
    return tuple(JobStep(*fields) for fields in json.loads(text))
