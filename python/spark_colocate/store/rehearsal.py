"""A store whose writes are rolled back, so that a dry run executes the change itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from spark_colocate.store.protocol import CatalogId, Store, Transaction


class _Undo(Exception):
    """Ends the transaction of a rehearsal."""


class RehearsalStore:
    """Another store, in which every write is rolled back at its end."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def exists(self) -> bool:
        return self._store.exists()

    def is_shared(self) -> bool:
        return self._store.is_shared()

    def exposed(self) -> str:
        return self._store.exposed()

    def version(self, catalog: CatalogId) -> int:
        return self._store.version(catalog)

    def read(self, catalog: CatalogId) -> AbstractContextManager[Transaction]:
        return self._store.read(catalog)

    @contextmanager
    def write(self, catalog: CatalogId) -> Iterator[Transaction]:
        try:
            with self._store.write(catalog) as transaction:
                yield transaction
                raise _Undo
        except _Undo:
            pass

    def catalogs(self) -> Sequence[CatalogId]:
        return self._store.catalogs()

    def forget(self, catalog: CatalogId) -> None:
        """Does nothing: a rehearsal keeps what it knows."""

    def close(self) -> None:
        self._store.close()
