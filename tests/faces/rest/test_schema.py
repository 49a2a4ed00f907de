"""schemathesis over the OpenAPI description: random calls, valid and not, with all its checks."""

import subprocess
import sys
from pathlib import Path

import pytest
from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.rest.server import Serving
from spark_colocate.model import AccessRole, Token
from spark_colocate.service import Request, Service

from tests.faces.registries import Registry
from tests.faces.rest.test_server import running

DESCRIPTION = Path(__file__).parents[3] / "docs" / "reference" / "openapi.json"
SECONDS = 20
NAME = "schemathesis"

# Beside the statuses that a check knows: 412, for another version than the one in If-Match.
CONFIG = """
[parameters]
"query.db_id" = {db_id}
"query.group_id" = {group_id}

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "401", "403", "404", "409", "412"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "412", "413", "422"]
"""


def test_random_calls_find_nothing(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    revoke = Service.revoke_token

    def but_not_its_own(service: Service, name: str, request: Request) -> Token:
        if name == NAME:  # else it would end its own access, and find nothing any more
            raise RequestError(Code.TOKEN_UNKNOWN, "There is no such token.", "Name another one.")
        return revoke(service, name, request)

    monkeypatch.setattr(Service, "revoke_token", but_not_its_own)
    secret = registry.service.create_token(NAME, AccessRole.ADMIN, Request()).secret
    group = registry.service.group("db.g1").group
    config = CONFIG.format(db_id=group.db_id, group_id=group.group_id)
    (tmp_path / "schemathesis.toml").write_text(config)
    with running(registry, Serving(port=0, calls_per_minute=10**6)) as port:
        command = [sys.executable, "-m", "schemathesis.cli", "run", str(DESCRIPTION), "--checks", "all"]
        bounds = ["--max-time", str(SECONDS), "--seed", "1", "--no-shrink"]
        url = ["--url", f"http://127.0.0.1:{port}", "--auth", f"any:{secret}"]
        ran = subprocess.run([*command, *bounds, *url], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout[-20000:] + ran.stderr[-2000:]
