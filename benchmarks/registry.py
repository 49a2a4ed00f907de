"""./run bench registry: what statements and pushes cost with few members in the store, and with many."""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from rich.table import Table
from spark_colocate.bridge import wire
from spark_colocate.model import Format, Group, GroupName, GroupSchema, Intent, Kind, Member, TableName, Ticket
from spark_colocate.service import Service
from spark_colocate.store import CatalogId, Store, Transaction, open_store

from benchmarks import lab, report

BUCKETS = 64
WARM_UP = 60
AT_ONCE = 20
FEW, MANY = (10, 2), (10_000, 1_000)
LAYOUT = f"CLUSTERED BY (k) INTO {BUCKETS} BUCKETS TBLPROPERTIES ('colocate_with' = 'g0')"
STATEMENTS = {
    "CREATE": f"CREATE TABLE t (k INT) USING parquet {LAYOUT}",
    "move to another group": "ALTER TABLE t SET TBLPROPERTIES ('colocate_with' = 'g1')",
    "RENAME": "ALTER TABLE t RENAME TO renamed",
    "DROP": "DROP TABLE renamed",
}
ALLOWED_MORE_MS = 20.0
ALLOWED_PUSH_MS = 300.0


def run(asked: argparse.Namespace) -> int:
    with lab.session(asked.memory, asked.cores) as spark:
        spark.sql(STATEMENTS["CREATE"])  # makes the store
        spark.sql("DROP TABLE t")
        store, catalog = _store_of(spark)
        cases = [_case(spark, Service(store, catalog), *size, asked.rounds) for size in (FEW, MANY)]
        facts = lab.circumstances(spark)
        store.close()
    record = {"benchmark": "registry", "scale": 0, **facts, "rounds": asked.rounds, "cases": cases}
    _print(record)
    print(report.write_json(record, asked.out))
    return 0


def _store_of(spark: SparkSession) -> tuple[Store, CatalogId]:
    warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")  # type: ignore[union-attr]
    store = open_store(f"sqlite:///{warehouse}/_colocate/store.sqlite")
    (catalog,) = store.catalogs()
    return store, CatalogId(catalog.identity)


def _case(spark: SparkSession, service: Service, members: int, groups: int, rounds: int) -> dict[str, Any]:
    for first in range(0, groups, AT_ONCE):  # the driver's own control plane must not wait for long
        with service.store.write(service.catalog) as tx:
            _fill(tx, range(first, min(first + AT_ONCE, groups)), members // groups)
    _push(spark, service, None)
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(WARM_UP + rounds):
        for name, text in STATEMENTS.items():
            times[name].append(_milliseconds(partial(spark.sql, text)))
    pushes = {
        "everything": [_milliseconds(lambda: _push(spark, service, None)) for _ in range(rounds)],
        "one change": [_milliseconds(lambda: _push(spark, service, service.version() - 1)) for _ in range(rounds)],
    }
    return {
        "members": members,
        "groups": groups,
        "statements_ms": {name: median(found[WARM_UP:]) for name, found in times.items()},
        "first_push_ms": pushes["everything"][0],
        "pushes_ms": {name: median(found) for name, found in pushes.items()},
    }


def _fill(tx: Transaction, groups: range, tables: int) -> None:
    """Each group with so many tables, as if their statements had ended just now: so each has a ticket still."""
    now, schema = time.time(), GroupSchema(("int",), BUCKETS, 1)
    sequence = tuple((host.backend_id,) for host in tx.hosts()[:1]) * BUCKETS
    for number in groups:
        name = GroupName("default", f"g{number}")
        if tx.group(name) is None:
            tx.put_group(Group(tx.database_id("default"), tx.next_id(), name, schema, sequence, created_at=now))
        for index in range(len(tx.members_of(name)), tables):
            table = TableName("default", f"{name.name}_t{index}")
            keys, location = ("k",), f"file:/warehouse/{table.table}"
            tx.put_member(Member(tx.next_id(), table, name, Format.PARQUET, keys, tx.next_id(), location))
            intent = Intent(Kind.CREATE, table, name, schema, Format.PARQUET, keys, location)
            tx.put_ticket(Ticket(f"filled-{tx.next_id()}", intent, "filled", now, now, committed=True))


def _push(spark: SparkSession, service: Service, since: int | None) -> None:
    """What the control plane's process does, as far as it can be done from here: read, encode, send, apply."""
    text = json.dumps(wire.snapshot_json(service.snapshot(since)))
    state: Any = spark._jvm.org.apache.spark.sql.colocate.bridge  # type: ignore[union-attr]
    assert state.GroupState.update(state.GroupChanges.fromJson(text))


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _print(record: dict[str, Any]) -> None:
    few, many = record["cases"]
    table = Table(title=f"The registry with few members and with many; medians of {record['rounds']} rounds, in ms")
    for column in ("", f"{few['members']} members", f"{many['members']} members", "more", "allowed"):
        table.add_column(column, justify="left" if not column else "right")
    for name, small in few["statements_ms"].items():
        large = many["statements_ms"][name]
        table.add_row(name, f"{small:.1f}", f"{large:.1f}", f"{large - small:.1f}", f"{ALLOWED_MORE_MS:.0f} more")
    for name, small in few["pushes_ms"].items():
        table.add_row(f"push of {name}", f"{small:.1f}", f"{many['pushes_ms'][name]:.1f}", "", f"{ALLOWED_PUSH_MS:.0f}")
    report.console().print(table)
