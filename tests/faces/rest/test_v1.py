"""/api/v1: what each call answers, in pages, with ETags, and one body for every error."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from spark_colocate.model import AccessRole
from spark_colocate.service import Request
from starlette.testclient import TestClient

from tests.faces.registries import Registry

PAGED = ("groups", "tables", "hosts", "config", "audit", "tokens")


def test_groups_tables_buckets_and_hosts_are_listed(client: TestClient, registry: Registry) -> None:
    new, old = client.get("/api/v1/groups").json()["items"]
    assert new == client.get(f"/api/v1/groups/{registry.group_id}").json()
    assert (new["group_name"], new["buckets"], new["replication"], new["is_stable"]) == ("db.g1", 10, 2, True)
    assert (old["group_name"], old["key_types"], old["table_ids"]) == ("db.old", ["string", "decimal(10,2)"], [])
    assert old["recycled_until"] == "2027-01-16T08:00:00+00:00" and new["recycled_until"] is None
    tables = client.get("/api/v1/tables").json()["items"]
    assert [(t["table"], t["role"], t["table_id"]) for t in tables] == [
        ("orders", "parent", new["table_ids"][0]),
        ("lines", "child", new["table_ids"][1]),
    ]
    assert client.get("/api/v1/tables?group=db.old").json()["items"] == []
    assert client.get(f"/api/v1/tables?group={registry.group_id}").json()["items"] == tables
    hosts = client.get("/api/v1/hosts").json()["items"]
    assert [host["host"] for host in hosts] == ["host-a", "host-b", "host-c"]
    buckets = client.get(f"/api/v1/groups/{registry.group_id}/buckets").json()["items"]
    assert buckets[1] == {"bucket": 1, "hosts": [hosts[1], hosts[2]], "is_stable": True} and len(buckets) == 10


@pytest.mark.parametrize("what", [*PAGED, "groups/{id}/buckets"])
def test_pages_of_any_size_are_the_whole_list(client: TestClient, registry: Registry, what: str) -> None:
    for name in "bca":
        registry.service.create_token(name, AccessRole.ADMIN, Request())
    client = TestClient(client.app, client.base_url, headers={"Authorization": f"Bearer {_admin(registry)}"})
    path = "/api/v1/" + what.format(id=registry.group_id)
    whole = client.get(path).json()
    assert whole["next"] is None and len(whole["items"]) > 1
    for limit in (1, 2, len(whole["items"])):
        items, cursor = [], None
        while True:
            page = client.get(path, params={"limit": limit, **({"cursor": cursor} if cursor else {})}).json()
            assert len(page["items"]) <= limit
            items, cursor = items + page["items"], page["next"]
            if cursor is None:
                break
        assert items == whole["items"]


def test_a_table_is_adopted_by_a_job_that_is_started_once(
    client_of: Callable[..., TestClient], registry: Registry
) -> None:
    client = client_of(registry.token(AccessRole.OPERATOR))
    wanted, named = {"table": "db.new", "group": "g1", "keys": ["k"]}, {"Idempotency-Key": "way-in"}
    started = client.post("/api/v1/jobs/adopt", json=wanted, headers=named).json()
    assert (started["kind"], started["target"], started["group_name"]) == ("adopt", "db.new", "db.g1")
    assert client.post("/api/v1/jobs/adopt", json=wanted, headers=named).json() == started
    assert client.post("/api/v1/jobs/adopt", json=wanted).status_code == 409
    for more in ({"keys": []}, {"buckets": 0}, {"table": ""}, {"other": 1}):
        assert client.post("/api/v1/jobs/adopt", json={**wanted, **more}).status_code == 422
    for more in ({"table": "new"}, {"table": "a.b.c"}, {"group": "elsewhere.g"}, {"table": "db.orders"}):
        refused = client.post("/api/v1/jobs/adopt", json={**wanted, **more})
        assert 400 <= refused.status_code < 500, refused.text


def test_jobs_are_started_once_watched_and_ended(client_of: Callable[..., TestClient], registry: Registry) -> None:
    client = client_of(registry.token(AccessRole.OPERATOR))
    wanted, named = {"target": "db.orders", "mode": "sample"}, {"Idempotency-Key": "night-7"}
    started = client.post("/api/v1/jobs/verify", json=wanted, headers=named).json()
    assert (started["kind"], started["target"], started["state"]) == ("verify", "db.orders", "pending")
    assert client.post("/api/v1/jobs/verify", json=wanted, headers=named).json() == started
    others = (
        ("verify", {**wanted, "mode": "rows"}),
        ("verify", {"target": "db.g1"}),
        ("repair", {"target": "db.orders"}),
    )
    for kind, body in others:
        other = client.post(f"/api/v1/jobs/{kind}", json=body, headers=named)
        assert other.status_code == 409 and other.json()["code"] == "JOB_REPEATED", body
    again = client.post("/api/v1/jobs/repair", json={"target": "db.g1"})
    assert again.status_code == 409 and again.json()["code"] == "JOB_RUNNING"
    path = f"/api/v1/jobs/{started['job_id']}"
    assert client.get(path).json() == client.get("/api/v1/jobs").json()["items"][0] == started
    assert [client.post(f"{path}/{verb}").json()["state"] for verb in ("pause", "resume", "cancel")] == [
        "paused",
        "pending",
        "cancelled",
    ]
    ended = client.post(f"{path}/resume")
    assert ended.status_code == 409 and "Start a new one" in ended.json()["cure"]
    assert client.get("/api/v1/jobs/77").status_code == 404
    for body in ({}, {"target": "db.orders", "mode": "half"}, {"target": "", "mode": "rows"}):
        assert client.post("/api/v1/jobs/verify", json=body).status_code == 422
    assert client.post("/api/v1/jobs/verify", json={"target": "db.nothing"}).status_code == 404
    assert client.post("/api/v1/jobs/balance", json={"group": "db.orders"}).status_code == 404


def _admin(registry: Registry) -> str:
    return registry.token(AccessRole.ADMIN)


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "cursor=-1", "cursor=x", "cursor=" + "9" * 30])
def test_another_page_is_refused(client: TestClient, query: str) -> None:
    answer = client.get(f"/api/v1/groups?{query}")
    assert answer.status_code == 422 and query.split("=")[0] in answer.json()["message"]


def test_changes_are_made_and_audited_with_the_caller(client_of: Callable[..., TestClient], registry: Registry) -> None:
    client, group = client_of(_admin(registry)), f"/api/v1/groups/{registry.group_id}"
    assert client.put(f"{group}/stable", json={"stable": False}).json() == {"group_name": "db.g1", "warnings": []}
    assert client.get(group).json()["is_stable"] is False
    assert client.put(f"{group}/replication", json={"replication": 1}).status_code == 200
    host = registry.service.hosts()[2].backend_id
    changed = client.put(f"{group}/sequence", json={"buckets": [[host]] * 10}).json()
    assert changed["group_name"] == "db.g1" and "are false" in changed["warnings"][0]
    assert client.put("/api/v1/config/disable_colocate_balance", json={"value": "true"}).json()["value"] == "true"
    old = registry.service.group("db.old").group.id
    assert client.delete(f"/api/v1/groups/{old}").json()["group_name"] == "db.old"
    lines = [line for line in client.get("/api/v1/audit").json()["items"] if line["who"] == "admin"]
    assert [line["verb"] for line in lines[::-1]] == [
        "set_group_stable", "set_replication", "set_sequence", "set_config", "group_deleted",
    ]  # fmt: skip


def test_a_token_is_made_shown_once_and_revoked(client_of: Callable[..., TestClient], registry: Registry) -> None:
    client = client_of(_admin(registry))
    made = client.post("/api/v1/tokens", json={"name": "ops", "role": "OPERATOR", "days": 1})
    assert made.status_code == 201 and made.headers["cache-control"] == "no-store"
    secret = made.json()["secret"]
    assert secret not in client.get("/api/v1/tokens").text + client.get("/api/v1/audit").text
    again = client.post("/api/v1/tokens", json={"name": "ops", "role": "OPERATOR", "days": 1})
    assert again.status_code == 409 and again.json()["code"] == "TOKEN_EXISTS"
    ops = client_of(secret)
    assert ops.get("/api/v1/groups").status_code == 200
    assert client.delete("/api/v1/tokens/ops").json()["state"] == "revoked"
    assert ops.get("/api/v1/groups").status_code == 401
    assert client.delete("/api/v1/tokens/nobody").status_code == 404


@pytest.mark.parametrize("what", ["groups", "groups/{id}", "tables", "hosts", "config", "audit"])
def test_an_answer_that_has_not_changed_is_not_sent_again(client: TestClient, registry: Registry, what: str) -> None:
    path = "/api/v1/" + what.format(id=registry.group_id)
    first = client.get(path)
    tag = first.headers["etag"]
    assert tag.startswith(f'"{registry.service.version()}-')
    for sent in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        same = client.get(path, headers={"If-None-Match": sent})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    registry.service.set_config("disable_colocate_balance", "true", Request())
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 200


def test_a_group_that_ends_with_its_recycle_period_changes_the_tag(client: TestClient, registry: Registry) -> None:
    tag = client.get("/api/v1/groups").headers["etag"]
    registry.plane.clock.now += 86400
    assert client.get("/api/v1/groups", headers={"If-None-Match": tag}).status_code == 200


def test_a_change_names_the_version_that_its_caller_saw(client: TestClient, registry: Registry) -> None:
    path = f"/api/v1/groups/{registry.group_id}"
    seen = client.get(path).headers["etag"]
    moved = client.put(f"{path}/stable", json={"stable": False}, headers={"If-Match": seen})
    assert moved.status_code == 200
    late = client.put(f"{path}/stable", json={"stable": True}, headers={"If-Match": seen})
    assert late.status_code == 412 and late.json()["code"] == "VERSION_CHANGED"
    assert client.get(path).json()["is_stable"] is False
    for tag in (moved.headers["etag"], "*"):
        assert client.put(f"{path}/stable", json={"stable": True}, headers={"If-Match": tag}).status_code == 200
    assert client.put(f"{path}/stable", json={"stable": True}, headers={"If-Match": "x"}).status_code == 412


ERRORS: list[tuple[str, str, Any, int, str]] = [
    ("GET", "/nowhere", None, 404, "PATH_UNKNOWN"),
    ("GET", "/api/v1/groups/1.2", None, 404, "GROUP_UNKNOWN"),
    ("GET", "/api/v1/groups/1.2/buckets", None, 404, "GROUP_UNKNOWN"),
    ("GET", "/api/v1/groups/db.g1", None, 422, "REQUEST_INVALID"),
    ("GET", "/api/v1/groups/1.2'%20OR%20'1'='1", None, 422, "REQUEST_INVALID"),
    ("GET", "/api/v1/tables?group=x'%20OR%201=1%20--", None, 200, ""),
    ("GET", "/api/v1/tables?group=%00%ff", None, 200, ""),
    ("PATCH", "/api/v1/groups", None, 405, "METHOD_REFUSED"),
    ("DELETE", "/api/v1/groups/{id}", None, 409, "GROUP_HAS_MEMBERS"),
    ("PUT", "/api/v1/groups/{id}/stable", {}, 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/groups/{id}/stable", {"stable": "true"}, 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/groups/{id}/stable", {"stable": True, "more": 1}, 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/groups/{id}/stable", {"stable": True, "\ud800": 1}, 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/groups/{id}/stable", [True], 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/groups/{id}/replication", {"replication": 0}, 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/groups/{id}/replication", {"replication": 10**12}, 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/groups/{id}/sequence", {"buckets": [[1]]}, 409, "SEQUENCE_INVALID"),
    ("PUT", "/api/v1/config/max_balancing", {"value": "true"}, 404, "SETTING_UNKNOWN"),
    ("PUT", "/api/v1/config/disable_colocate_balance", {"value": "'; DROP TABLE x; --"}, 422, "REQUEST_INVALID"),
    ("PUT", "/api/v1/config/disable_colocate_balance", {"value": "\ud800"}, 422, "REQUEST_INVALID"),
    ("POST", "/api/v1/tokens", {"name": "a'; DROP TABLE colocate_tokens; --"}, 422, "REQUEST_INVALID"),
    ("POST", "/api/v1/tokens", {"name": "a", "role": "ROOT"}, 422, "REQUEST_INVALID"),
    ("POST", "/api/v1/tokens", {"name": "a", "days": 0}, 422, "REQUEST_INVALID"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "code"), ERRORS)
def test_bad_calls_have_one_body_and_change_nothing(
    client: TestClient, registry: Registry, method: str, path: str, body: Any, status: int, code: str
) -> None:
    before = registry.plane.dump()
    content = None if body is None else json.dumps(body)
    headers = {"Content-Type": "application/json"}
    answer = client.request(method, path.format(id=registry.group_id), content=content, headers=headers)
    assert answer.status_code == status, answer.text
    if code:
        given = answer.json()
        assert set(given) == {"code", "message", "cure"} and given["code"] == code and all(given.values())
    assert registry.plane.dump() == before


def test_a_fault_shows_no_stack(client: TestClient, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(registry.service), "groups", lambda _self: 1 / 0)
    answer = client.get("/api/v1/groups")
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL_FAULT")
    assert "ZeroDivision" not in answer.text and "Traceback" not in answer.text


def test_findings_of_the_store_are_listed(client: TestClient, registry: Registry) -> None:
    [one] = client.get("/api/v1/doctor").json()["items"]
    assert (one["severity"], one["code"]) == ("advice", "STORE_OF_ONE_HOST")
    registry.service.set_group_stable("db.g1", False, "", Request())
    registry.plane.clock.now += 3600
    first, second = client.get("/api/v1/doctor?db=db").json()["items"]
    assert second == one
    assert first["cure"] == "CALL system.set_group_stable(group => 'db.g1', stable => true)"
    assert "since 2027-01-15 08:00:00 UTC" in first["finding"]
    assert client.get("/api/v1/doctor?db=other").json()["items"] == [one]
    page = client.get("/api/v1/doctor?limit=1").json()
    assert page["items"] == [first]
    assert client.get(f"/api/v1/doctor?limit=1&cursor={page['next']}").json() == {"items": [one], "next": None}
