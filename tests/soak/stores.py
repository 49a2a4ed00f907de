"""The registry's database: PostgreSQL or SQLite, and what can happen to it."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

import pgserver
import psycopg
from pgserver import pg_ctl


class Store(Protocol):
    """url: as the setting spark.colocate.store has it."""

    url: str

    def locked(self) -> AbstractContextManager[None]:
        """Another process holds its lock in the block."""

    def away(self, draw: random.Random) -> AbstractContextManager[str]:
        """It can't be reached in the block. Says how."""

    def stop(self) -> None:
        """The soak has ended."""


class Postgresql:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._server = pgserver.get_server(folder, cleanup_mode="delete")
        self.url: str = self._server.get_uri()

    @contextmanager
    def locked(self) -> Iterator[None]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            names = ", ".join(f'"{name}"' for (name,) in found)
            while True:
                try:
                    with connection.transaction():
                        connection.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE".encode())
                        yield
                        return
                except psycopg.errors.DeadlockDetected:
                    """Somebody had one of the tables and waited for another one."""

    @contextmanager
    def away(self, draw: random.Random) -> Iterator[str]:
        """The server ends as if its machine were cut, or in order."""
        how = draw.choice(("immediate", "fast"))
        server = self._server
        pg_ctl(["-w", "-m", how, "stop"], pgdata=server.pgdata, user=server.system_user)
        try:
            yield f"server stopped ({how})"
        finally:
            server.ensure_postgres_running()

    def stop(self) -> None:
        self._server.cleanup()


class Sqlite:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._file = folder / "store.sqlite"
        self.url = f"sqlite:///{self._file}"

    @contextmanager
    def locked(self) -> Iterator[None]:
        with closing(sqlite3.connect(self._file, timeout=60, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            yield

    @contextmanager
    def away(self, draw: random.Random) -> Iterator[str]:
        """The file, or its folder. Its lock is held while it moves: SQLite may not lose a file that it writes."""
        moved = draw.choice((self._file, self._file.parent))
        kept = moved.with_name(f"{moved.name}.away")
        with self.locked():
            moved.rename(kept)
        try:
            yield f"{moved.name} moved away"
        finally:
            if moved.is_dir():  # somebody may have begun another one
                shutil.rmtree(moved)
            self._file.with_name(f"{self._file.name}-journal").unlink(missing_ok=True)
            kept.replace(moved)

    def stop(self) -> None:
        """Its folder goes with the soak's."""


STORES = {"postgresql": Postgresql, "sqlite": Sqlite}
