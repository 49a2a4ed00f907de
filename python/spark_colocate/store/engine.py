"""Engines for SQLite and PostgreSQL, with the same behaviour and the same errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.pool import NullPool

from spark_colocate.errors import Code, StoreError
from spark_colocate.store import passwords
from spark_colocate.store.private_file import PrivateFile


def make_engine(text: str, timeout_seconds: float, password_file: str = "") -> Engine:
    """An engine for the URL; waits at most `timeout_seconds` for a lock or a connection.

    The engine's own URL has no password, so no error can show it.
    """
    url, in_url = passwords.split(_url(text))
    try:
        if url.get_backend_name() == "sqlite":
            return _sqlite(url, timeout_seconds)
        return _postgresql(url, timeout_seconds, passwords.of_store(password_file, in_url))
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreError(
            Code.STORE_URL_INVALID,
            f"Cannot use the store {shown(url)}: {error}, and the control plane's Python has to load the driver.",
            "Install it there (PostgreSQL: pip install 'spark-colocate[postgres]'), or change spark.colocate.store.",
        ) from error


def shown(url: URL) -> str:
    """The URL without its password, and without other secrets among its parameters."""
    secret = [key for key in url.query if "pass" in key.lower() and key != "passfile"]
    return passwords.split(url)[0].difference_update_query(secret).render_as_string()


def sqlite_file(url: URL) -> Path | None:
    """The file of a SQLite store; None for other stores."""
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _url(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise _not_a_store(text) from error
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise _not_a_store(shown(url))
    if "@" in (url.host or ""):  # part of a password with an @: errors would show it as the host
        raise _not_a_store(text)
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and not _is_file(url):
        raise _not_a_store(text)
    return url


def _is_file(url: URL) -> bool:
    """Not a database in memory, which each connection would have for itself, nor SQLite's own kind of URL."""
    return bool(url.database) and url.database != ":memory:" and "uri" not in url.query


def _not_a_store(text: str) -> StoreError:
    return StoreError(
        Code.STORE_URL_INVALID,
        f"Cannot use the store '{passwords.readable(text)}': spark.colocate.store must be the SQLAlchemy URL of a "
        "SQLite file or of a PostgreSQL database.",
        "Write sqlite:////dir/store.sqlite or postgresql://user@host/database.",
    )


def _sqlite(url: URL, timeout_seconds: float) -> Engine:
    # Rollback journal, not WAL: no side files stay behind, and it works wherever POSIX locks do.
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": timeout_seconds, "isolation_level": None})

    private = PrivateFile(Path(url.database or ""))

    @event.listens_for(engine, "do_connect")
    def _keep_private(*_: Any) -> None:
        private.keep()

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: Any) -> None:
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        # A writer takes its lock at once: two readers that both become writers would deadlock.
        kind = "IMMEDIATE" if connection.get_execution_options().get("colocate_write") else "DEFERRED"
        connection.exec_driver_sql(f"BEGIN {kind}")

    return engine


def _postgresql(url: URL, timeout_seconds: float, password: passwords.Secret) -> Engine:
    seconds = max(1, round(timeout_seconds))
    options = f"-c lock_timeout={seconds * 1000} -c statement_timeout={seconds * 4000}"
    engine = create_engine(
        url,
        pool_pre_ping=True,
        pool_size=2,
        pool_timeout=seconds,
        connect_args={"connect_timeout": max(2, seconds), "options": options},
    )

    @event.listens_for(engine, "do_connect")
    def _with_password(_dialect: Any, _record: Any, _arguments: Any, named: dict[str, Any]) -> None:
        found = password()
        if found:
            named["password"] = found

    return engine


_DENIED = ("Permission denied", "unable to open database file", "readonly database")
_ONE_USER = " A SQLite store is for one user of the machine; several users share one in PostgreSQL."


@contextmanager
def readable_failures(engine: Engine) -> Iterator[None]:
    """Turns what a driver raises into an error that names the store, the cause and the cure."""
    try:
        yield
    except OperationalError as error:
        raise _failure(engine.url, error) from error
    except NoConnection as error:
        raise _locked(engine.url, "all connections of this process are waiting") from error
    except DBAPIError as error:
        # The bare DatabaseError: SQLite's error for a file that is not a database.
        if error.connection_invalidated or type(error) is DatabaseError:
            raise unreachable(engine.url, str(error.orig)) from error
        raise


def _failure(url: URL, error: OperationalError) -> StoreError:
    cause = " ".join(str(error.orig).split())
    if "database is locked" in cause or "lock timeout" in cause or "statement timeout" in cause:
        return _locked(url, cause)
    return unreachable(url, cause)


def _locked(url: URL, cause: str) -> StoreError:
    return StoreError(
        Code.STORE_LOCKED,
        f"Cannot use the store {shown(url)}: another process holds its lock ({cause}).",
        "Try again; if it stays locked, end the process that has it open, or raise spark.colocate.store.timeout.",
    )


def unreachable(url: URL, cause: str) -> StoreError:
    """The error of a store that can't be opened, read or written at all."""
    return StoreError(
        Code.STORE_UNREACHABLE,
        f"Cannot reach the store {shown(url)}: {cause}.",
        "Make sure that it exists and that this user may write there, or name another one in spark.colocate.store."
        + (_ONE_USER if any(word in cause for word in _DENIED) else ""),
    )
