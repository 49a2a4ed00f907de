"""Two drivers of one catalog, with one store: the second one makes every other change, and the first one asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.fuzz.tables import Row, Table
from tests.soak.metastore import metastore
from tests.soak.peer import Peer
from tests.soak.stores import Postgresql
from tests.spark.sessions import WRONG_PLANNERS


class SecondDriver:
    """In a process of its own."""

    def __init__(self, peer: Peer) -> None:
        self._peer, self._is_next = peer, False

    def is_next(self) -> bool:
        """Whether it makes the next change."""
        self._is_next = not self._is_next
        return self._is_next

    def sql(self, text: str) -> None:
        """Raises PeerFailed."""
        self._peer.sql(text)

    @property
    def conf(self) -> SecondDriver:
        """As a session has it."""
        return self

    def set(self, key: str, value: str) -> None:
        self.sql(f"SET {key} = {value}")

    def unset(self, key: str) -> None:
        self.sql(f"RESET {key}")

    def insert(self, table: Table, rows: tuple[Row, ...]) -> None:
        """As Spark's literals, of which those of a table of files are read after the first driver's."""
        kinds = [column.type for column in table.columns]
        texts = [", ".join(kind.in_spark(value) for kind, value in zip(kinds, row, strict=True)) for row in rows]
        self.sql(f"REFRESH TABLE {table.name}")
        names = ", ".join(table.names)
        self.sql(f"INSERT INTO {table.name} ({names}) VALUES {', '.join(f'({text})' for text in texts)}")


@contextmanager
def shared(folder: Path) -> Iterator[dict[str, str]]:
    """The settings of all drivers of one catalog, whose metastore and store run in the block."""
    store = Postgresql(folder / "store")
    try:
        with metastore(folder / "metastore") as uris:
            yield {
                **WRONG_PLANNERS,
                "spark.sql.catalogImplementation": "hive",
                "spark.hadoop.hive.metastore.uris": uris,
                "spark.colocate.store": store.url,
                "spark.sql.warehouse.dir": str(folder / "warehouse"),
            }
    finally:
        store.stop()


@contextmanager
def second(folder: Path, settings: Mapping[str, str]) -> Iterator[SecondDriver]:
    peer = Peer(folder / "second", {**settings, "spark.driver.memory": "1g", "spark.master": "local[1]"})
    try:
        yield SecondDriver(peer)
    finally:
        peer.stop()
