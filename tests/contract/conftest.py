"""One suite over every store: SQLite in a file, and PostgreSQL."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pgserver
import pytest
from spark_colocate.store import CatalogId, Store, open_store

from tests.contract.plane import Clock, Plane


@pytest.fixture(scope="session")
def postgresql_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL server of its own, over a Unix socket, from the wheel `pgserver`."""
    server = pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        made = open_store(f"sqlite:///{tmp_path}/warehouse/_colocate/store.sqlite")
    else:
        made = open_store(request.getfixturevalue("postgresql_url"))
    yield made
    made.close()


@pytest.fixture
def catalog() -> CatalogId:
    """One of its own for each test: rows of different catalogs do not meet."""
    return CatalogId(f"test-{uuid.uuid4().hex}")


@pytest.fixture
def plane(store: Store, catalog: CatalogId) -> Plane:
    return Plane(store, catalog=catalog)


@pytest.fixture
def another(store: Store, catalog: CatalogId, plane: Plane) -> Callable[..., Plane]:
    """Another driver on the same catalog and with the same clock."""

    def make(owner: str = "other driver", **more: object) -> Plane:
        return Plane(store, owner, catalog, plane.clock, **more)  # type: ignore[arg-type]

    return make


@pytest.fixture
def clock(plane: Plane) -> Clock:
    return plane.clock
