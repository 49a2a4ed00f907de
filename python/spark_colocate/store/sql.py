"""The store over SQLAlchemy: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, inspect, select
from sqlalchemy.dialects import sqlite

from spark_colocate.errors import Code, StoreError
from spark_colocate.store import schema
from spark_colocate.store.engine import make_engine, readable_failures, shown, sqlite_file, unreachable
from spark_colocate.store.private_file import PrivateFile
from spark_colocate.store.protocol import FIRST_ID, CatalogId
from spark_colocate.store.transaction import SqlTransaction


def open_store(url: str, timeout_seconds: float = 5.0, password_file: str = "") -> SqlStore:
    """A store for the URL. Nothing is created before the first write.

    password_file: holds the password of a PostgreSQL store; see `passwords`.
    """
    return SqlStore(make_engine(url, timeout_seconds, password_file))


class SqlStore:
    """Thread-safe: every transaction has a connection of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._file = sqlite_file(engine.url)
        self._ready = False
        self._setup = threading.Lock()

    def exists(self) -> bool:
        """True also if an earlier version wrote it: the first transaction migrates it."""
        return self._held() is not None

    def is_shared(self) -> bool:
        return self._file is None

    def exposed(self) -> str:
        return PrivateFile(self._file).exposed() if self._file else ""

    def _held(self) -> str | None:
        """The revision of the store's tables; None where there are none."""
        if self._file is not None and not _is_there(self._engine, self._file):
            self._refuse_if_moved(self._file)
            self._ready = False
            return None
        if self._ready:
            return schema.HEAD
        with readable_failures(self._engine), self._engine.connect() as connection:
            held = _revision(connection)
        self._ready = held == schema.HEAD
        return held

    def _refuse_if_moved(self, file: Path) -> None:
        """A file that was here must not look like an empty store, and a write must not begin a second one in its place.

        If its folder is gone, too, it was removed on purpose, with the warehouse: then it is created again.
        """
        if self._ready and _is_there(self._engine, file.absolute().parent):
            raise StoreError(
                Code.STORE_UNREACHABLE,
                f"Cannot reach the store {shown(self._engine.url)}: its file was there, and has been moved or removed.",
                "Put it back. To begin with an empty store, remove its folder, too, or start the application anew.",
            )

    def version(self, catalog: CatalogId) -> int:
        with self.read(catalog) as transaction:
            return transaction.version()

    @contextmanager
    def read(self, catalog: CatalogId) -> Iterator[SqlTransaction]:
        self._prepare(for_write=False)
        with readable_failures(self._engine), self._engine.connect() as connection, connection.begin():
            yield SqlTransaction(connection, _catalog_id(connection, catalog))

    @contextmanager
    def write(self, catalog: CatalogId) -> Iterator[SqlTransaction]:
        self._prepare(for_write=True)
        with readable_failures(self._engine), self._writer() as connection:
            transaction = SqlTransaction(connection, _claimed(connection, catalog))
            yield transaction
            transaction.end()

    def catalogs(self) -> Sequence[CatalogId]:
        table = schema.catalogs
        with readable_failures(self._engine), self._engine.connect() as connection:
            return [CatalogId(r.identity, r.ephemeral, r.owner) for r in connection.execute(select(table))]

    def forget(self, catalog: CatalogId) -> None:
        with readable_failures(self._engine), self._writer() as connection:
            connection.execute(delete(schema.catalogs).where(schema.catalogs.c.identity == catalog.identity))

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _writer(self) -> Iterator[Connection]:
        with self._engine.connect().execution_options(colocate_write=True) as connection, connection.begin():
            yield connection

    def _prepare(self, for_write: bool) -> None:
        if self._held() == schema.HEAD:
            return
        with self._setup:
            if for_write and self._file is not None:
                _make_folder(self._engine, self._file)
            with readable_failures(self._engine):
                self._migrate()

    def _migrate(self) -> None:
        # Alembic takes its time to load: only a store that lacks a migration pays for it.
        from spark_colocate.store import migrate

        with self._writer() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(func.hashtext("spark-colocate"))))
            held = _revision(connection)
            if held is not None and not migrate.knows(held):
                raise StoreError(
                    Code.STORE_TOO_NEW,
                    f"Cannot use the store {shown(self._engine.url)}: its schema is {held}, "
                    f"and this version of spark-colocate knows {schema.HEAD} as the newest.",
                    "Install the version of spark-colocate that wrote it, or a newer one.",
                )
            if held != schema.HEAD:
                migrate.upgrade(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("colocate_version"):
        return None
    return connection.exec_driver_sql("SELECT version_num FROM colocate_version").scalar()


def _catalog_id(connection: Connection, catalog: CatalogId) -> int | None:
    query = select(schema.catalogs.c.catalog_id).where(schema.catalogs.c.identity == catalog.identity)
    return connection.execute(query).scalar()


def _claimed(connection: Connection, catalog: CatalogId) -> int:
    """The catalog's row, made if absent, and locked: writers of one catalog come one after another."""
    now = time.time_ns() // 1_000_000
    connection.execute(
        _insert(connection)(schema.catalogs)
        .values(
            identity=catalog.identity,
            ephemeral=catalog.ephemeral,
            owner=catalog.owner,
            # Starts at the clock, so that a store that was removed and made anew is newer than the old one.
            version=now,
            changes_since=now,
            next_id=FIRST_ID,
        )
        .on_conflict_do_nothing(index_elements=["identity"])
    )
    query = select(schema.catalogs.c.catalog_id).where(schema.catalogs.c.identity == catalog.identity)
    return int(connection.execute(query.with_for_update()).scalar_one())


def _insert(connection: Connection) -> Callable[..., Any]:
    """INSERT with ON CONFLICT, which each dialect has for itself."""
    if connection.dialect.name != "postgresql":
        return sqlite.insert
    from sqlalchemy.dialects import postgresql  # takes its time to load

    return postgresql.insert


def _is_there(engine: Engine, file: Path) -> bool:
    try:
        return file.exists()
    except OSError as error:
        raise unreachable(engine.url, str(error)) from error


def _make_folder(engine: Engine, file: Path) -> None:
    try:
        PrivateFile(file).make_folder()
    except OSError as error:
        raise unreachable(engine.url, str(error)) from error
