"""The thread of the control plane's process that looks at the store."""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from typing import Protocol

from spark_colocate.bridge import wire
from spark_colocate.errors import StoreError
from spark_colocate.jobs.runner import JobRunner
from spark_colocate.jobs.scheduler import Scheduler
from spark_colocate.service import Service

POLL_SECONDS = 1.0
_RENEW_EVERY = 10


class Listener(Protocol):
    """The JVM's side (ControlPlaneListener in Attachment.scala)."""

    def push(self, changes: str) -> bool:
        """Takes changes as JSON. False where they do not follow upon what the JVM has."""

    def hosts(self) -> str:
        """The hosts that buckets can be assigned to, for `wire.seen_hosts`."""


class Watcher:
    """Looks at the store once a second.

    It pushes what other drivers changed, keeps leases, starts jobs that are due, and removes what has ended.
    """

    def __init__(self, service: Service, jvm: Listener, runner: JobRunner, scheduler: Scheduler) -> None:
        self._service = service
        self._jvm = jvm
        self._runner = runner
        self._scheduler = scheduler
        self._stopped = threading.Event()
        self._pushed = 0
        self._rounds = 0
        self._complaint = ""
        self._rounds_between_sights = max(1, int(service.host_watch.beat_seconds / 2 / POLL_SECONDS))

    def run(self) -> None:
        """Looks until stopped. A fault ends the whole process: the next statement starts a sound one."""
        try:
            while not self._stopped.wait(POLL_SECONDS):
                self._look_or_complain()
        finally:
            if not self._stopped.is_set():
                traceback.print_exc()
                os._exit(1)

    def _look_or_complain(self) -> None:
        try:
            self.look()
            self._complaint = ""
        except StoreError as error:
            self._complain(str(error))

    def look(self) -> None:
        """One round."""
        if not self._service.store.exists():
            return
        if self._rounds == 0:
            self._service.forget_ended_catalogs()
        if self._rounds % _RENEW_EVERY == 0:
            self._service.renew()
            self._service.jobs.renew()
            self._scheduler.look()
        if self._rounds % self._rounds_between_sights == 0:
            self._service.see_hosts(wire.seen_hosts(self._jvm.hosts()))
        self._runner.stop_cancelled()
        self._rounds += 1
        if self._service.version() > self._pushed:
            self._push()

    def stop(self) -> None:
        """The driver has ended."""
        self._stopped.set()
        self._service.close()

    def _push(self) -> None:
        for since in (self._pushed or None, None):
            snapshot = self._service.snapshot(since)
            # The JVM refuses changes of a version that it does not have; then it gets everything.
            if snapshot is None or self._jvm.push(json.dumps(wire.snapshot_json(snapshot))):
                break
        if snapshot:
            self._pushed = snapshot.version

    def _complain(self, text: str) -> None:
        """Logs each cause once, not once a second."""
        if text != self._complaint:
            print(text, file=sys.stderr, flush=True)
            self._complaint = text
