"""`colocate serve`: the REST interface."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.cli.options import Catalog, StoreUrl, opened
from spark_colocate.faces.rest.defaults import CALLS_PER_MINUTE, PORT


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on. Others than loopback need TLS and a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = PORT,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM file of the certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file of its key.")] = None,
    rate: Annotated[int, typer.Option(min=1, help="Calls per minute, of each token and each address.")] = (
        CALLS_PER_MINUTE
    ),
    store: StoreUrl = None,
    catalog: Catalog = None,
) -> None:
    """Serve the REST interface.

    Until it is interrupted. Every call needs a token: colocate token create NAME."""
    service = opened(store, catalog)
    try:
        from spark_colocate.faces.rest import server
    except ModuleNotFoundError as error:
        raise RequestError(
            Code.SERVE_REFUSED,
            f"Cannot serve: the package {error.name} is not installed.",
            "Install what the REST interface needs: pip install 'spark-colocate[rest]'.",
        ) from error
    server.serve(service, server.Serving(host, port, tls_cert, tls_key, rate))
