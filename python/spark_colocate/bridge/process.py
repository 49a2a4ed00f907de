"""The control plane's process, a child of the driver.

Its first line on stdin says where to attach. While the pipe is open, the driver lives; the end of the pipe ends
this process, whatever happened to the driver.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_colocate.bridge import owners, wire
from spark_colocate.bridge.endpoint import Endpoint
from spark_colocate.bridge.watcher import Watcher
from spark_colocate.catalogues import conf
from spark_colocate.engine.driver import DriverEngine
from spark_colocate.errors import StoreError
from spark_colocate.jobs.runner import JobRunner
from spark_colocate.jobs.scheduler import Scheduler
from spark_colocate.model import JobKind
from spark_colocate.service import HostWatch, Service
from spark_colocate.store import CatalogId, MissingStore, Store, open_store, passwords


@dataclass(frozen=True, slots=True)
class Start:
    """What the driver starts its control plane with.

    port, token: of the driver's Py4J server on loopback.
    pid: the driver's process.
    catalog: identity of the catalog whose groups are served; an ephemeral one ends with the driver.
    store: SQLAlchemy URL; empty where none is set and the warehouse is not on a local disk.
    password_file, token_file: files with the store's password and with the token of sessions that have none; empty
        without one.
    store_timeout: how long a locked or silent store is waited for, in seconds.
    host_grace: how long a host must be away before its buckets are assigned to others, in seconds.
    tickets: statements that were begun by an earlier process of this driver.
    intervals: how often jobs of a kind start by themselves, in seconds; 0 is never.
    """

    port: int
    token: str = field(repr=False)
    pid: int
    catalog: str
    ephemeral: bool
    store: str = field(repr=False)
    password_file: str
    token_file: str
    warehouse: str
    store_timeout: float
    host_grace: float
    tickets: tuple[str, ...]
    intervals: dict[JobKind, float]

    @staticmethod
    def parse(line: str) -> Start:
        """The driver's line, a JSON object. Raises KeyError where the jar is of another version."""
        given = json.loads(line)
        return Start(
            port=int(given["port"]),
            token=given["token"],
            pid=int(given["pid"]),
            catalog=given["catalog"],
            ephemeral=bool(given["ephemeral"]),
            store=given["store"],
            password_file=given["passwordFile"],
            token_file=given["tokenFile"],
            warehouse=given["warehouse"],
            store_timeout=float(given["storeTimeout"]),
            host_grace=float(given["hostGrace"]),
            tickets=tuple(given["tickets"]),
            intervals={JobKind(kind): float(seconds) for kind, seconds in given["intervals"].items() if seconds},
        )


def main() -> int:
    """Serves the driver until its end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a shell is the driver's to handle.
    gc.set_threshold(100_000)  # A snapshot of many tables is many objects, none of them garbage: look less often.
    start = Start.parse(sys.stdin.readline())
    service = _service(start)
    jvm = _attach(start, service)
    runner = JobRunner(service, DriverEngine(jvm))
    watcher = Watcher(service, jvm, runner, Scheduler(service, start.intervals))
    threading.Thread(target=watcher.run, name="watcher", daemon=True).start()
    threading.Thread(target=runner.run, name="jobs", daemon=True).start()
    while sys.stdin.read(4096):
        """The driver sends nothing more; only the end of the pipe counts."""
    runner.stop()
    watcher.stop()
    return 0


def _service(start: Start) -> Service:
    owner = owners.owner_of(start.pid)
    catalog = CatalogId(start.catalog, start.ephemeral, owner)
    return Service(
        store=_store(start),
        catalog=catalog,
        owner=owner,
        is_gone=owners.is_gone,
        running=set(start.tickets),
        host_watch=HostWatch(start.host_grace),
    )


def _store(start: Start) -> Store:
    if not start.store:
        return MissingStore(start.warehouse)
    return open_store(start.store, start.store_timeout, start.password_file)


def _attach(start: Start, service: Service) -> Any:
    """Opens both directions; gives the JVM the port, the rules in effect and the first snapshot. Returns its side."""
    _find_py4j()
    from py4j.java_gateway import CallbackServerParameters, GatewayParameters, JavaGateway

    endpoint = Endpoint(service, token=passwords.of_application(start.token_file))
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(port=start.port, auth_token=start.token, enable_memory_management=False),
        callback_server_parameters=CallbackServerParameters(
            port=0, daemonize=True, daemonize_connections=True, auth_token=start.token
        ),
        python_server_entry_point=endpoint,
    )
    endpoint.engine = DriverEngine(gateway.entry_point)
    rules = json.dumps(conf.load("rules.json")["rules"])
    port = gateway.get_callback_server().get_listening_port()
    gateway.entry_point.attached(port, rules, json.dumps(_first_snapshot(service)))
    return gateway.entry_point


def _first_snapshot(service: Service) -> wire.Json:
    """Queries go on without a store; the statement that needs it says what is wrong with it."""
    try:
        return wire.snapshot_json(service.snapshot())
    except StoreError as error:
        print(error, file=sys.stderr, flush=True)
        return None


def _find_py4j() -> None:
    """Where Spark is an installed distribution, Py4J lies in a zip below SPARK_HOME."""
    home = os.environ.get("SPARK_HOME")
    if home:
        sys.path.extend(str(zip_file) for zip_file in sorted(Path(home).glob("python/lib/py4j-*-src.zip")))
