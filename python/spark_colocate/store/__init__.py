"""The store: one transactional place for groups, members, flags and the audit log."""

from spark_colocate.store.missing import MissingStore
from spark_colocate.store.protocol import CatalogId, Store, Transaction
from spark_colocate.store.sql import SqlStore, open_store

__all__ = ["CatalogId", "MissingStore", "SqlStore", "Store", "Transaction", "open_store"]
