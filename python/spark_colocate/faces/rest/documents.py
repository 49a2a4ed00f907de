"""The calls of Doris' and StarRocks' documents on colocation joins, with the answers that these show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel
from starlette.responses import Response

from spark_colocate.faces.rest.answers import SAME, IfNoneMatch, answer
from spark_colocate.faces.rest.callers import Caller, changes, reads
from spark_colocate.faces.rest.guard import DOCUMENTS
from spark_colocate.faces.rest.types import column_type, doris_type
from spark_colocate.faces.rest.v1 import MAX_ID, BackendIds
from spark_colocate.model import Group
from spark_colocate.service import GroupListing

router = APIRouter(prefix=DOCUMENTS)

DbId = Annotated[int, Query(ge=0, le=MAX_ID, description="The first part of the GroupId.")]
GroupNumber = Annotated[int, Query(ge=0, le=MAX_ID, description="The second part of the GroupId.")]


class Id(BaseModel):
    """A GroupId in its two parts."""

    dbId: int
    grpId: int


class ColumnType(BaseModel):
    """The type of a bucket key, as StarRocks shows it."""

    type: str
    len: int
    isAssignedStrLenInColDefinition: bool
    precision: int
    scale: int


class Schema(BaseModel):
    """What all tables of a group share."""

    groupId: Id
    distributionColTypes: list[ColumnType]
    bucketsNum: int
    replicationNum: int


class Meta(BaseModel):
    """All groups, as StarRocks shows them. Keys are group names, table ids or GroupIds."""

    groupName2Id: dict[str, Id]
    group2Tables: dict[str, list[int]]
    table2Group: dict[str, Id]
    group2Schema: dict[str, Schema]
    group2BackendsPerBucketSeq: dict[str, list[list[int]]]
    unstableGroups: list[Id]


class Data(BaseModel):
    """All groups, as Doris shows them. infos: a row of SHOW PROC for each group, as text."""

    infos: list[list[str]]
    unstableGroupIds: list[Id]
    allGroupIds: list[Id]


class Colocation(BaseModel):
    """The answers of both documents in one: Doris' msg, code, data, count, and StarRocks' colocate_meta, status."""

    msg: str
    code: int
    data: Data
    count: int
    colocate_meta: Meta
    status: str


class Done(BaseModel):
    """The answer of a change."""

    msg: str
    code: int
    data: dict[str, list[str]] | None
    count: int
    status: str


@router.get("", response_model=Colocation, responses=SAME)
def colocation(who: Annotated[Caller, reads("groups")], if_none_match: IfNoneMatch = None) -> Response:
    """All groups, with the fields of both documents."""
    version = who.service.version()
    listed = who.service.groups()
    return answer(_success({"data": _doris(listed), "colocate_meta": _starrocks(listed)}), version, if_none_match)


@router.post("/group_stable", response_model=Done)
def set_stable(who: Annotated[Caller, changes("set_group_stable")], db_id: DbId, group_id: GroupNumber) -> Response:
    """Marks a group as stable."""
    return _set_stable(who, f"{db_id}.{group_id}", True)


@router.delete("/group_stable", response_model=Done)
def set_unstable(who: Annotated[Caller, changes("set_group_stable")], db_id: DbId, group_id: GroupNumber) -> Response:
    """Marks a group as unstable: queries do not use its buckets."""
    return _set_stable(who, f"{db_id}.{group_id}", False)


@router.post("/bucketseq", response_model=Done)
def set_sequence(
    who: Annotated[Caller, changes("set_sequence")],
    db_id: DbId,
    group_id: GroupNumber,
    body: Annotated[BackendIds, Body(description="The backend ids of each bucket, the first choice first.")],
) -> Response:
    """Sets the hosts of a group's buckets. The answer has a warning where the system may change them again."""
    changed = who.service.set_sequence(f"{db_id}.{group_id}", body, "", who.request)
    return answer(_success({"data": {"warnings": list(changed.warnings)}}), who.service.version())


def _set_stable(who: Caller, group: str, stable: bool) -> Response:
    who.service.set_group_stable(group, stable, "", who.request)
    return answer(_success({"data": None}), who.service.version())


def _success(content: dict[str, Any]) -> dict[str, Any]:
    return {"msg": "success", "code": 0, "count": 0, "status": "OK", **content}


def _doris(listed: Sequence[GroupListing]) -> dict[str, Any]:
    groups = [one.group for one in listed]
    return {
        "infos": [_info(one) for one in listed],
        "unstableGroupIds": [_id(group) for group in groups if not group.is_stable],
        "allGroupIds": [_id(group) for group in groups],
    }


def _info(listing: GroupListing) -> list[str]:
    group, schema = listing.group, listing.group.schema
    return [
        group.id,
        group.proc_name,
        ", ".join(map(str, listing.table_ids)),
        str(schema.buckets),
        str(schema.replication),
        ", ".join(map(doris_type, schema.key_types)),
        str(group.is_stable).lower(),
    ]


def _starrocks(listed: Sequence[GroupListing]) -> dict[str, Any]:
    groups = [one.group for one in listed]
    names = Counter(group.name.name for group in groups)
    # The document shows the name alone. Where databases have groups of one name, the name that SHOW PROC shows.
    shown = {g.id: g.name.name if names[g.name.name] == 1 else g.proc_name for g in groups}
    return {
        "groupName2Id": {shown[group.id]: _id(group) for group in groups},
        "group2Tables": {one.group.id: list(one.table_ids) for one in listed if one.table_ids},
        "table2Group": {str(table): _id(one.group) for one in listed for table in one.table_ids},
        "group2Schema": {group.id: _schema(group) for group in groups},
        "group2BackendsPerBucketSeq": {group.id: [list(hosts) for hosts in group.sequence] for group in groups},
        "unstableGroups": [_id(group) for group in groups if not group.is_stable],
    }


def _id(group: Group) -> dict[str, int]:
    return {"dbId": group.db_id, "grpId": group.group_id}


def _schema(group: Group) -> dict[str, Any]:
    return {
        "groupId": _id(group),
        "distributionColTypes": [column_type(text) for text in group.schema.key_types],
        "bucketsNum": group.schema.buckets,
        "replicationNum": group.schema.replication,
    }
