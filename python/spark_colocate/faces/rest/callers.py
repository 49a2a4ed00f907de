"""The caller of a call: its token, its role, and its rate limit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any

import limits
from fastapi import Depends, Header, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBasic, HTTPBasicCredentials, HTTPBearer
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic.json_schema import SkipJsonSchema

from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.rest.defaults import CALLS_PER_MINUTE
from spark_colocate.model import Token
from spark_colocate.service import Request as VerbRequest
from spark_colocate.service import Service
from spark_colocate.service.base.access import no_token

_TAG = re.compile(r'"([0-9]{1,18})(-[0-9a-f]{8})?"')


@dataclass
class Access:
    """What the calls of one server share.

    No call goes without a token, on loopback neither: every user of the machine reaches that. The first token is made
    by who can write the store.
    """

    service: Service
    calls_per_minute: int = CALLS_PER_MINUTE
    _limiter: MovingWindowRateLimiter = field(default_factory=lambda: MovingWindowRateLimiter(MemoryStorage()))

    def count(self, kind: str, who: str) -> None:
        """Raises RequestError when a token or an address has called too often."""
        if not self._limiter.hit(limits.RateLimitItemPerMinute(self.calls_per_minute), kind, who):
            raise RequestError(
                Code.RATE_LIMITED,
                f"Too many calls: {kind} {who} has made {self.calls_per_minute} in a minute.",
                "Wait a few seconds; colocate serve --rate sets the number.",
            )

    def token(self, secret: str | None, verb: str) -> Token:
        """The caller's token. Raises AccessError, or StoreError without a store."""
        self.service.require_store()
        if secret is None:
            raise no_token()
        token = self.service.authenticate(secret, verb)
        self.count("token", token.name)
        return token


@dataclass(frozen=True, slots=True)
class Caller:
    """One call over REST: the verbs, and who calls them."""

    service: Service
    request: VerbRequest


_basic = HTTPBasic(auto_error=False, description="The password is a token; the user's name does not matter.")
_bearer = HTTPBearer(auto_error=False, description="A token.")
_Basic = Annotated[HTTPBasicCredentials | None, Depends(_basic)]
_Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
_IfMatch = Annotated[
    str | SkipJsonSchema[None],
    Header(description="An ETag: the change is refused if the groups have changed since."),
]


def reads(verb: str) -> Any:
    """The caller of a verb that only reads."""

    def caller(http: Request, basic: _Basic, bearer: _Bearer) -> Caller:
        return _caller(http, basic, bearer, verb, None)

    return Depends(caller)


def changes(verb: str) -> Any:
    """The caller of a verb that changes something."""

    def caller(http: Request, basic: _Basic, bearer: _Bearer, if_match: _IfMatch = None) -> Caller:
        return _caller(http, basic, bearer, verb, if_match)

    return Depends(caller)


def _caller(
    http: Request,
    basic: HTTPBasicCredentials | None,
    bearer: HTTPAuthorizationCredentials | None,
    verb: str,
    if_match: str | None,
) -> Caller:
    access: Access = http.app.state.access
    secret = bearer.credentials if bearer else basic.password if basic else None
    token = access.token(secret, verb)
    return Caller(access.service, VerbRequest(who=token.name, token=token, if_version=_version(if_match)))


def _version(tag: str | None) -> int | None:
    """The version in an ETag; `*` stands for any. Raises RequestError for another text, which no version matches."""
    if tag in (None, "*"):
        return None
    found = _TAG.fullmatch(tag or "")
    if found is None:
        headline = f"Cannot change what was seen at {tag}: If-Match has no ETag of this server."
        raise RequestError(Code.VERSION_CHANGED, headline, "Send the ETag of an answer, with its quotes.")
    return int(found[1])
