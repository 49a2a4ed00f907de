"""/metrics, /healthz and /readyz: what they say, to whom, and that alerts and the dashboard ask for what there is."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from spark_colocate.model import AccessRole
from spark_colocate.service import Request
from starlette.testclient import TestClient

from tests.faces.registries import Registry

MONITORING = Path(__file__).parents[3] / "conf/monitoring"
ClientOf = Callable[..., TestClient]
Samples = dict[tuple[str, ...], float]


def samples(client: TestClient) -> Samples:
    """By name and values of labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


def test_groups_tables_hosts_and_jobs_are_counted(client: TestClient, registry: Registry) -> None:
    before = samples(client)
    assert (before["colocate_groups", "stable"], before["colocate_groups", "recycled"]) == (1, 1)
    assert (before["colocate_tables",], before["colocate_tables_never_verified",]) == (2, 2)
    assert (before["colocate_hosts", "alive"], before["colocate_hosts", "lost"]) == (3, 0)
    assert before["colocate_jobs", "verify", "pending"] == before["colocate_job_step_oldest_seconds", "pending"] == 0
    registry.service.set_group_stable("db.g1", False, "", Request())
    client.post("/api/v1/jobs/verify", json={"target": "db.g1"})
    registry.plane.clock.now += 100
    after = samples(client)
    assert (after["colocate_groups", "stable"], after["colocate_groups", "layout_unstable"]) == (0, 1)
    assert after["colocate_jobs", "verify", "pending"] == 1
    assert after["colocate_job_step_oldest_seconds", "pending"] == 100


def test_a_verify_is_counted_with_its_age(client: TestClient, registry: Registry) -> None:
    member = registry.service.members()[0].member
    registry.service.note_verified(member.name, "rows", registry.service.clock())
    registry.plane.clock.now += 50
    found = samples(client)
    assert (found["colocate_tables_never_verified",], found["colocate_verify_oldest_seconds",]) == (1, 50)


def test_answers_are_counted_by_route_so_that_callers_make_no_series(client: TestClient, registry: Registry) -> None:
    for path in (f"/api/v1/groups/{registry.group_id}", "/api/v1/groups/7.8", "/nowhere", "/nowhere/else"):
        client.get(path)
    client.request("SEARCH", "/nowhere")
    client.get("/api/v1/groups", headers={"Host": "example.org"})
    found = samples(client)
    name, route = "colocate_http_requests_total", "/api/v1/groups/{group_id}"
    assert (found[name, "GET", route, "200"], found[name, "GET", route, "404"]) == (1, 1)
    assert (found[name, "GET", "other", "404"], found[name, "other", "other", "404"]) == (2, 1)
    assert found[name, "GET", "other", "403"] == 1


def test_metrics_need_a_token_and_health_does_not(client_of: ClientOf, registry: Registry) -> None:
    nobody = client_of()
    assert [nobody.get(path).status_code for path in ("/metrics", "/healthz", "/readyz")] == [401, 200, 200]
    assert client_of("wrong").get("/metrics").status_code == 401
    reader = client_of(registry.token(AccessRole.READER)).get("/metrics")
    assert reader.status_code == 200 and reader.headers["content-type"].startswith("text/plain")


def test_a_server_whose_store_is_gone_lives_and_is_not_ready(client_of: ClientOf, registry: Registry) -> None:
    shutil.rmtree(Path(registry.url.removeprefix("sqlite:///")).parent)
    client = client_of()
    assert (client.get("/healthz").status_code, client.get("/readyz").status_code) == (200, 503)
    assert client.get("/readyz").text == "the store can't be read\n"


def test_health_says_nothing_of_the_groups(client_of: ClientOf, registry: Registry) -> None:
    assert {client_of().get(path).text for path in ("/healthz", "/readyz")} == {"ok\n"}


@pytest.mark.parametrize("file", ["alerts.yml", "dashboard.json", "docs"])
def test_alerts_dashboard_and_page_name_the_metrics_that_there_are(client: TestClient, file: str) -> None:
    page = MONITORING.parents[1] / "docs/how-to/monitoring.md"
    text = (page if file == "docs" else MONITORING / file).read_text()
    named = set(re.findall(r"\bcolocate_[a-z_]+", text))
    client.get("/healthz")
    known = {name for name, *_ in samples(client)}
    assert named <= known
    assert known <= named or file != "docs"


def test_each_panel_of_the_dashboard_has_a_query_of_the_chosen_source() -> None:
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    assert all(panel["datasource"]["uid"] == "${source}" and panel["targets"][0]["expr"] for panel in panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
