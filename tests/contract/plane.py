"""The control plane as the JVM sees it, without a JVM: verbs in, answers or errors out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spark_colocate.bridge.endpoint import Endpoint
from spark_colocate.service import Service
from spark_colocate.store import CatalogId, Store

CATALOG = CatalogId("test")
HOUR = 3600.0


class Refused(Exception):
    """The control plane's error, as it crosses the border."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Plane:
    """One driver's view of a store. `gone` are the owners of tickets whose driver has ended."""

    store: Store
    owner: str = "driver"
    catalog: CatalogId = CATALOG
    clock: Clock = field(default_factory=Clock)
    gone: set[str] = field(default_factory=set)
    settings: Mapping[str, str] = field(default_factory=dict)
    hosts: Sequence[str] = ("host-a",)

    def __post_init__(self) -> None:
        self.service = Service(self.store, self.catalog, self.owner, self.clock, self.gone.__contains__)
        self.endpoint = Endpoint(self.service)
        self.snapshot: dict[str, Any] | None = None
        self.version: int | None = None

    def call(self, verb: str, **args: Any) -> Any:
        context = {"who": "tester", "hosts": list(self.hosts), "settings": dict(self.settings), "version": self.version}
        reply = json.loads(self.endpoint.call(verb, json.dumps({**args, "context": context})))
        if "error" in reply:
            raise Refused(reply["error"]["code"], reply["error"]["message"])
        self.snapshot = reply["snapshot"]
        return reply["ok"]

    def begin(self, table: str, group: str = "g", verb: str = "begin_create", **declared: Any) -> Any:
        """Begins a statement on a Delta table `db.t` with key `k int` in 4 buckets, or as `declared` says."""
        db, name = table.split(".")
        given = {"format": "delta", "keys": keys("k int"), "buckets": 4, "replication": None, **declared}
        return self.call(verb, db=db, table=name, group=group, **given)

    def finish(self, begun: Mapping[str, Any], outcome: str = "commit", location: str | None = None) -> Any:
        return self.call("finish", ticket=begun["ticket"], outcome=outcome, location=location)

    def create(self, table: str, group: str = "g", **declared: Any) -> None:
        self.finish(self.begin(table, group, **declared), location=f"file:/w/{table}")

    def alter(self, table: str, group: str, **declared: Any) -> None:
        self.finish(self.begin(table, group, "begin_alter", **declared))

    def drop(self, table: str, **more: Any) -> None:
        db, name = table.split(".")
        self.finish(self.call("begin_drop", db=db, table=name, **more))

    def rename(self, table: str, new: str) -> None:
        (db, name), (new_db, new_name) = table.split("."), new.split(".")
        self.finish(self.call("begin_rename", db=db, table=name, new_db=new_db, new_table=new_name))

    def members(self) -> dict[str, str]:
        return {f"{row['db']}.{row['table']}": row["group"] for row in self.call("table_rows")}

    def groups(self) -> list[str]:
        return [row["group_name"] for row in self.call("rows", table="colocation_groups")]

    def group(self, name: str) -> dict[str, Any]:
        rows = self.call("rows", table="colocation_groups")
        return next(row for row in rows if row["group_name"] == name)

    def dump(self) -> dict[str, Any]:
        """Everything that a user can see of the store."""
        tables = ("colocation_groups", "colocation_hosts", "colocation_audit")
        return {**{t: self.call("rows", table=t) for t in tables}, "tables": self.call("table_rows")}


def keys(text: str) -> list[dict[str, str]]:
    """`k int, v string` as the keys of a statement."""
    pairs = [entry.strip().split(" ", 1) for entry in text.split(";" if ";" in text else ",") if entry.strip()]
    return [{"name": name, "type": kind} for name, kind in pairs]
