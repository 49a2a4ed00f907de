"""`CALL system.reconcile()`: the tables' properties are the truth; outcomes that were not received are sent again."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import pytest
from pyspark.sql import SparkSession
from spark_colocate.model import Ticket
from spark_colocate.store import CatalogId, open_store

from tests.contract.plane import Plane
from tests.spark import control

CLUSTERED = "CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with'='g')"


@pytest.fixture
def registry(spark: SparkSession, db: str) -> Iterator[Plane]:
    """The store as another process sees it, without this session's knowing."""
    spark.sql(f"CREATE TABLE parent (k INT) USING parquet {CLUSTERED}")
    store = open_store(f"sqlite:///{store_file(spark)}")
    [catalog] = [c for c in store.catalogs() if spark.sparkContext.applicationId in c.identity]
    yield Plane(store, "another driver", CatalogId(catalog.identity))
    store.close()


def store_file(spark: SparkSession) -> str:
    return spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:") + "/_colocate/store.sqlite"


def reconciled(spark: SparkSession, db: str) -> list[tuple[str, str]]:
    return sorted((row.table, row.action) for row in spark.sql(f"CALL system.reconcile('{db}')").collect())


def test_members_that_the_registry_lost_are_found_by_their_properties(
    spark: SparkSession, db: str, registry: Plane
) -> None:
    spark.sql(f"CREATE TABLE d (k INT, v STRING) USING delta {CLUSTERED}")
    spark.sql(f"CREATE TABLE o (k INT) USING orc {CLUSTERED}")
    spark.sql("CREATE TABLE plain (k INT) USING delta")
    for table in ("parent", "d", "o"):
        registry.drop(f"{db}.{table}", purge=True)
    assert reconciled(spark, db) == [("d", "joined"), ("o", "joined"), ("parent", "joined")]
    assert reconciled(spark, db) == []
    assert {t for t, g in registry.members().items() if g == f"{db}.g"} == {f"{db}.d", f"{db}.o", f"{db}.parent"}


def test_members_whose_table_is_gone_leave(spark: SparkSession, db: str, registry: Plane) -> None:
    registry.create(f"{db}.ghost")
    assert reconciled(spark, db) == [("ghost", "left")]
    assert f"{db}.ghost" not in registry.members()


def test_all_databases_are_compared_when_none_is_named(spark: SparkSession, db: str, registry: Plane) -> None:
    registry.create("vanished_db.ghost")
    rows = spark.sql("CALL system.reconcile()").collect()
    assert ("vanished_db", "ghost", "left") in [(row.db, row.table, row.action) for row in rows]


def test_a_table_that_does_not_fit_is_told_and_stays_out(spark: SparkSession, db: str, registry: Plane) -> None:
    registry.drop(f"{db}.parent", purge=True)
    registry.create(f"{db}.other", buckets=8)
    [row] = [r for r in spark.sql(f"CALL system.reconcile('{db}')").collect() if r.action == "conflict"]
    assert row.table == "parent"
    assert "bucket counts differ (table: 4, group: 8)" in row.message


def test_an_outcome_that_the_store_did_not_hear_is_told_again_without_another_statement(
    spark: SparkSession, db: str, registry: Plane
) -> None:
    rows = "SELECT cast(id AS INT) AS k FROM range(1) WHERE java_method('java.lang.Thread', 'sleep', 3000L) IS NULL"
    creating = Thread(target=lambda: spark.sql(f"CREATE TABLE late USING parquet {CLUSTERED} AS {rows}"))
    creating.start()
    assert control.eventually(lambda: any(ticket.intent.table.table == "late" for ticket in _open(registry)))
    with _locked(spark):
        creating.join()
        assert spark.catalog.tableExists("late")
    assert control.eventually(lambda: f"{db}.late" in registry.members(), 30)


# What this driver does, and the table's group in the registry afterwards.
WHILE_ANOTHER_HAS_A_STATEMENT = {
    "ALTER TABLE {t} SET TBLPROPERTIES ('colocate_with'='new')": {"t": "new"},
    "ALTER TABLE {t} SET TBLPROPERTIES ('colocate_with'='')": {},
    "ALTER TABLE {t} RENAME TO u": {"u": "g"},
    "DROP TABLE {t}": {},
    "CREATE OR REPLACE TABLE {t} (k INT, w INT) USING delta CLUSTERED BY (k) INTO 8 BUCKETS "
    "TBLPROPERTIES ('colocate_with'='r')": {"t": "r"},
}


@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("statement", WHILE_ANOTHER_HAS_A_STATEMENT)
@pytest.mark.parametrize("kind", ["delta", "parquet"])
def test_of_two_drivers_statements_on_a_table_the_catalog_knows_the_last(
    spark: SparkSession, db: str, registry: Plane, kind: str, statement: str, is_over: bool
) -> None:
    """The other driver's ALTER is under way, or has ended in the registry with what the catalog does not have."""
    if kind == "parquet" and "REPLACE" in statement:
        return  # Spark replaces no native tables.
    spark.sql(f"CREATE TABLE t (k INT) USING {kind} {CLUSTERED}")
    other = registry.begin(f"{db}.t", "theirs", "begin_alter", format=kind)
    if is_over:
        registry.finish(other)
    spark.sql(statement.format(t="t"))
    members = {name: group for name, group in registry.members().items() if name != f"{db}.parent"}
    wanted = WHILE_ANOTHER_HAS_A_STATEMENT[statement]
    assert members == {f"{db}.{name}": f"{db}.{group}" for name, group in wanted.items()}


def test_a_member_that_only_the_registry_has_is_listed_as_missing(
    spark: SparkSession, db: str, registry: Plane
) -> None:
    control.create(spark, "late", "late")
    assert _listed_state(spark, "late") == "missing"
    dropped = control.call(spark, "begin_drop", db="default", table="late", purge=True)
    control.call(spark, "finish", ticket=dropped["ticket"], outcome="commit")
    assert _listed_state(spark, "late") is None


def _open(registry: Plane) -> Sequence[Ticket]:
    with registry.store.read(registry.catalog) as tx:
        return tx.open_tickets()


@contextmanager
def _locked(spark: SparkSession) -> Iterator[None]:
    """The store can't be used meanwhile."""
    holder = sqlite3.connect(store_file(spark), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


def _listed_state(spark: SparkSession, table: str) -> str | None:
    """What the listing says of a member; it must not fail for one that the catalog does not have."""
    found = spark.sql("SELECT `table`, layout_state, files FROM system.colocation_tables").collect()
    return next((row.layout_state for row in found if row.table == table), None)
