"""Clients of the application without a network, and a server on loopback."""

from collections.abc import Callable

import pytest
from spark_colocate.faces.rest.app import make_app
from starlette.testclient import TestClient

from tests.faces.registries import Registry, make

HERE = "http://127.0.0.1"


@pytest.fixture
def registry() -> Registry:
    return make()


@pytest.fixture
def client(registry: Registry) -> TestClient:
    """Needs no token while the registry has none."""
    return TestClient(make_app(registry.service), HERE, raise_server_exceptions=False)


@pytest.fixture
def client_of(registry: Registry) -> Callable[..., TestClient]:
    """A client that shows a token, or none."""

    usual = make_app(registry.service)

    def make_client(secret: str | None = None, **app: object) -> TestClient:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        application = make_app(registry.service, **app) if app else usual  # type: ignore[arg-type]
        return TestClient(application, HERE, headers=headers, raise_server_exceptions=False)

    return make_client
