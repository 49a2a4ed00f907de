"""Roles in sessions, where `spark.colocate.acl.enabled` asks for them; the same on every store."""

import json
from typing import Any

import pytest
from spark_colocate.model import AccessRole
from spark_colocate.service import Request

from tests.contract.plane import Plane

CALLS = (
    ("rows", {"table": "colocation_groups"}, AccessRole.READER),
    ("table_rows", {}, AccessRole.READER),
    ("doctor", {}, AccessRole.READER),
    ("set_group_stable", {"group": "db.g", "stable": True}, AccessRole.OPERATOR),
    ("start_job", {"kind": "verify", "target": "db.g", "options": {}}, AccessRole.OPERATOR),
    ("show_proc", {"path": "/colocation_group"}, AccessRole.ADMIN),
    ("set_replication", {"group": "db.g", "replication": 1}, AccessRole.ADMIN),
)


def _call(plane: Plane, verb: str, args: dict[str, Any], token: str | None) -> Any:
    context = {"who": "tester", "hosts": ["host-a"], "settings": {}, "token": token}
    return json.loads(plane.endpoint.call(verb, json.dumps({**args, "context": context})))


@pytest.mark.parametrize(("verb", "args", "least"), CALLS)
def test_a_call_needs_a_token_with_its_role(plane: Plane, verb: str, args: dict[str, Any], least: AccessRole) -> None:
    plane.create("db.t")
    order = list(AccessRole)
    secrets = {role: plane.service.create_token(role.lower(), role, Request()).secret for role in order}
    before = plane.service.groups()
    for token, code in (("", "TOKEN_NEEDED"), ("x", "TOKEN_NEEDED")):
        assert _call(plane, verb, args, token)["error"]["code"] == code
    for role in order[: order.index(least)]:
        assert _call(plane, verb, args, secrets[role])["error"]["code"] == "ROLE_TOO_LOW"
    assert plane.service.groups() == before and not plane.service.jobs.all()
    assert "ok" in _call(plane, verb, args, secrets[least])
    assert "ok" in _call(plane, verb, args, None) or verb == "start_job"


def test_what_was_changed_is_logged_with_the_name_of_the_token(plane: Plane) -> None:
    plane.create("db.t")
    secret = plane.service.create_token("night", AccessRole.OPERATOR, Request()).secret
    _call(plane, "set_group_stable", {"group": "db.g", "stable": False}, secret)
    assert (plane.service.audit(1)[0].verb, plane.service.audit(1)[0].who) == ("set_group_stable", "night")


def test_a_revoked_token_opens_nothing(plane: Plane) -> None:
    plane.create("db.t")
    secret = plane.service.create_token("night", AccessRole.ADMIN, Request()).secret
    plane.service.revoke_token("night", Request())
    assert _call(plane, "show_proc", {"path": "/colocation_group"}, secret)["error"]["code"] == "TOKEN_NEEDED"


def test_statements_on_tables_need_no_token(plane: Plane) -> None:
    args = {"db": "db", "table": "t", "group": "g", "format": "delta", "buckets": 4, "replication": None}
    begun = _call(plane, "begin_create", {**args, "keys": [{"name": "k", "type": "int"}]}, "")
    assert begun["ok"]["ticket"]
