"""The server on a socket: where it may listen, and clients that send too much, too slowly, or no HTTP."""

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
import uvicorn
from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.rest import server
from spark_colocate.faces.rest.guard import Limits
from spark_colocate.faces.rest.server import Serving, check
from spark_colocate.model import AccessRole
from spark_colocate.service import Request

from tests.faces.registries import Registry


@contextlib.contextmanager
def running(registry: Registry, serving: Serving) -> Iterator[int]:
    """Serves in a thread; gives the port."""
    listening = server._listen(serving)
    running = uvicorn.Server(server._config(registry.service, serving))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture
def port(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(server.PatientProtocol, "head_seconds", 0.5)
    with running(registry, Serving(port=0, limits=Limits(seconds=0.5))) as port:
        yield port


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def read(connection: socket.socket) -> bytes:
    """Everything until the server closes."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


HEAD = b"PUT /api/v1/groups/1.2/stable HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def error_of(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    given = json.loads(body)
    assert set(given) == {"code", "message", "cure"}
    return int(head.split()[1]), given["code"]


def test_a_body_of_100_mb_is_refused_while_it_is_read(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        sent = 0
        try:
            while sent < 100_000_000:
                connection.sendall(piece)
                sent += 65536
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 20_000_000  # what the buffers of two sockets take


def test_a_declared_length_of_100_mb_is_refused_at_once(port: int) -> None:
    for length in (b"100000000", b"9" * 30):
        with connected(port) as connection:
            connection.sendall(HEAD + b"Content-Length: " + length + b"\r\n\r\n")
            status, _code = error_of(read(connection))
            assert status in (400, 413)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", 0),
        (b"GET /api/v1/groups HT", 0),
        (b"GET /api/v1/groups HTTP/1.1\r\nHost: 127.0.0.1\r\n", 0),
        (HEAD + b"Content-Length: 17\r\n\r\n{", 408),
    ],
)
def test_a_slow_client_is_not_waited_for(port: int, sent: bytes, status: int) -> None:
    with connected(port) as connection:
        connection.sendall(sent)
        began = time.monotonic()
        answer = read(connection)
        assert 0.3 < time.monotonic() - began < 5
        assert (error_of(answer) if status else (0, answer)) == ((408, "REQUEST_TIMEOUT") if status else (0, b""))


def drip(connection: socket.socket) -> None:
    for _ in range(100):
        connection.sendall(b"G")
        time.sleep(0.1)


def test_a_client_that_sends_byte_by_byte_is_not_waited_for(port: int) -> None:
    with connected(port) as connection:
        began = time.monotonic()
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(connection)
        assert time.monotonic() - began < 5


def test_a_client_may_take_its_time_between_calls(registry: Registry, port: int) -> None:
    headers = {"Authorization": f"Bearer {registry.token(AccessRole.READER)}"}
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    client.connect()
    client.auto_open = False  # a connection that the server closed would be opened anew
    with contextlib.closing(client):
        for _ in range(2):
            client.request("GET", "/api/v1/hosts", headers=headers)
            answer = client.getresponse()
            assert answer.status == 200 and answer.read()
            time.sleep(0.8)


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00", b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"])
def test_what_is_no_http_gets_the_body_of_all_errors(port: int, sent: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(sent + b"\r\n\r\n")
        assert error_of(read(connection)) == (400, "REQUEST_INVALID")


def test_a_token_revoked_while_a_body_arrives_is_refused(registry: Registry) -> None:
    secret = registry.token(AccessRole.ADMIN)
    head = HEAD.replace(b"1.2", registry.group_id.encode()) + f"Authorization: Bearer {secret}\r\n".encode()
    with running(registry, Serving(port=0)) as port, connected(port) as connection:
        connection.sendall(head + b'Connection: close\r\nContent-Length: 17\r\n\r\n{"stable":')
        time.sleep(0.2)
        registry.service.revoke_token("admin", Request())
        connection.sendall(b" false}")
        assert error_of(read(connection)) == (401, "TOKEN_NEEDED")
    assert registry.service.group("db.g1").group.is_stable


# --- Where it may listen ---


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = trustme.CA().issue_cert("localhost")
    made.cert_chain_pems[0].write_to_path(cert)
    made.private_key_pem.write_to_path(key)
    return cert, key


def refusal(registry: Registry, serving: Serving) -> str:
    with pytest.raises(RequestError) as refused:
        check(registry.service, serving)
    assert refused.value.code is Code.SERVE_REFUSED
    return str(refused.value)


def test_other_addresses_need_tls_and_a_valid_token(registry: Registry, tls: tuple[Path, Path]) -> None:
    cert, key = tls
    both = refusal(registry, Serving("0.0.0.0"))
    assert "other machines would reach it" in both and "--tls-cert" in both and "colocate token create" in both
    assert "a token" in refusal(registry, Serving("0.0.0.0", cert=cert, key=key))
    registry.token(AccessRole.ADMIN)
    assert "TLS" in refusal(registry, Serving("192.0.2.1"))
    assert "TLS" in refusal(registry, Serving("example.org"))
    check(registry.service, Serving("0.0.0.0", cert=cert, key=key))
    registry.service.revoke_token("admin", Request())
    assert "a token" in refusal(registry, Serving("::", cert=cert, key=key))
    for host in ("127.0.0.1", "127.9.9.9", "localhost", "::1"):
        check(registry.service, Serving(host))


def test_a_server_without_a_valid_token_says_how_to_make_one(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    server.serve(registry.service, Serving(port=0))
    told = capsys.readouterr()
    assert told.out.startswith("Serving catalog warehouse on http://127.0.0.1:")
    assert told.err.endswith("colocate token create NAME --role ADMIN\n")
    registry.token(AccessRole.READER)
    server.serve(registry.service, Serving(port=0))
    assert capsys.readouterr().err == ""


def test_a_certificate_that_cannot_be_used_is_named(registry: Registry, tls: tuple[Path, Path]) -> None:
    cert, key = tls
    assert "one of certificate and key is missing" in refusal(registry, Serving(cert=cert))
    assert "can't be used" in refusal(registry, Serving(cert=cert, key=cert))
    assert "can't be used" in refusal(registry, Serving(cert=Path("/none"), key=key))


def test_a_port_that_is_taken_is_named(registry: Registry, port: int) -> None:
    for taken in (port, 70_000):
        with pytest.raises(RequestError, match=f"Cannot serve on 127.0.0.1:{taken}") as refused:
            server._listen(Serving(port=taken))
        assert refused.value.code is Code.SERVE_REFUSED


def test_it_serves_with_tls_on_all_addresses(registry: Registry, tls: tuple[Path, Path]) -> None:
    secret = registry.token(AccessRole.READER)
    serving = Serving("0.0.0.0", 0, *tls)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with running(registry, serving) as port:
        for extra, status in ((b"", 401), (f"Authorization: Bearer {secret}\r\n".encode(), 200)):
            with context.wrap_socket(connected(port), server_hostname="localhost") as connection:
                connection.sendall(
                    b"GET /api/v1/hosts HTTP/1.1\r\nHost: any\r\nConnection: close\r\n" + extra + b"\r\n"
                )
                assert int(read(connection).split()[1]) == status
