"""Both ends of Py4J, and nothing else: the control plane's process, and the driver's way to its own JVM.

`python -m spark_colocate.bridge` is started by the JVM. Its first line on stdin tells where to attach; after that the
open pipe means that the driver lives, and its end ends this process, whatever happened to the driver.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spark_colocate import listing, owners, settings
from spark_colocate.errors import StoreError
from spark_colocate.service import Service
from spark_colocate.store import CatalogId, MissingStore, Store, open_store
from spark_colocate.wire import Endpoint

POLL_SECONDS = 1.0
_RENEW_EVERY = 10


def main() -> int:
    """Serves the driver until its end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a shell is the driver's to handle.
    hello = json.loads(sys.stdin.readline())
    service = _service(hello)
    jvm = _attach(hello, Endpoint(service))
    watcher = Watcher(service, jvm)
    threading.Thread(target=watcher.run, name="watcher", daemon=True).start()
    while sys.stdin.read(4096):
        """The driver sends nothing more; only the end of the pipe counts."""
    watcher.stop()
    return 0


def _service(hello: Mapping[str, Any]) -> Service:
    owner = owners.owner_of(int(hello["pid"]))
    catalog = CatalogId(hello["catalog"], bool(hello["ephemeral"]), owner)
    running = set(hello.get("tickets") or ())
    return Service(_store(hello), catalog, owner, is_gone=owners.is_gone, running=running)


def _store(hello: Mapping[str, Any]) -> Store:
    if not hello["store"]:
        return MissingStore(hello["warehouse"])
    return open_store(hello["store"], float(hello["storeTimeout"]))


class Watcher:
    """Looks at the store once a second: pushes what other drivers changed, keeps leases, clears what is stale."""

    def __init__(self, service: Service, jvm: Any) -> None:
        self._service = service
        self._jvm = jvm
        self._stopped = threading.Event()
        self._pushed = 0
        self._rounds = 0
        self._complaint = ""

    def run(self) -> None:
        """Looks until stopped. A fault ends the whole process: the next statement starts a sound one."""
        try:
            while not self._stopped.wait(POLL_SECONDS):
                self._look_again()
        finally:
            if not self._stopped.is_set():
                traceback.print_exc()
                os._exit(1)

    def _look_again(self) -> None:
        try:
            self.look()
            self._complaint = ""
        except StoreError as error:
            self._complain(str(error))

    def look(self) -> None:
        """One round."""
        service = self._service
        if not service.store.exists():
            return
        if self._rounds == 0:
            self._clear_stale()
        if self._rounds % _RENEW_EVERY == 0:
            service.renew()
        self._rounds += 1
        if service.store.version(service.catalog) > self._pushed:
            self._push()

    def stop(self) -> None:
        """The driver has ended, and an in-memory catalog has ended with it."""
        self._stopped.set()
        store, catalog = self._service.store, self._service.catalog
        if catalog.ephemeral and store.exists():
            store.forget(catalog)
        store.close()

    def _push(self) -> None:
        for since in (self._pushed or None, None):
            picture = listing.snapshot(self._service, since)
            # The JVM refuses changes of a version that it does not have; then it gets everything.
            if picture is None or self._jvm.push(json.dumps(picture)):
                break
        if picture:
            self._pushed = picture["version"]

    def _clear_stale(self) -> None:
        store = self._service.store
        for catalog in store.catalogs():
            if catalog.ephemeral and owners.is_gone(catalog.owner):
                store.forget(catalog)

    def _complain(self, text: str) -> None:
        if text != self._complaint:
            print(text, file=sys.stderr, flush=True)
            self._complaint = text


def _attach(hello: Mapping[str, Any], endpoint: Endpoint) -> Any:
    """Opens both directions and tells the JVM the port, the rules in effect and the first snapshot."""
    _find_py4j()
    from py4j.java_gateway import CallbackServerParameters, GatewayParameters, JavaGateway

    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(
            port=int(hello["port"]), auth_token=hello["token"], enable_memory_management=False
        ),
        callback_server_parameters=CallbackServerParameters(
            port=0, daemonize=True, daemonize_connections=True, auth_token=hello["token"]
        ),
        python_server_entry_point=endpoint,
    )
    rules = json.dumps(settings.load("rules.json")["rules"])
    port = gateway.get_callback_server().get_listening_port()
    gateway.entry_point.attached(port, rules, json.dumps(_first_snapshot(endpoint.service)))
    return gateway.entry_point


def _first_snapshot(service: Service) -> dict[str, Any] | None:
    """Queries go on without a store; the statement that needs it says what is wrong with it."""
    try:
        return listing.snapshot(service)
    except StoreError as error:
        print(error, file=sys.stderr, flush=True)
        return None


def _find_py4j() -> None:
    """Where Spark is an installed distribution, Py4J lies in a zip below SPARK_HOME."""
    home = os.environ.get("SPARK_HOME")
    if home:
        sys.path.extend(str(zip_file) for zip_file in sorted(Path(home).glob("python/lib/py4j-*-src.zip")))


def verdicts_json(frame: Any) -> str:
    """The planner's verdicts on a classic (not Connect) DataFrame, as JSON."""
    jvm = frame.sparkSession._jvm
    return str(jvm.org.apache.spark.sql.colocate.explain.Verdicts.json(frame._jdf.queryExecution()))


if __name__ == "__main__":
    sys.exit(main())
