"""Refuses calls before they are read: too large, too slow, too many, or sent by a web page of another origin."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spark_colocate.errors import AccessError, Code, ColocateError, RequestError
from spark_colocate.faces.rest.callers import Access
from spark_colocate.faces.rest.errors import error_response

DOCUMENTS = "/api/colocate"
_FORM = "application/x-www-form-urlencoded"
BODY_BYTES = 1_000_000
BODY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a call. seconds: for the arrival of its body."""

    body_bytes: int = BODY_BYTES
    seconds: float = BODY_SECONDS


class Guard:
    """Reads the body of each call within its bounds, and gives it to the application in one piece.

    local: the server listens on loopback only. Then a call must name a local host too, so that no web page can reach
    it under a name of its own.
    """

    def __init__(self, app: ASGIApp, access: Access, limits: Limits, local: bool) -> None:
        self._app, self._access, self._limits, self._local = app, access, limits, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
            body = await self._body(Headers(scope=scope), receive)
        except ColocateError as error:
            # The rest of the body is not read, so the connection can't go on.
            await error_response(error, {"Connection": "close"})(scope, receive, send)
            return
        if body is not None:
            await self._app(_as_json(scope), _once(body, receive), send)

    def _check(self, scope: Scope) -> None:
        if scope.get("client"):
            self._access.count("address", scope["client"][0])
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._local and not is_local(_name(f"//{host}")):
            raise _foreign(f"the host {host} is not this machine")
        if origin is not None and urlsplit_or_none(origin) != host:
            raise _foreign(f"a page of {origin} sent it")

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """None if the client has gone."""
        declared = headers.get("content-length", "")
        if declared.isdecimal() and (len(declared) > 18 or int(declared) > self._limits.body_bytes):
            raise self._too_large()
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._read(receive)
        except TimeoutError as error:
            raise RequestError(
                Code.REQUEST_TIMEOUT,
                f"The call's body did not arrive within {self._limits.seconds:g} seconds.",
                "Send it faster.",
            ) from error

    async def _read(self, receive: Receive) -> bytes | None:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self._limits.body_bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> RequestError:
        return RequestError(
            Code.BODY_TOO_LARGE,
            f"The call's body is too large: at most {self._limits.body_bytes} bytes are read.",
            "Send a smaller one.",
        )


def _as_json(scope: Scope) -> Scope:
    """The documents' calls send JSON as `curl -d` does, which calls it a form; a client may also name no type."""
    if not scope["path"].startswith(DOCUMENTS):
        return scope
    headers = MutableHeaders(raw=list(scope["headers"]))
    if headers.get("content-type", _FORM).partition(";")[0].strip().lower() == _FORM:
        headers["content-type"] = "application/json"
    return {**scope, "headers": headers.raw}


def _once(body: bytes, receive: Receive) -> Receive:
    """Gives out the body, then what the connection says."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def is_local(host: str) -> bool:
    """Whether a name or an address is the machine's own loopback."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def urlsplit_or_none(origin: str) -> str | None:
    """Host and port of an origin; None for one that is not a URL."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _foreign(why: str) -> AccessError:
    return AccessError(
        Code.ORIGIN_REFUSED,
        f"Cannot answer the call: {why}.",
        "Call the server from a program, by the address on which it listens.",
    )
