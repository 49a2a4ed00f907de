"""/healthz and /readyz, without a token: for what restarts a server, or sends calls to it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from spark_colocate.errors import StoreError
from spark_colocate.faces.rest.callers import Access

router = APIRouter()
ALIVE, READY = "/healthz", "/readyz"


@router.get(ALIVE, include_in_schema=False)
def alive() -> PlainTextResponse:
    """200 while the process answers."""
    return _plain("ok")


@router.get(READY, include_in_schema=False)
def ready(http: Request) -> PlainTextResponse:
    """200 while the store can be read, else 503."""
    access: Access = http.app.state.access
    try:
        access.service.require_store()
        access.service.version()
    except StoreError:
        return _plain("the store can't be read", 503)
    return _plain("ok")


def _plain(text: str, status: int = 200) -> PlainTextResponse:
    return PlainTextResponse(text + "\n", status, {"Cache-Control": "no-store"})
