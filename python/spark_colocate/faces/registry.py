"""Opens the registry of groups where there is no driver: the store, and one of its catalogs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import make_url

from spark_colocate.bridge import owners
from spark_colocate.errors import Code, RequestError, StoreError
from spark_colocate.service import Service
from spark_colocate.store import CatalogId, Store, open_store
from spark_colocate.store.engine import shown

STORE_VARIABLE = "COLOCATE_STORE"
DEFAULT_FILES = ("_colocate/store.sqlite", "spark-warehouse/_colocate/store.sqlite")
"""Where a warehouse in the current folder has its store, or the folder that is one."""


def store_url(named: str | None) -> str:
    """The URL that was named (options read the environment), or the warehouse's file. Raises StoreError without any."""
    if named:
        return named
    for file in DEFAULT_FILES:
        if Path(file).is_file():
            return f"sqlite:///{Path(file).resolve()}"
    raise StoreError(
        Code.STORE_UNREACHABLE,
        f"Cannot find a store: none is named, and {' and '.join(DEFAULT_FILES)} are not in {Path.cwd()}.",
        f"Name one with --store URL or in {STORE_VARIABLE}: the value of spark.colocate.store, or "
        "sqlite:////warehouse/_colocate/store.sqlite.",
    )


def open_service(url: str, catalog: str | None = None, timeout_seconds: float = 5.0) -> Service:
    """The verbs for one catalog of a store. Raises StoreError for a store that is not there."""
    store = open_store(url, timeout_seconds)
    service = Service(store, CatalogId(catalog or ""), is_gone=owners.is_gone)
    service.require_store(shown(make_url(url)))
    service.catalog = _chosen(store, catalog)
    return service


def _chosen(store: Store, named: str | None) -> CatalogId:
    found = sorted(store.catalogs(), key=lambda one: one.identity)
    fitting = [one for one in found if named in (None, one.identity)]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(one.identity for one in found) or "none"
    if named is not None:
        headline = f"The store has no catalog {named} (catalogs: {known})."
    else:
        headline = f"The store has {len(found)} catalogs ({known}), and none is named."
    raise RequestError(Code.CATALOG_UNKNOWN, headline, _cure(found))


def _cure(found: Sequence[CatalogId]) -> str:
    return "Name one of them with --catalog." if found else "Create a table with 'colocate_with' first."
