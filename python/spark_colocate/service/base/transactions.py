"""The kinds of transactions on one catalog, which all verbs use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from spark_colocate.errors import Code, StoreError
from spark_colocate.service.base import access
from spark_colocate.service.base.requests import OperationContext, Request
from spark_colocate.store.protocol import CatalogId, Store, Transaction

T = TypeVar("T")


@dataclass
class Transactions:
    """Opens transactions on the groups of one catalog in a store (the registry's database).

    owner: the name of the driver that this process serves; it is written into tickets.
    clock: returns the time in seconds since the epoch.
    is_gone: whether the driver of this name has certainly ended.
    steady: returns seconds of a clock that never jumps.
    """

    store: Store
    catalog: CatalogId
    owner: str = ""
    clock: Callable[[], float] = time.time
    is_gone: Callable[[str], bool] = field(default=lambda _owner: False)
    steady: Callable[[], float] = time.monotonic

    def context(self, request: Request) -> OperationContext:
        return OperationContext(self.clock(), request, self.is_gone)

    def require_store(self, name: str = "of this catalog") -> None:
        """Raises StoreError where the store is not there; a listing would be empty, as if there were no groups."""
        if not self.store.exists():
            raise StoreError(
                Code.STORE_UNREACHABLE,
                f"Cannot reach the store {name}: it does not exist, or has no tables of spark-colocate.",
                "Name the one of the drivers (spark.colocate.store); it is made by the first table that joins a group.",
            )

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.store.read(self.catalog)

    def writing_unasked(self) -> AbstractContextManager[Transaction]:
        """A transaction of the system itself, on what the store has already. Raises StoreError if the store is gone."""
        self.require_store()
        return self.creating()

    def creating(self) -> AbstractContextManager[Transaction]:
        """The same; creates the store if need be."""
        return self.store.write(self.catalog)

    def listed(self, read: Callable[[Transaction], list[T]]) -> list[T]:
        """The transaction of a listing; None if there is no store."""
        if not self.store.exists():
            return []
        with self.reading() as tx:
            return read(tx)

    @contextmanager
    def writing(self, request: Request) -> Iterator[Transaction]:
        """Raises where the caller's token has ended, or the groups have changed since it looked."""
        with self.creating() as tx:
            access.check_again(tx, request, self.clock())
            yield tx
