"""The application: all routes behind one guard, and its OpenAPI description."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

import spark_colocate
from spark_colocate.faces.rest import documents, health, jobs, metrics, v1
from spark_colocate.faces.rest.callers import Access
from spark_colocate.faces.rest.defaults import CALLS_PER_MINUTE
from spark_colocate.faces.rest.errors import DESCRIPTION, ErrorBody, add_handlers
from spark_colocate.faces.rest.guard import Guard, Limits
from spark_colocate.service import Service
from spark_colocate.store import CatalogId, MissingStore

_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": text}
    for status, text in {
        401: "The call has no valid token.",
        403: "The token's role may not do this, or a web page of another origin sent the call.",
        404: "What the call names does not exist.",
        408: "The body did not arrive in time.",
        409: "The call does not fit the state of what it names.",
        412: "The groups have changed since the version in If-Match.",
        413: "The body is too large.",
        422: "The call can't be understood.",
        429: "Too many calls.",
        500: "A fault in spark-colocate.",
        503: "The store can't be used.",
    }.items()
}


def make_app(
    service: Service,
    local: bool = True,
    calls_per_minute: int = CALLS_PER_MINUTE,
    limits: Limits | None = None,
) -> FastAPI:
    """An application that serves one catalog. local: see Guard."""
    app = FastAPI(
        title="spark-colocate",
        version=spark_colocate.__version__,
        summary="Colocation groups: what there is, and what an operator can do with it.",
        # The pages of documentation would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url=DESCRIPTION,
        separate_input_output_schemas=False,
    )
    access = Access(service, calls_per_minute)
    app.state.access, app.state.calls = access, metrics.Calls()
    app.add_middleware(Guard, access=access, limits=limits or Limits(), local=local)
    app.add_middleware(metrics.Counting, calls=app.state.calls)  # around the guard, whose refusals count too
    add_handlers(app)
    app.include_router(documents.router, tags=["documents"], responses=_ERRORS)
    app.include_router(v1.router, tags=["v1"], responses=_ERRORS)
    app.include_router(jobs.router, tags=["jobs"], responses=_ERRORS)
    app.include_router(metrics.router)
    app.include_router(health.router)
    return app


def description() -> dict[str, Any]:
    """The OpenAPI description of the interface."""
    return make_app(Service(MissingStore(""), CatalogId(""))).openapi()
