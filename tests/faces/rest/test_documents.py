"""The HTTP calls of the documents, in documents/: each has its status, and the fields of the answer shown there."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from spark_colocate.faces.rest.types import column_type, doris_type
from starlette.testclient import TestClient

from tests.contract.plane import keys
from tests.faces.registries import Registry

FILE = Path(__file__).with_name("documents") / "calls_000_002.http"


@dataclass(frozen=True)
class Call:
    title: str
    method: str
    path: str
    body: str
    status: int
    answer: str


def _calls() -> list[Call]:
    found = []
    for part in FILE.read_text().split("### ")[1:]:
        title, line, rest = part.split("\n", 2)
        body, status, answer = re.fullmatch(r"\s*(.*?)\s*^(\d{3})$\s*(.*)", rest, re.DOTALL | re.MULTILINE).groups()  # type: ignore[union-attr]
        method, path = line.split(" ", 1)
        found.append(Call(title, method, path, body, int(status), answer))
    return found


CALLS = _calls()


def _with_ids(text: str, ids: dict[int, int]) -> str:
    return re.sub(r"\b1\d{4}\b", lambda found: str(ids.get(int(found[0]), int(found[0]))), text)


@pytest.fixture
def ids(registry: Registry) -> dict[int, int]:
    """The documents' ids, and those of the registry that stand for them. Only group db.g1 is left."""
    registry.plane.call("purge_group", group="db.old")
    group = registry.service.group("db.g1")
    hosts = [host.backend_id for host in registry.service.hosts()]
    return {
        10005: group.group.db_id,
        10008: group.group.group_id,
        **dict(zip((10007, 10040), group.table_ids, strict=True)),
        **dict(zip((10002, 10003, 10004), hosts, strict=True)),
    }


def _differences(shown: Any, given: Any, at: str = "") -> list[str]:
    """What the document shows and the answer has not, or otherwise."""
    if isinstance(shown, dict):
        missing = [f"{at}.{key} is missing" for key in shown if key not in given]
        return missing + [
            d for key in shown if key in given for d in _differences(shown[key], given[key], f"{at}.{key}")
        ]
    return [] if shown == given else [f"{at}: {shown} != {given}"]


def test_each_call_of_the_documents_has_its_status_and_the_fields_shown(
    client: TestClient, ids: dict[int, int]
) -> None:
    assert len(CALLS) == 8
    for call in CALLS:
        if call.title == "Doris: all groups":
            continue
        # As `curl -d` sends it.
        form = {"Content-Type": "application/x-www-form-urlencoded"} if call.body else {}
        path, body = _with_ids(call.path, ids), _with_ids(call.body, ids)
        answer = client.request(call.method, path, content=body, headers=form)
        assert answer.status_code == call.status, (call.title, answer.text)
        if call.answer:
            shown, given = json.loads(_with_ids(call.answer, ids)), answer.json()
            # The document's map of tables is empty though the group has two; ours has them.
            assert given["colocate_meta"].pop("group2Tables") == {
                f"{ids[10005]}.{ids[10008]}": [ids[10007], ids[10040]]
            }
            del shown["colocate_meta"]["group2Tables"]
            assert _differences(shown, given) == []


def test_the_answer_of_doris_document_has_its_fields(client: TestClient, registry: Registry) -> None:
    for table in ("db.orders", "db.lines"):
        registry.plane.drop(table, purge=True)
    registry.plane.call("purge_group", group="db.old")
    for table in ("db.a", "db.b"):
        registry.plane.create(table, "group1", keys=keys("k int"), buckets=1)
    listed = registry.service.group("db.group1")
    tables = dict(zip((10037, 10043), listed.table_ids, strict=True))
    ids = {10003: listed.group.db_id, 12002: listed.group.group_id, **tables}
    (call,) = [call for call in CALLS if call.title == "Doris: all groups"]
    shown = json.loads(_with_ids(call.answer.replace("10003_", f"{ids[10003]}_"), ids))
    assert _differences(shown, client.get("/api/colocate").json()) == []


def test_delete_marks_as_unstable_and_post_as_stable(client: TestClient, ids: dict[int, int]) -> None:
    path = f"/api/colocate/group_stable?db_id={ids[10005]}&group_id={ids[10008]}"
    both = {"dbId": ids[10005], "grpId": ids[10008]}
    for method, unstable in (("DELETE", [both]), ("POST", []), ("DELETE", [both]), ("DELETE", [both])):
        assert client.request(method, path).json()["msg"] == "success"
        given = client.get("/api/colocate").json()
        assert given["data"]["unstableGroupIds"] == given["colocate_meta"]["unstableGroups"] == unstable
        assert given["data"]["infos"][0][6] == str(not unstable).lower()


def test_a_sequence_is_taken_with_a_warning_while_the_system_may_change_it(
    client: TestClient, registry: Registry, ids: dict[int, int]
) -> None:
    path = f"/api/colocate/bucketseq?db_id={ids[10005]}&group_id={ids[10008]}"
    wanted = [[ids[10002], ids[10003]]] * 10
    assert "are false" in client.post(path, json=wanted).json()["data"]["warnings"][0]
    for key in ("balance", "relocate"):
        registry.plane.call("set_config", key=f"disable_colocate_{key}", value="true")
    assert client.post(path, json=wanted).json()["data"] == {"warnings": []}


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ("[[1,2]]", 409, "it has 1 buckets, and the group has 10"),
        ("[[1,1]]", 409, "it has 1 buckets"),
        ("[[-1]]", 422, "greater than or equal to 0"),
        ('[["10002"]]', 422, "valid integer"),
        ("[[true]]", 422, "valid integer"),
        ("[[1.5]]", 422, "valid integer"),
        ("[1]", 422, "valid list"),
        ("{}", 422, "valid list"),
        ("null", 422, "body"),
        ("", 422, "Field required"),
        ("[[1", 422, "JSON decode error"),
        ("[" * 100_000, 422, "body"),
        ("9" * 10_000, 422, "body"),
        ('"\\ud800"', 422, "valid list"),
        ("\xff\xfe", 422, "body"),
    ],
)
def test_another_body_is_refused_and_nothing_changes(
    client: TestClient, ids: dict[int, int], body: str, status: int, text: str
) -> None:
    before = client.get("/api/colocate").text
    path = f"/api/colocate/bucketseq?db_id={ids[10005]}&group_id={ids[10008]}"
    answer = client.post(path, content=body.encode("latin-1"), headers={"Content-Type": "application/json"})
    assert answer.status_code == status and text in answer.json()["message"], answer.text
    assert set(answer.json()) == {"code", "message", "cure"} and answer.json()["cure"]
    assert client.get("/api/colocate").text == before


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 422),
        ("db_id=1", 422),
        ("db_id=x&group_id=1", 422),
        ("db_id=1&group_id=-1", 422),
        ("db_id=1&group_id=" + "9" * 40, 422),
        ("db_id=1&group_id=2", 404),
        ("db_id=1%20OR%201=1&group_id=1", 422),
    ],
)
def test_another_group_is_refused(client: TestClient, query: str, status: int) -> None:
    for method, path in (("POST", "group_stable"), ("DELETE", "group_stable"), ("POST", "bucketseq")):
        answer = client.request(method, f"/api/colocate/{path}?{query}", json=[] if path == "bucketseq" else None)
        assert answer.status_code == status and set(answer.json()) == {"code", "message", "cure"}


def test_groups_of_one_name_in_two_databases_are_told_apart(client: TestClient, registry: Registry) -> None:
    registry.plane.create("db2.t", "g1", keys=keys("k bigint"))
    registry.plane.create("db2.u", "__global__g2")
    names = client.get("/api/colocate").json()["colocate_meta"]["groupName2Id"]
    assert set(names) == {group.group.proc_name for group in registry.service.groups()} - {
        f"{registry.service.group('db.old').group.db_id}_old"
    } | {"old"}


def test_types_are_shown_as_the_two_systems_show_them() -> None:
    types = ["tinyint", "bigint", "string", "decimal(10,2)", "timestamp", "date", "boolean"]
    assert [doris_type(one) for one in types] == [
        "tinyint(4)", "bigint(20)", "string", "decimal(10,2)", "datetime", "date", "boolean",
    ]  # fmt: skip
    assert [column_type(one)["type"] for one in types] == [
        "TINYINT", "BIGINT", "VARCHAR", "DECIMAL", "DATETIME", "DATE", "BOOLEAN",
    ]  # fmt: skip
    assert (column_type("decimal(10,2)")["precision"], column_type("decimal(10,2)")["scale"]) == (10, 2)
