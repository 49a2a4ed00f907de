"""Clients of the application without a network, and a server on loopback."""

from collections.abc import Callable
from pathlib import Path

import pytest
from spark_colocate.faces.rest.app import make_app
from starlette.testclient import TestClient

from tests.faces.registries import Registry, make

HERE = "http://127.0.0.1"


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return make(tmp_path)


@pytest.fixture
def client(registry: Registry) -> TestClient:
    """Shows an ADMIN token."""
    return admin_client(registry)


def admin_client(registry: Registry) -> TestClient:
    """A client of a new application, with a token of its own."""
    headers = {"Authorization": f"Bearer {registry.client_token()}"}
    return TestClient(make_app(registry.service), HERE, headers=headers, raise_server_exceptions=False)


@pytest.fixture
def client_of(registry: Registry) -> Callable[..., TestClient]:
    """A client that shows a token, or none."""

    usual = make_app(registry.service)

    def make_client(secret: str | None = None, **app: object) -> TestClient:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        application = make_app(registry.service, **app) if app else usual  # type: ignore[arg-type]
        return TestClient(application, HERE, headers=headers, raise_server_exceptions=False)

    return make_client
