"""A store that no setting names: reads find nothing, and a write fails with the setting to use."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from spark_colocate.errors import Code, StoreError
from spark_colocate.store.protocol import CatalogId, Transaction


class MissingStore:
    """Stands where the warehouse is not on a local disk and spark.colocate.store is empty."""

    def __init__(self, warehouse: str) -> None:
        self._warehouse = warehouse

    def exists(self) -> bool:
        return False

    def is_shared(self) -> bool:
        return False

    def exposed(self) -> str:
        return ""

    def version(self, catalog: CatalogId) -> int:
        return 0

    def read(self, catalog: CatalogId) -> AbstractContextManager[Transaction]:
        raise self._error()

    def write(self, catalog: CatalogId) -> AbstractContextManager[Transaction]:
        raise self._error()

    def catalogs(self) -> Sequence[CatalogId]:
        return ()

    def forget(self, catalog: CatalogId) -> None:
        """There is nothing to forget."""

    def close(self) -> None:
        """There is nothing to close."""

    def _error(self) -> StoreError:
        return StoreError(
            Code.STORE_NEEDED,
            f"Colocation groups need a store: the warehouse {self._warehouse} is not on a local disk, where SQLite "
            "could live, and spark.colocate.store is empty.",
            "Set spark.colocate.store to a database that all drivers reach, "
            "for example postgresql://user@host/database.",
        )
