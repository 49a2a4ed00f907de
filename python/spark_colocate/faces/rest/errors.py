"""The body of every error (code, message, cure) and its HTTP status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from spark_colocate.errors import (
    AccessError,
    Code,
    ColocateError,
    GroupError,
    GroupMismatchError,
    RequestError,
    StoreError,
)

DESCRIPTION = "/openapi.json"

_STATUS_OF_CODE = {
    Code.GROUP_UNKNOWN: 404,
    Code.TOKEN_UNKNOWN: 404,
    Code.SETTING_UNKNOWN: 404,
    Code.JOB_UNKNOWN: 404,
    Code.PATH_UNKNOWN: 404,
    Code.METHOD_REFUSED: 405,
    Code.REQUEST_TIMEOUT: 408,
    Code.TOKEN_EXISTS: 409,
    Code.JOB_RUNNING: 409,
    Code.JOB_REPEATED: 409,
    Code.JOB_ENDED: 409,
    Code.VERSION_CHANGED: 412,
    Code.BODY_TOO_LARGE: 413,
    Code.RATE_LIMITED: 429,
    Code.TOKEN_NEEDED: 401,
    Code.INTERNAL_FAULT: 500,
}
_STATUS_OF_CLASS: tuple[tuple[type[ColocateError], int], ...] = (
    (AccessError, 403),
    (GroupError, 409),
    (GroupMismatchError, 409),
    (StoreError, 503),
    (RequestError, 422),
)
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="spark-colocate"'}


class ErrorBody(BaseModel):
    """The body of every answer that is not a success."""

    code: str
    message: str
    cure: str


def error_response(error: ColocateError, headers: Mapping[str, str] | None = None) -> Response:
    """The error as an answer. All characters but ASCII are escaped, so any text can be shown."""
    status = status_of(error)
    body = json.dumps({"code": str(error.code), "message": error.headline, "cure": error.cure})
    given = {**(_CHALLENGE if status == 401 else {}), **({"Retry-After": "1"} if status in (429, 503) else {})}
    return Response(body, status, {**given, **(headers or {})}, media_type="application/json")


def status_of(error: ColocateError) -> int:
    """The HTTP status of an error: by its code, else by its class."""
    by_class = (status for kind, status in _STATUS_OF_CLASS if isinstance(error, kind))
    return _STATUS_OF_CODE.get(error.code) or next(by_class, 422)


def fault() -> RequestError:
    """What a caller reads of a fault of ours; the server's log has the rest."""
    return RequestError(
        Code.INTERNAL_FAULT,
        "The call failed by a fault in spark-colocate.",
        "The server's log shows it: report it with these lines.",
    )


def add_handlers(app: FastAPI) -> None:
    """Gives every error of the application its body."""

    @app.exception_handler(ColocateError)
    def _known(_request: Request, error: ColocateError) -> Response:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    def _invalid(_request: Request, error: RequestValidationError) -> Response:
        return error_response(_not_understood("; ".join(_where(one) for one in error.errors()[:3])))

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> Response:
        return error_response(_of_http(request, error), error.headers)

    @app.exception_handler(Exception)
    def _fault(_request: Request, _error: Exception) -> Response:
        return error_response(fault())


def _where(one: Mapping[str, Any]) -> str:
    return f"{'.'.join(map(str, one['loc']))}: {one['msg']}"


def _not_understood(what: str) -> RequestError:
    return RequestError(
        Code.REQUEST_INVALID, f"Cannot understand the call: {what}.", f"Send what GET {DESCRIPTION} describes."
    )


def _of_http(request: Request, error: HTTPException) -> ColocateError:
    if error.status_code == 404:
        headline = f"There is no path {request.url.path}."
        return RequestError(Code.PATH_UNKNOWN, headline, f"GET {DESCRIPTION} lists the paths.")
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "others")
        headline = f"The path {request.url.path} has no method {request.method} (methods: {allowed})."
        return RequestError(Code.METHOD_REFUSED, headline, "Use one of these.")
    if error.status_code == 401:
        return AccessError(
            Code.TOKEN_NEEDED,
            "Cannot read the call's Authorization header.",
            "Send 'Authorization: Bearer TOKEN', or the token as the password of basic authentication.",
        )
    return _not_understood(str(error.detail))
