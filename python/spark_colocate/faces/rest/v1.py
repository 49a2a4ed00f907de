"""/api/v1: the verbs of the service. A verb is one function here, and its role a line in `service/base/access.py`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.responses import Response

from spark_colocate.catalogues.findings import Finding
from spark_colocate.faces.rest.answers import (
    SAME,
    IfNoneMatch,
    Limit,
    NameCursor,
    NumberCursor,
    Page,
    answer,
    cut,
    page,
)
from spark_colocate.faces.rest.callers import Caller, changes, reads
from spark_colocate.model import AccessRole, GroupName
from spark_colocate.service.base import access
from spark_colocate.views import rows

MAX_REPLICATION = 1000
MAX_ID = 2**53 - 1
"""The largest integer in JSON that every client can read."""

router = APIRouter(prefix="/api/v1")

GroupId = Annotated[str, Path(pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$", description="As SHOW PROC shows it.")]
GroupFilter = Annotated[
    Annotated[str, Field(max_length=300)] | SkipJsonSchema[None],
    Query(description="Only the tables of this group, by its name or GroupId."),
]


DatabaseFilter = Annotated[str, Query(max_length=300, description="Only the groups of this database, and global ones.")]


def _whole(value: object) -> object:
    """An integer in JSON, where 2.0 is one too. Strings and booleans are not."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_Whole = BeforeValidator(_whole)
BackendIds = list[list[Annotated[int, Field(strict=True, ge=0, le=MAX_ID), _Whole]]]


class Body(BaseModel):
    """The JSON body of a change."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Stable(Body):
    """The operator's stable flag."""

    stable: bool


class Replication(Body):
    """A number of hosts for each bucket."""

    replication: Annotated[int, Field(ge=1, le=MAX_REPLICATION), _Whole]


class SequenceOfHosts(Body):
    """The backend ids of each bucket, the first choice first."""

    buckets: BackendIds


class Value(Body):
    """The value of a configuration: true or false."""

    value: str = Field(pattern="^(true|false)$")


class WantedToken(Body):
    """A token to be made."""

    name: str = Field(pattern=f"^{access.NAME}$")
    role: AccessRole = Field(default=AccessRole.READER, strict=False)
    days: Annotated[int, Field(ge=1, le=access.MAX_DAYS), _Whole] = access.DEFAULT_DAYS


class ShownToken(BaseModel):
    """A token with its secret, which is shown this once."""

    name: str
    role: AccessRole
    expires_at: str
    secret: str


class Changed(BaseModel):
    """The group that was changed, and what to know about it."""

    group_name: str
    warnings: list[str]


@router.get("/groups", response_model=Page[rows.GroupRow], responses=SAME)
def groups(
    who: Annotated[Caller, reads("groups")],
    limit: Limit = 100,
    cursor: NumberCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """All groups by id, also those in their recycle period."""
    version = who.service.version()
    listed = page(who.service.groups(), lambda one: one.group.group_id, cursor, limit, rows.group_row)
    return answer(listed, version, if_none_match)


@router.get("/groups/{group_id}", response_model=rows.GroupRow, responses=SAME)
def group(who: Annotated[Caller, reads("group")], group_id: GroupId, if_none_match: IfNoneMatch = None) -> Response:
    """One group."""
    version = who.service.version()
    return answer(rows.group_row(who.service.group(group_id)), version, if_none_match)


@router.get("/groups/{group_id}/buckets", response_model=Page[rows.BucketRow], responses=SAME)
def buckets(
    who: Annotated[Caller, reads("placement")],
    group_id: GroupId,
    limit: Limit = 100,
    cursor: NumberCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The buckets of a group, with their hosts."""
    version = who.service.version()
    listed = page(who.service.placement(group_id), lambda one: one.bucket, cursor, limit, rows.bucket_row)
    return answer(listed, version, if_none_match)


@router.put("/groups/{group_id}/stable", response_model=Changed)
def set_stable(who: Annotated[Caller, changes("set_group_stable")], group_id: GroupId, body: Stable) -> Response:
    """Sets the operator's stable flag. Queries fall back while it is false."""
    return _changed(who, who.service.set_group_stable(group_id, body.stable, "", who.request))


@router.put("/groups/{group_id}/replication", response_model=Changed)
def set_replication(
    who: Annotated[Caller, changes("set_replication")], group_id: GroupId, body: Replication
) -> Response:
    """Sets the number of hosts of each bucket. The tables' own property follows by CALL system.set_replication."""
    return _changed(who, who.service.set_replication(group_id, body.replication, "", who.request).group)


@router.put("/groups/{group_id}/sequence", response_model=Changed)
def set_sequence(who: Annotated[Caller, changes("set_sequence")], group_id: GroupId, body: SequenceOfHosts) -> Response:
    """Sets the hosts of all buckets."""
    changed = who.service.set_sequence(group_id, body.buckets, "", who.request)
    return _changed(who, changed.group, changed.warnings)


@router.delete("/groups/{group_id}", response_model=Changed)
def purge(who: Annotated[Caller, changes("purge_group")], group_id: GroupId) -> Response:
    """Deletes a group in its recycle period at once."""
    return _changed(who, who.service.purge_group(group_id, "", who.request))


@router.get("/tables", response_model=Page[rows.TableRow], responses=SAME)
def tables(
    who: Annotated[Caller, reads("members")],
    group: GroupFilter = None,
    limit: Limit = 100,
    cursor: NumberCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The tables of all groups, in the order in which they joined."""
    version = who.service.version()
    found = [one for one in who.service.members() if group in (None, one.group.id, str(one.group.name))]
    listed = page(found, lambda one: one.member.joined, cursor, limit, rows.table_row)
    return answer(listed, version, if_none_match)


@router.get("/hosts", response_model=Page[rows.HostRow], responses=SAME)
def hosts(
    who: Annotated[Caller, reads("hosts")],
    limit: Limit = 100,
    cursor: NumberCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The hosts that buckets can be assigned to."""
    version = who.service.version()
    listed = page(who.service.hosts(), lambda one: one.backend_id, cursor, limit, rows.host_row)
    return answer(listed, version, if_none_match)


@router.get("/config", response_model=Page[rows.ConfigRow], responses=SAME)
def config(
    who: Annotated[Caller, reads("config")],
    limit: Limit = 100,
    cursor: NameCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The configurations of the catalog."""
    version = who.service.version()
    listed = page(who.service.config(), lambda one: one.key, cursor, limit, rows.config_row)
    return answer(listed, version, if_none_match)


@router.put("/config/{key}", response_model=rows.ConfigRow)
def set_config(who: Annotated[Caller, changes("set_config")], key: str, body: Value) -> Response:
    """Sets a configuration, for all sessions of the catalog."""
    entry = who.service.set_config(key, body.value, who.request)
    return answer(rows.config_row(entry), who.service.version())


@router.get("/audit", response_model=Page[rows.AuditRow], responses=SAME)
def audit(
    who: Annotated[Caller, reads("audit")],
    limit: Limit = 100,
    cursor: NumberCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The audit log, newest first."""
    version = who.service.version()
    listed = cut(who.service.audit(limit + 1, cursor), lambda one: one.entry, limit, rows.audit_row)
    return answer(listed, version, if_none_match)


@router.get("/doctor", response_model=Page[Finding], responses=SAME)
def doctor(
    who: Annotated[Caller, reads("doctor")],
    db: DatabaseFilter = "",
    limit: Limit = 100,
    cursor: NumberCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """What is wrong or wasteful as far as the store of groups tells, the worst first, with the statement that fixes
    each. CALL system.doctor() looks at the tables too."""
    version = who.service.version()
    found = list(enumerate(who.service.doctor(who.request, db), 1))
    listed = page(found, lambda one: one[0], cursor, limit, lambda one: one[1])
    return answer(listed, version, if_none_match)


@router.get("/tokens", response_model=Page[rows.TokenRow], responses=SAME)
def tokens(
    who: Annotated[Caller, reads("tokens")],
    limit: Limit = 100,
    cursor: NameCursor = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """All tokens, also those that have ended, without their secrets."""
    version, now = who.service.version(), who.service.clock()
    listed = page(who.service.tokens(), lambda one: one.name, cursor, limit, lambda one: rows.token_row(one, now))
    return answer(listed, version, if_none_match)


@router.post("/tokens", response_model=ShownToken, status_code=201)
def create_token(who: Annotated[Caller, changes("create_token")], body: WantedToken) -> Response:
    """Makes a token. Repeated after a lost answer it is refused, as the name is taken: revoke it, and repeat."""
    new = who.service.create_token(body.name, body.role, who.request, body.days)
    shown = ShownToken(
        name=new.token.name,
        role=new.token.role,
        expires_at=rows.instant(new.token.expires_at),
        secret=new.secret,
    )
    return Response(shown.model_dump_json(), 201, {"Cache-Control": "no-store"}, media_type="application/json")


@router.delete("/tokens/{name}", response_model=rows.TokenRow)
def revoke_token(
    who: Annotated[Caller, changes("revoke_token")],
    name: Annotated[str, Path(pattern=f"^{access.NAME}$")],
) -> Response:
    """Ends a token at once, also for calls that are under way."""
    ended = who.service.revoke_token(name, who.request)
    return answer(rows.token_row(ended, who.service.clock()), who.service.version())


def _changed(who: Caller, group: GroupName, warnings: tuple[str, ...] = ()) -> Response:
    return answer({"group_name": str(group), "warnings": list(warnings)}, who.service.version())
