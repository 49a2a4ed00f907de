"""What the store's protocol promises beside its rows: isolation, migrations, and failures that read well."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from spark_colocate.errors import Code, StoreError
from spark_colocate.model import Host
from spark_colocate.service import Request
from spark_colocate.store import CatalogId, MissingStore, Store, migrate, open_store, schema
from spark_colocate.store.engine import make_engine
from spark_colocate.store.rehearsal import RehearsalStore

from tests.contract.plane import CATALOG, Plane, Refused


def test_a_block_that_raises_writes_nothing(store: Store, catalog: CatalogId) -> None:
    with store.write(catalog) as tx:
        tx.put_host(Host(1, "kept"))
    before = store.version(catalog)
    with pytest.raises(KeyError):
        _write_and_fail(store, catalog)
    with store.read(catalog) as tx:
        assert [host.host for host in tx.hosts()] == ["kept"]
    assert store.version(catalog) == before


def _write_and_fail(store: Store, catalog: CatalogId) -> None:
    with store.write(catalog) as tx:
        tx.put_host(Host(2, "lost"))
        raise KeyError


def test_writers_of_one_catalog_come_one_after_another(store: Store, catalog: CatalogId) -> None:
    with store.write(catalog) as tx:
        tx.next_id()

    def count() -> None:
        for _ in range(10):
            with store.write(catalog) as tx:
                given.append(tx.next_id())

    given: list[int] = []
    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given) == list(range(min(given), min(given) + 40))


def test_a_reader_sees_no_half_of_a_transaction(store: Store, catalog: CatalogId) -> None:
    plane = Plane(store, catalog=catalog)
    plane.create("db.a")
    seen: list[tuple[int, int]] = []

    def look() -> None:
        for _ in range(20):
            with store.read(catalog) as tx:
                seen.append((len(tx.groups()), len({m.group for m in tx.members()})))

    reader = threading.Thread(target=look)
    reader.start()
    for group in ("x", "y", "z"):
        plane.alter("db.a", group)
    reader.join()
    assert set(seen) == {(1, 1)}


def test_reading_makes_no_file_and_a_refused_statement_neither(tmp_path: Path) -> None:
    plane = Plane(open_store(f"sqlite:///{tmp_path}/_colocate/store.sqlite"))
    assert plane.groups() == []
    assert plane.call("show_proc", path="/colocation_group")["rows"] == []
    plane.drop("db.a")
    plane.rename("db.a", "db.b")
    plane.call("drop_database", db="db")
    for wrong in ({"buckets": 0}, {"format": "csv"}, {"group": "a.b"}, {"keys": []}):
        for verb in ("begin_create", "begin_alter"):
            with pytest.raises(Refused):
                plane.begin("db.a", verb=verb, **wrong)
    with pytest.raises(Refused):
        plane.call("set_group_stable", group="g", stable=False, db="db")
    assert list(tmp_path.iterdir()) == []


def test_sqlite_leaves_no_side_files(tmp_path: Path) -> None:
    Plane(open_store(f"sqlite:///{tmp_path}/_colocate/store.sqlite")).create("db.a")
    assert os.listdir(tmp_path / "_colocate") == ["store.sqlite"]


def test_a_store_that_was_removed_with_its_folder_is_made_anew_with_a_higher_version(tmp_path: Path) -> None:
    folder = tmp_path / "_colocate"
    plane = Plane(open_store(f"sqlite:///{folder}/store.sqlite"))
    plane.create("db.a")
    assert plane.snapshot is not None
    before = plane.snapshot["version"]
    shutil.rmtree(folder)
    assert plane.groups() == []
    plane.create("db.b")
    assert plane.members() == {"db.b": "db.g"}
    assert plane.snapshot["version"] > before


def test_a_store_whose_file_was_moved_away_is_no_empty_store(tmp_path: Path) -> None:
    file, elsewhere = tmp_path / "store.sqlite", tmp_path / "elsewhere"
    plane = Plane(open_store(f"sqlite:///{file}"))
    plane.create("db.a")
    file.rename(elsewhere)
    verbs: list[Callable[[], object]] = [plane.groups, plane.members, lambda: plane.create("db.b"),
        plane.service.version, plane.service.snapshot, lambda: plane.service.group("g", "db"),
        lambda: plane.drop("db.a")]  # fmt: skip
    for verb in verbs:
        with pytest.raises((StoreError, Refused), match="has been moved or removed") as error:
            verb()
        assert error.value.code == Code.STORE_UNREACHABLE
    assert not file.exists()
    elsewhere.rename(file)
    assert plane.members() == {"db.a": "db.g"}
    plane.service.close()


def test_the_migrations_make_the_tables_of_the_schema(tmp_path: Path) -> None:
    assert migrate.head() == schema.HEAD
    engine = make_engine(f"sqlite:///{tmp_path}/store.sqlite", 1)
    with engine.connect().execution_options(colocate_write=True) as connection, connection.begin():
        migrate.upgrade(connection)
        context = MigrationContext.configure(connection, opts={"version_table": migrate.VERSION_TABLE})
        assert compare_metadata(context, schema.metadata) == []


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    Plane(open_store(f"sqlite:///{file}")).create("db.a")
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE colocate_version SET version_num = '9999'")
    with pytest.raises(StoreError, match=f"its schema is 9999, and this version of spark-colocate knows {schema.HEAD}"):
        open_store(f"sqlite:///{file}").version(CATALOG)


def test_a_locked_store_says_so_after_the_busy_time(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    plane = Plane(open_store(f"sqlite:///{file}", timeout_seconds=0.2))
    plane.create("db.a")
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Refused, match=r"another process holds its lock \(database is locked\)\. Try again") as refused:
        plane.create("db.b")
    assert refused.value.code == "STORE_LOCKED"
    holder.execute("ROLLBACK")
    holder.close()
    plane.create("db.b")


def test_a_locked_postgresql_says_so(postgresql_url: str, catalog: CatalogId) -> None:
    plane = Plane(open_store(postgresql_url, timeout_seconds=1), catalog=catalog)
    plane.create("db.a")
    with plane.store.write(catalog), pytest.raises(Refused) as refused:
        plane.create("db.b")
    assert refused.value.code == "STORE_LOCKED"


def test_a_postgresql_whose_connections_all_wait_says_so(postgresql_url: str, catalog: CatalogId) -> None:
    store = open_store(postgresql_url, timeout_seconds=1)
    with ExitStack() as held:
        for _ in range(12):  # two, and ten more
            held.enter_context(store.read(catalog))
        with pytest.raises(StoreError) as refused:
            store.version(catalog)
    assert refused.value.code is Code.STORE_LOCKED
    store.close()


def test_a_rehearsal_does_everything_and_keeps_nothing(store: Store, catalog: CatalogId) -> None:
    plane = Plane(store, catalog=catalog)
    plane.create("db.a")
    before = (plane.dump(), store.version(catalog))
    rehearsal = Plane(RehearsalStore(store), catalog=catalog)
    rehearsal.service.set_group_stable("db.g", False, "", Request())
    with pytest.raises(Refused):
        rehearsal.call("purge_group", group="db.g")
    with RehearsalStore(store).write(catalog) as tx:
        tx.put_host(Host(9, "seen"))
        assert "seen" in [host.host for host in tx.hosts()]
    assert (plane.dump(), store.version(catalog)) == before
    with pytest.raises(KeyError):
        _write_and_fail(RehearsalStore(store), catalog)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("sqlite:////proc/nowhere/store.sqlite", Code.STORE_UNREACHABLE),
        ("postgresql://user:hush@127.0.0.1:1/none", Code.STORE_UNREACHABLE),
        ("mysql://host/db", Code.STORE_URL_INVALID),
        ("sqlite://", Code.STORE_URL_INVALID),
        ("nonsense", Code.STORE_URL_INVALID),
    ],
)
def test_a_store_that_cannot_be_used_names_itself_and_the_cure(url: str, code: Code) -> None:
    with pytest.raises(StoreError) as error, open_store(url, 1).write(CATALOG):
        pass
    assert error.value.code is code
    assert "spark.colocate.store" in str(error.value)
    assert "hush" not in str(error.value)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match=r"file is not a database"):
        open_store(f"sqlite:///{file}").version(CATALOG)


def test_without_a_local_warehouse_the_first_write_asks_for_a_store() -> None:
    plane = Plane(MissingStore("s3a://lake/warehouse"))
    assert plane.groups() == []
    plane.drop("db.a")
    with pytest.raises(Refused, match=r"s3a://lake/warehouse is not on a local disk.*Set spark\.colocate\.store") as e:
        plane.create("db.a")
    assert e.value.code == "STORE_NEEDED"
