"""Answers with an ETag, and lists in pages."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Header, Query
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.responses import Response

MAX_LIMIT = 1000

T = TypeVar("T")


SAME: dict[int | str, dict[str, Any]] = {304: {"description": "Nothing has changed since the ETag in If-None-Match."}}
"""What a GET may answer beside its value."""


class Page(BaseModel, Generic[T]):
    """A piece of a list. next: the cursor of the piece after it; null at the end."""

    items: list[T]
    next: str | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A piece of a list, as rows."""

    items: Sequence[Any]
    next: str | None


Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many items at most.")]
# The bounds stand at the inner type, or the description would lack them.
_Number = Annotated[int, Field(ge=0, le=10**18)]
_Name = Annotated[str, Field(max_length=64)]
NumberCursor = Annotated[_Number | SkipJsonSchema[None], Query(description="`next` of the piece before.")]
NameCursor = Annotated[_Name | SkipJsonSchema[None], Query(description="`next` of the piece before.")]
IfNoneMatch = Annotated[
    str | SkipJsonSchema[None], Header(description="An ETag: the answer is 304 if nothing has changed since.")
]


def page(listed: Iterable[T], key: Callable[[T], Any], cursor: Any, limit: int, row: Callable[[T], Any]) -> Rows:
    """The items behind the cursor, of a list that is sorted by its key."""
    rest = [one for one in listed if cursor is None or key(one) > cursor]
    return cut(rest, key, limit, row)


def cut(rest: Sequence[T], key: Callable[[T], Any], limit: int, row: Callable[[T], Any]) -> Rows:
    """The first items, and where the next piece begins."""
    more = len(rest) > limit
    return Rows([row(one) for one in rest[:limit]], str(key(rest[limit - 1])) if more else None)


def answer(content: Any, version: int, if_none_match: str | None = None) -> Response:
    """The value as JSON. version: that of the groups, read before the value was.

    The ETag has the version, which If-Match compares, and a checksum, since a recycle period or the audit log may move
    on without a new version.
    """
    body = json.dumps(_plain(content)).encode()
    tag = f'"{version}-{zlib.crc32(body):08x}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if if_none_match is not None and _names(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def _names(header: str, tag: str) -> bool:
    given = [one.strip().removeprefix("W/") for one in header.split(",")]
    return "*" in given or tag in given


def _plain(content: Any) -> Any:
    if isinstance(content, Rows):
        return {"items": [asdict(one) for one in content.items], "next": content.next}
    return content if isinstance(content, dict) else asdict(content)
