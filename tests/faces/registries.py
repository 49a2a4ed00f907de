"""A registry of groups in a SQLite file, for the faces that need no driver."""

from dataclasses import dataclass
from pathlib import Path

from spark_colocate.model import AccessRole
from spark_colocate.service import Request, Service
from spark_colocate.store import CatalogId, open_store

from tests.contract.plane import Clock, Plane, keys

CATALOG = CatalogId("warehouse")


@dataclass
class Registry:
    """Group db.g1 with two tables in 10 buckets on three hosts, two hosts for each; db.old is in its recycle period."""

    url: str
    plane: Plane

    @property
    def service(self) -> Service:
        return self.plane.service

    @property
    def group_id(self) -> str:
        return self.service.group("db.g1").group.id

    def client_token(self) -> str:
        """The secret of an ADMIN token, for calls whose caller does not matter."""
        return self.service.create_token("client", AccessRole.ADMIN, Request(who="test"), 30).secret

    def token(self, role: AccessRole, days: int = 30) -> str:
        """The secret of a new token with the role's name in small letters."""
        return self.service.create_token(str(role).lower(), role, Request(who="test"), days).secret


def make(folder: Path, timeout: float = 5.0) -> Registry:
    """In the SQLite file of a warehouse folder."""
    url = f"sqlite:///{folder}/_colocate/store.sqlite"
    plane = Plane(
        open_store(url, timeout),
        catalog=CATALOG,
        clock=Clock(),
        hosts=("host-a", "host-b", "host-c"),
    )
    for table in ("db.orders", "db.lines"):
        plane.create(table, "g1", keys=keys("k int"), buckets=10, replication=2)
    plane.create("db.gone", "old", keys=keys("k string; d decimal(10,2)"), buckets=2)
    plane.drop("db.gone")
    return Registry(url, plane)
