"""Serves the application: on loopback as it is, on other addresses with TLS only. Every call needs a token."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from dataclasses import dataclass, field
from pathlib import Path

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.rest.app import make_app
from spark_colocate.faces.rest.defaults import CALLS_PER_MINUTE, PORT
from spark_colocate.faces.rest.errors import error_response
from spark_colocate.faces.rest.guard import Limits, is_local
from spark_colocate.service import Service

HEAD_SECONDS = 10.0
HEAD_BYTES = 16_384
FIRST_TOKEN = "colocate token create NAME --role ADMIN"


@dataclass(frozen=True, slots=True)
class Serving:
    """Where and how to serve. port: 0 for a free one. cert, key: files for TLS."""

    host: str = "127.0.0.1"
    port: int = PORT
    cert: Path | None = None
    key: Path | None = None
    calls_per_minute: int = CALLS_PER_MINUTE
    limits: Limits = field(default_factory=Limits)

    @property
    def scheme(self) -> str:
        """The scheme of the server's URL."""
        return "https" if self.cert else "http"


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, with a limit for the time that the first line and the headers of a call take."""

    head_seconds = HEAD_SECONDS
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()

    def send_400_response(self, msg: str) -> None:
        """As uvicorn's, with the body that all errors have."""
        answer = error_response(
            RequestError(Code.REQUEST_INVALID, f"Cannot understand the call: {msg}", "Send a request of HTTP/1.1.")
        )
        headers = [*answer.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=400, headers=headers),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch(self) -> None:
        """The clock runs from the connection, or the first byte of another call, to the end of the headers."""
        waits = self.conn.their_state is h11.IDLE and not self.timeout_keep_alive_task
        if waits and self._late is None:
            self._late = self.loop.call_later(self.head_seconds, self.transport.abort)
        elif not waits:
            self._stop()

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def check(service: Service, serving: Serving) -> None:
    """Raises RequestError where serving so would be unsafe, or can't work."""
    if (serving.cert is None) != (serving.key is None):
        raise _refused(serving, "one of certificate and key is missing", "Give both --tls-cert and --tls-key.")
    if serving.cert and serving.key:
        _load(serving, serving.cert, serving.key)
    if is_local(serving.host):
        return
    missing = []
    if serving.cert is None:
        missing.append("TLS (--tls-cert and --tls-key)")
    if not _has_token(service):
        missing.append(f"a token ({FIRST_TOKEN})")
    if missing:
        raise _refused(
            serving,
            "other machines would reach it, and these are missing: " + " and ".join(missing),
            "Add them, or serve on 127.0.0.1.",
        )


def serve(service: Service, serving: Serving) -> None:
    """Serves until the process is interrupted. The first line on stdout names the URL, when calls are taken."""
    check(service, serving)
    listening = _listen(serving)
    port = listening.getsockname()[1]
    shown = f"[{serving.host}]" if ":" in serving.host else serving.host
    print(f"Serving catalog {service.catalog.identity} on {serving.scheme}://{shown}:{port}", flush=True)
    if not _has_token(service):
        print(f"There is no token yet, and no call goes without one: {FIRST_TOKEN}", file=sys.stderr, flush=True)
    uvicorn.Server(_config(service, serving)).run(sockets=[listening])


def _has_token(service: Service) -> bool:
    now = service.clock()
    return any(token.is_valid(now) for token in service.tokens())


def _config(service: Service, serving: Serving) -> uvicorn.Config:
    local = is_local(serving.host)
    app = make_app(service, local, serving.calls_per_minute, serving.limits)
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=HEAD_BYTES,
        ssl_certfile=serving.cert,
        ssl_keyfile=serving.key,
    )


def _listen(serving: Serving) -> socket.socket:
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    try:
        return socket.create_server((serving.host, serving.port), family=family)
    except (OSError, OverflowError) as error:
        raise _refused(serving, str(error), "Choose another --host or --port; port 0 takes a free one.") from error


def _load(serving: Serving, cert: Path, key: Path) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key)
    except OSError as error:  # ssl.SSLError is one too
        why = f"certificate {cert} with key {key} can't be used ({error})"
        raise _refused(serving, why, "Give PEM files that belong together and that this user may read.") from error


def _refused(serving: Serving, why: str, cure: str) -> RequestError:
    return RequestError(Code.SERVE_REFUSED, f"Cannot serve on {serving.host}:{serving.port}: {why}.", cure)
