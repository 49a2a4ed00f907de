"""All that the threads of the soak share."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row

from tests.soak.driver import Driver
from tests.soak.gates import Gate
from tests.soak.peer import Peer, PeerFailed
from tests.soak.report import Report
from tests.soak.stores import Store
from tests.soak.tables import TABLES, Model, Rows, Table
from tests.spark.cluster import Cluster
from tests.spark.oracle import multiset

T = TypeVar("T")


CALM_EACH = 3
"""In each third minute no fault begins: something must be seen of how it is without."""


def is_calm(seconds: float) -> bool:
    """Whether no fault may begin so long after the start."""
    return int(seconds // 60) % CALM_EACH == CALM_EACH - 1


class Away(Exception):
    """Something is not listed, as it is where the store's file is not there."""


FAILURES = (PySparkException, Py4JError, Away, PeerFailed)

PATIENCE = 150.0
"""A statement that fails because something is broken must succeed within so many seconds."""


@dataclass
class World:
    """driver_gate: shared by whoever uses the driver; alone for whoever replaces it.

    steady: held by whoever replaces the driver, and by whoever needs the same driver for long; the gate would keep all
    others out meanwhile.
    """

    seed: int
    cluster: Cluster
    store: Store
    driver: Driver
    peer: Peer
    report: Report
    ends: float
    begins: float = 0.0
    model: Model = field(default_factory=Model)
    driver_gate: Gate = field(default_factory=Gate)
    gates: dict[str, Gate] = field(default_factory=lambda: {table.name: Gate() for table in TABLES})
    steady: threading.Lock = field(default_factory=threading.Lock)
    stopped: threading.Event = field(default_factory=threading.Event)

    def draw(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def await_faults(self) -> None:
        """Until a minute in which faults may begin."""
        while self.goes_on() and is_calm(time.monotonic() - self.begins):
            time.sleep(0.5)

    def goes_on(self) -> bool:
        return not self.stopped.is_set() and time.monotonic() < self.ends

    @contextmanager
    def using(self, reads: Sequence[Table] = (), alone: Sequence[Table] = ()) -> Iterator[None]:
        """Nobody changes these tables within the block. alone: nobody else reads these either."""
        with ExitStack() as held:
            held.enter_context(self.driver_gate.shared())
            for name in sorted({table.name for table in (*reads, *alone)}):
                gate = self.gates[name]
                held.enter_context(gate.alone() if name in {table.name for table in alone} else gate.shared())
            yield

    def sql(self, text: str) -> list[Row]:
        with self.driver_gate.shared():
            return self.driver.session().sql(text).collect()

    def rows(self, text: str) -> Rows:
        return multiset(self.sql(text))

    def stored(self, table: Table) -> Rows:
        """The rows of a table, read as stock Spark does."""

        def read() -> Rows:
            self.sql(f"REFRESH TABLE {table.name}")
            with self.switched_off():
                return self.rows(f"SELECT k, v FROM {table.name}")

        return self.persist(read, f"reading {table.name}")

    @contextmanager
    def switched_off(self) -> Iterator[None]:
        with self.driver_gate.shared():
            session = self.driver.session()
            session.conf.set("disable_colocate_join", "true")
            try:
                yield
            finally:
                session.conf.set("disable_colocate_join", "false")

    def persist(self, do: Callable[[], T], what: str, patience: float = PATIENCE) -> T:
        """Does it again while it fails, for a while."""
        end = time.monotonic() + patience
        while True:
            try:
                return do()
            except FAILURES as error:
                self.report.failed(error, what)
                if time.monotonic() > end:
                    raise
                time.sleep(0.5)

    def until(self, holds: Callable[[], Any], what: str, patience: float = PATIENCE) -> float:
        """Waits until it holds; what fails counts as not yet. The seconds that it took; reports a state that sticks."""
        begun = time.monotonic()
        while time.monotonic() - begun < patience:
            try:
                if holds():
                    break
            except FAILURES as error:
                self.report.failed(error, what)
            time.sleep(0.3)
        else:
            self.report.fail(f"not within {patience:.0f} s: {what}")
        return time.monotonic() - begun
