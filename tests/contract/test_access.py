"""Tokens, what their roles may call, and calls that are checked again when they write, on every store."""

from typing import get_type_hints

import pytest
from spark_colocate.errors import AccessError, Code, ColocateError, RequestError
from spark_colocate.model import AccessRole
from spark_colocate.service import Jobs, Request, Service
from spark_colocate.service.base.access import LEAST_ROLE, NewToken

from tests.contract.plane import Clock, Plane

ADMIN = Request(who="admin")
DAY = 86400


def made(plane: Plane, name: str = "ops", role: AccessRole = AccessRole.OPERATOR, days: int = 30) -> NewToken:
    return plane.service.create_token(name, role, ADMIN, days)


def test_a_token_is_found_by_its_secret_which_the_store_does_not_have(plane: Plane) -> None:
    new, other = made(plane), made(plane, "reader", AccessRole.READER)
    assert plane.service.authenticate(new.secret, "set_config") == new.token
    assert plane.service.authenticate(other.secret, "groups").name == "reader"
    assert len({new.secret, other.secret}) == 2 and len(new.secret) >= 43  # 256 bits, six in each letter
    assert new.secret not in repr(plane.service.tokens()) and new.secret not in repr(new)
    assert [token.name for token in plane.service.tokens()] == ["ops", "reader"]


@pytest.mark.parametrize("secret", ["", "x", "\udcff", "ops", "' OR 1=1 --", "a" * 100_000])
def test_another_secret_is_none(plane: Plane, secret: str) -> None:
    made(plane)
    with pytest.raises(AccessError, match="has none with this secret") as refused:
        plane.service.authenticate(secret, "groups")
    assert refused.value.code is Code.TOKEN_NEEDED


def test_it_ends_when_it_expires_or_is_revoked(plane: Plane, clock: Clock) -> None:
    new, other = made(plane, days=30), made(plane, "other")
    clock.now += 30 * DAY - 1
    plane.service.authenticate(new.secret, "groups")
    clock.now += 1
    with pytest.raises(AccessError, match="Cannot use token ops: it has expired"):
        plane.service.authenticate(new.secret, "groups")
    plane.service.revoke_token("other", ADMIN)
    with pytest.raises(AccessError, match="Cannot use token other: it was revoked"):
        plane.service.authenticate(other.secret, "groups")


def test_a_name_is_free_again_when_its_token_has_ended(plane: Plane) -> None:
    old = made(plane)
    with pytest.raises(RequestError, match="there is a valid one of this name, with role OPERATOR") as refused:
        made(plane)
    assert refused.value.code is Code.TOKEN_EXISTS
    plane.service.revoke_token("ops", ADMIN)
    new = made(plane)
    assert plane.service.authenticate(new.secret, "groups") == new.token
    with pytest.raises(AccessError):
        plane.service.authenticate(old.secret, "groups")


@pytest.mark.parametrize(("name", "days"), [("", 1), ("a b", 1), ("x'; --", 1), ("a" * 65, 1), ("a", 0), ("a", 3651)])
def test_names_and_days_have_bounds(plane: Plane, name: str, days: int) -> None:
    with pytest.raises(RequestError) as refused:
        made(plane, name, days=days)
    assert refused.value.code is Code.REQUEST_INVALID
    assert plane.service.tokens() == []


def test_an_unknown_token_cannot_be_revoked(plane: Plane) -> None:
    made(plane)
    with pytest.raises(RequestError, match=r"There is no token x \(tokens: ops\)"):
        plane.service.revoke_token("x", ADMIN)


def test_each_role_may_call_what_the_table_says(plane: Plane) -> None:
    order = list(AccessRole)
    for role in order:
        secret = made(plane, str(role), role).secret
        for verb, least in LEAST_ROLE.items():
            if order.index(role) >= order.index(least):
                plane.service.authenticate(secret, verb)
                continue
            with pytest.raises(AccessError, match=f"{least} is needed") as refused:
                plane.service.authenticate(secret, verb)
            assert refused.value.code is Code.ROLE_TOO_LOW


JOBS = {"jobs": "all", "start_job": "start", "pause_job": "pause", "resume_job": "resume", "cancel_job": "cancel"}


def test_the_table_of_roles_names_verbs_of_the_service_and_changes_need_more_than_reading() -> None:
    for verb, least in LEAST_ROLE.items():
        # How a session shows `groups` and `placement`, what it does to a folder, and what it reads of logs.
        if verb in ("show_proc", "remove_leftover", "advise"):
            continue
        method = getattr(Jobs, JOBS[verb]) if verb in JOBS else getattr(Service, verb)
        changes = "request" in get_type_hints(method)
        assert changes == (least is not AccessRole.READER) or verb in ("tokens", "doctor"), verb


def test_changes_of_tokens_are_in_the_audit_with_the_caller_and_without_the_secret(plane: Plane) -> None:
    new = made(plane)
    plane.service.revoke_token("ops", Request(who="other"))
    plane.service.revoke_token("ops", Request(who="other"))
    lines = [(line.who, line.verb, line.object, line.detail) for line in plane.service.audit()]
    assert lines == [("other", "revoke_token", "ops", ""), ("admin", "create_token", "ops", "role OPERATOR, 30 days")]
    assert new.secret not in repr(plane.service.audit())


def test_a_token_that_ends_in_mid_call_changes_nothing(plane: Plane, clock: Clock) -> None:
    plane.create("db.a")
    calls = [
        lambda request: plane.service.set_group_stable("db.g", False, "", request),
        lambda request: plane.service.set_config("disable_colocate_balance", "true", request),
        lambda request: plane.service.set_replication("db.g", 2, "", request),
        lambda request: plane.service.set_sequence("db.g", [[1]] * 4, "", request),
        lambda request: plane.service.purge_group("db.g", "", request),
        lambda request: plane.service.create_token("new", AccessRole.ADMIN, request),
        lambda request: plane.service.revoke_token("ops", request),
    ]
    shown = plane.service.authenticate(made(plane, days=1).secret, "groups")
    plane.service.revoke_token("ops", ADMIN)
    before = (plane.dump(), plane.service.config(), plane.service.tokens())
    for call in calls:
        with pytest.raises(AccessError, match="Cannot use token ops: it was revoked"):
            call(Request(token=shown))
    made(plane)  # of the same name, with another secret
    with pytest.raises(AccessError):
        calls[0](Request(token=shown))
    clock.now += 40 * DAY
    with pytest.raises(AccessError):
        calls[0](Request(token=plane.service.tokens()[0]))
    assert (plane.dump()["colocation_groups"], plane.service.config()) == (before[0]["colocation_groups"], before[1])


def test_a_change_at_another_version_than_the_caller_saw_is_refused(plane: Plane) -> None:
    plane.create("db.a")
    seen = plane.service.version()
    plane.service.set_group_stable("db.g", False, "", Request(if_version=seen))
    with pytest.raises(ColocateError, match=f"what was seen at version {seen}: the groups are at {seen + 1}") as late:
        plane.service.set_group_stable("db.g", True, "", Request(if_version=seen))
    assert late.value.code is Code.VERSION_CHANGED
    plane.service.set_config("disable_colocate_balance", "true", Request(if_version=seen + 1))
    with pytest.raises(ColocateError):
        plane.service.set_config("disable_colocate_balance", "false", Request(if_version=seen + 1))


def test_the_audit_log_is_read_in_pieces(plane: Plane) -> None:
    plane.create("db.a")
    lines = plane.service.audit()
    pieces, before = [], None
    while piece := plane.service.audit(1, before):
        pieces += piece
        before = piece[-1].entry
    assert pieces == lines and len(lines) > 1
