"""Who is let in, and what a hostile or careless caller gets."""

import base64
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from spark_colocate.faces.rest import v1
from spark_colocate.faces.rest.guard import Limits
from spark_colocate.model import AccessRole, Token
from spark_colocate.service import Request, Service
from sqlalchemy import event
from starlette.testclient import TestClient

from tests.faces.registries import Registry, make
from tests.faces.rest.conftest import admin_client

ClientOf = Callable[..., TestClient]
ANY = Request(who="test")

CALLS: list[tuple[str, str, Any, AccessRole]] = [
    ("GET", "/api/colocate", None, AccessRole.READER),
    ("GET", "/api/v1/groups", None, AccessRole.READER),
    ("GET", "/api/v1/groups/{id}", None, AccessRole.READER),
    ("GET", "/api/v1/groups/{id}/buckets", None, AccessRole.READER),
    ("GET", "/api/v1/tables", None, AccessRole.READER),
    ("GET", "/api/v1/hosts", None, AccessRole.READER),
    ("GET", "/api/v1/config", None, AccessRole.READER),
    ("GET", "/api/v1/audit", None, AccessRole.READER),
    ("GET", "/api/v1/doctor", None, AccessRole.READER),
    ("GET", "/api/v1/jobs", None, AccessRole.READER),
    ("GET", "/api/v1/jobs/1", None, AccessRole.READER),
    ("POST", "/api/v1/jobs/verify", {"target": "db.g1"}, AccessRole.OPERATOR),
    ("POST", "/api/v1/jobs/repair", {"target": "db.orders"}, AccessRole.OPERATOR),
    ("POST", "/api/v1/jobs/balance", {"group": "db.g1"}, AccessRole.OPERATOR),
    ("POST", "/api/v1/jobs/adopt", {"table": "db.t", "group": "g1", "keys": ["k"]}, AccessRole.OPERATOR),
    ("POST", "/api/v1/jobs/1/pause", None, AccessRole.OPERATOR),
    ("POST", "/api/v1/jobs/1/resume", None, AccessRole.OPERATOR),
    ("POST", "/api/v1/jobs/1/cancel", None, AccessRole.OPERATOR),
    ("POST", "/api/colocate/group_stable?db_id={db}&group_id={group}", None, AccessRole.OPERATOR),
    ("DELETE", "/api/colocate/group_stable?db_id={db}&group_id={group}", None, AccessRole.OPERATOR),
    ("PUT", "/api/v1/groups/{id}/stable", {"stable": False}, AccessRole.OPERATOR),
    ("PUT", "/api/v1/config/disable_colocate_balance", {"value": "true"}, AccessRole.OPERATOR),
    ("POST", "/api/colocate/bucketseq?db_id={db}&group_id={group}", [], AccessRole.ADMIN),
    ("PUT", "/api/v1/groups/{id}/sequence", {"buckets": []}, AccessRole.ADMIN),
    ("PUT", "/api/v1/groups/{id}/replication", {"replication": 1}, AccessRole.ADMIN),
    ("DELETE", "/api/v1/groups/{id}", None, AccessRole.ADMIN),
    ("GET", "/api/v1/tokens", None, AccessRole.ADMIN),
    ("POST", "/api/v1/tokens", {"name": "new"}, AccessRole.ADMIN),
    ("DELETE", "/api/v1/tokens/reader", None, AccessRole.ADMIN),
]


def call(client: TestClient, registry: Registry, method: str, path: str, body: Any, **more: Any) -> Any:
    group = registry.service.group("db.g1").group
    path = path.format(id=group.id, db=group.db_id, group=group.group_id)
    return client.request(method, path, json=body, **more)


def test_the_table_of_calls_is_whole(client: TestClient) -> None:
    listed = {(method, path.partition("?")[0].replace("{id}", "{group_id}")) for method, path, *_ in CALLS}
    described = client.get("/openapi.json").json()["paths"]
    routes = {(method.upper(), path) for path, methods in described.items() for method in methods}
    for name, value in (("{key}", "disable_colocate_balance"), ("{name}", "reader"), ("{job_id}", "1")):
        routes = {(method, path.replace(name, value)) for method, path in routes}
    assert routes == listed


@pytest.mark.parametrize(("method", "path", "body", "least"), CALLS)
def test_each_call_needs_its_role(
    client_of: ClientOf, registry: Registry, method: str, path: str, body: Any, least: AccessRole
) -> None:
    order = list(AccessRole)
    secrets = {role: registry.token(role) for role in order}
    state = registry.plane.dump(), registry.service.tokens()
    for role in order[: order.index(least)]:
        refused = call(client_of(secrets[role]), registry, method, path, body)
        assert (refused.status_code, refused.json()["code"]) == (403, "ROLE_TOO_LOW")
        assert f"{least} is needed" in refused.json()["message"]
    assert (registry.plane.dump(), registry.service.tokens()) == state
    allowed = call(client_of(secrets[least]), registry, method, path, body)
    # 404: there is no job yet; 409: the group has tables, or other buckets
    assert allowed.status_code in (200, 201, 409) or allowed.json()["code"] == "JOB_UNKNOWN", allowed.text


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


WRONG = {
    "none": None,
    "empty": "",
    "no scheme": "{reader}",
    "another scheme": "Digest {reader}",
    "unknown": "Bearer x",
    "empty bearer": "Bearer ",
    "cut off": "Bearer {cut}",
    "injection": "Bearer ' OR '1'='1",
    "broken basic": "Basic !!!",
    "basic without a colon": "Basic " + base64.b64encode(b"abc").decode(),
    "the token as the user": "{as_user}",
    "expired": "Bearer {expired}",
    "revoked": "Bearer {revoked}",
    "its hash": "Bearer {digest}",
}


@pytest.mark.parametrize("case", WRONG)
def test_without_a_valid_token_nothing_is_shown_or_changed(client_of: ClientOf, registry: Registry, case: str) -> None:
    service = registry.service
    gone = service.create_token("gone", AccessRole.ADMIN, ANY, 1).secret
    registry.plane.clock.now += 86400
    reader, revoked = registry.token(AccessRole.READER), registry.token(AccessRole.OPERATOR)
    service.revoke_token("operator", ANY)
    fill = {
        "{reader}": reader,
        "{cut}": reader[:-1],
        "{as_user}": _basic(reader, "x"),
        "{expired}": gone,
        "{revoked}": revoked,
        "{digest}": next(token.digest for token in service.tokens() if token.name == "reader"),
    }
    sent = WRONG[case]
    for key, value in fill.items():
        sent = sent.replace(key, value) if sent else sent
    headers = {} if sent is None else {"Authorization": sent}
    before, client = registry.plane.dump(), client_of()
    for method, path, body, _least in CALLS:
        answer = call(client, registry, method, path, body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_NEEDED"), (path, answer.text)
        assert answer.headers["www-authenticate"].startswith("Basic")
        assert reader not in answer.text
    assert registry.plane.dump() == before


@pytest.mark.parametrize("user", ["root", "reader", ""])
def test_a_token_is_the_password_of_any_user(client_of: ClientOf, registry: Registry, user: str) -> None:
    secret = registry.token(AccessRole.READER)
    answer = client_of().get("/api/colocate", headers={"Authorization": _basic(user, secret)})
    assert answer.status_code == 200


def test_a_token_revoked_in_mid_call_changes_nothing(
    client_of: ClientOf, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticate = Service.authenticate

    def and_revoked(service: Service, secret: str, verb: str) -> Token:
        token = authenticate(service, secret, verb)
        service.revoke_token(token.name, ANY)
        return token

    secret = registry.token(AccessRole.ADMIN)
    monkeypatch.setattr(Service, "authenticate", and_revoked)
    answer = call(client_of(secret), registry, "PUT", "/api/v1/groups/{id}/stable", {"stable": False})
    assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_NEEDED")
    assert registry.service.group("db.g1").group.is_stable


@pytest.mark.parametrize("local", [True, False])
def test_while_there_is_no_token_nobody_gets_in_and_nobody_makes_the_first(
    client_of: ClientOf, registry: Registry, local: bool
) -> None:
    client, before = client_of(local=local), registry.plane.dump()
    for method, path, body, _least in CALLS:
        answer = call(client, registry, method, path, body)
        assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_NEEDED"), (path, answer.text)
    assert (registry.plane.dump(), registry.service.tokens()) == (before, [])
    assert client.get("/openapi.json").status_code == 200


def test_a_server_stays_closed_when_its_last_token_ends_and_opens_with_a_new_one(
    client_of: ClientOf, registry: Registry
) -> None:
    client = client_of(registry.token(AccessRole.READER))
    assert client.get("/api/v1/groups").status_code == 200
    registry.service.revoke_token("reader", ANY)
    assert client.get("/api/v1/groups").status_code == 401
    client.headers["Authorization"] = f"Bearer {registry.token(AccessRole.READER)}"
    assert client.get("/api/v1/groups").status_code == 200
    registry.service.store.forget(registry.service.catalog)
    registry.plane.create("db.a")
    assert client.get("/api/v1/groups").status_code == 401


def test_too_many_calls_are_refused_for_each_token_and_each_address(client_of: ClientOf, registry: Registry) -> None:
    client = client_of(registry.token(AccessRole.READER), calls_per_minute=3)
    answers = [client.get("/api/v1/hosts") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].json()["code"] == "RATE_LIMITED" and answers[-1].headers["retry-after"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8030"}, 200),
        ({"Host": "[::1]:8030"}, 200),
        ({"Origin": "http://127.0.0.1"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1234"}, 403),
        ({"Origin": "http://[", "Host": "127.0.0.1"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "["}, 403),
        ({"Host": ""}, 403),
    ],
)
def test_web_pages_cannot_use_a_server_on_loopback(client: TestClient, headers: dict[str, str], status: int) -> None:
    answer = client.get("/api/v1/groups", headers=headers)
    assert answer.status_code == status and (status == 200 or answer.json()["code"] == "ORIGIN_REFUSED")


@pytest.mark.parametrize("size", [100, 101, 10_000])
def test_a_body_has_a_bound(client_of: ClientOf, registry: Registry, size: int) -> None:
    client = client_of(registry.token(AccessRole.OPERATOR), limits=Limits(body_bytes=100))
    content = b'{"stable": true}'.ljust(size)
    for sent in (content, iter([content[:50], content[50:]])):  # with its length, and in pieces
        answer = client.put("/api/v1/groups/1.2/stable", content=sent, headers={"Content-Type": "application/json"})
        assert answer.status_code == (404 if size <= 100 else 413), answer.text


# --- A store that can't be used ---


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Registry]:
    made = make(tmp_path, timeout=0.1)
    yield made
    made.service.store.close()


def _file(registry: Registry) -> str:
    return registry.url.removeprefix("sqlite:///")


def test_a_store_that_is_gone_is_no_empty_list(stored: Registry) -> None:
    client = admin_client(stored)
    Path(_file(stored)).unlink()
    for method, path in (("GET", "/api/v1/groups"), ("GET", "/api/colocate"), ("DELETE", "/api/v1/groups/1.2")):
        answer = client.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (503, "STORE_UNREACHABLE")
        assert "Put it back" in answer.json()["cure"] and answer.headers["retry-after"]
    assert not Path(_file(stored)).exists()


def test_a_locked_store_says_so(stored: Registry) -> None:
    client = admin_client(stored)
    holder = sqlite3.connect(_file(stored), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    answer = call_stable(client, "1.2")
    assert (answer.status_code, answer.json()["code"]) == (503, "STORE_LOCKED")
    holder.execute("ROLLBACK")
    holder.close()
    assert call_stable(client, stored.group_id).status_code == 200


def call_stable(client: TestClient, group: str) -> Any:
    return client.put(f"/api/v1/groups/{group}/stable", json={"stable": False})


def test_a_full_store_says_so_and_changes_nothing(stored: Registry) -> None:
    client = admin_client(stored)
    with sqlite3.connect(_file(stored)) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    full = f"PRAGMA max_page_count = {pages}"
    engine = stored.service.store._engine  # type: ignore[attr-defined]
    event.listen(engine, "connect", lambda connection, _record: connection.execute(full))
    stable, answer = True, None
    for _ in range(300):  # each writes a line of the audit, until the last page is full
        answer = client.put(f"/api/v1/groups/{stored.group_id}/stable", json={"stable": not stable})
        if answer.status_code != 200:
            break
        stable = not stable
    assert answer is not None
    assert (answer.status_code, answer.json()["code"]) == (503, "STORE_UNREACHABLE")
    assert "full" in answer.json()["message"]
    assert stored.service.group("db.g1").group.is_stable == stable


def test_ids_of_the_interface_fit_the_stores_integers() -> None:
    assert v1.MAX_ID < 2**63
