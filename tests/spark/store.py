"""The store of groups of the tests' session, as another process sees it; and hosts that are lost in it."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlparse

from pyspark.sql import SparkSession
from spark_colocate.model import GroupName, Host
from spark_colocate.service import Service
from spark_colocate.service.placement import hosts
from spark_colocate.store import open_store

from tests.spark.control import call

LOST = "host-that-is-lost"


def store_file(spark: SparkSession) -> Path:
    return Path(urlparse(spark.conf.get("spark.sql.warehouse.dir") or "").path) / "_colocate" / "store.sqlite"


def service(spark: SparkSession) -> Service:
    """The verbs on the session's catalog, without its driver."""
    store = open_store(f"sqlite:///{store_file(spark)}")
    [catalog] = store.catalogs()
    return Service(store, catalog)


@contextmanager
def lost_host(spark: SparkSession, group: str, buckets: Sequence[int]) -> Iterator[None]:
    """These buckets of a group (`db.g`) are assigned to a host that is lost, and relocation is switched off."""
    spark.sql("CALL system.set_config(key => 'disable_colocate_relocate', value => 'true')").collect()
    there = service(spark)
    db, _, name = group.rpartition(".")
    with there.store.write(there.catalog) as tx:
        lost = Host(tx.next_id(), LOST, is_lost=True)
        tx.put_host(lost)
        held = tx.group(GroupName(db, name))
        assert held is not None
        entries = [(lost.backend_id,) if b in buckets else entry for b, entry in enumerate(held.sequence)]
        tx.put_group(hosts.placed(replace(held), tuple(entries), hosts.living(tx)))
    call(spark, "table_rows")  # the driver gets what has changed with the next answer
    try:
        yield
    finally:
        spark.sql("CALL system.set_config(key => 'disable_colocate_relocate', value => 'false')").collect()
        forget_host(spark, LOST)


def joined_long_ago(spark: SparkSession, db: str) -> None:
    """The members of a database have joined their groups before anybody noted it."""
    there = service(spark)
    with there.store.write(there.catalog) as tx:
        for member in tx.members_in(db):
            tx.put_member(replace(member, joined_at=None))
    call(spark, "table_rows")


def forget_host(spark: SparkSession, name: str) -> None:
    with sqlite3.connect(store_file(spark)) as connection:
        connection.execute("DELETE FROM colocate_hosts WHERE host = ?", (name,))
