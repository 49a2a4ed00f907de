"""A SQLite store is its owner's alone: another user of the machine reads nothing, makes no token, stops nobody."""

import os
import pickle
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from spark_colocate.errors import StoreError
from spark_colocate.faces.registry import open_service
from spark_colocate.model import AccessRole
from spark_colocate.service import Request
from spark_colocate.store import migrate, open_store

from tests.contract.plane import CATALOG, Plane

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def warehouse() -> Iterator[Path]:
    """In a folder that every user may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder / "warehouse"
    shutil.rmtree(folder)


@pytest.fixture
def open_umask() -> Iterator[None]:
    """The widest that there is: only the rights that are asked for protect a file."""
    before = os.umask(0)
    yield
    os.umask(before)


def plane_of(warehouse: Path) -> Plane:
    return Plane(open_store(f"sqlite:///{file_of(warehouse)}", timeout_seconds=0.5))


def file_of(warehouse: Path) -> Path:
    return warehouse / "_colocate" / "store.sqlite"


def rights(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):04o}"


def nobody(action: Callable[[], object]) -> object:
    """What comes of it when another user does it: its value, or its error as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            outcome: object = action()
        except (OSError, sqlite3.Error, StoreError) as error:
            outcome = f"{type(error).__name__}: {error}"
        os.write(writing, pickle.dumps(outcome))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        answer = told.read()
    os.waitpid(child, 0)
    return pickle.loads(answer)


def test_all_files_are_private_from_the_first_byte(
    warehouse: Path, open_umask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, dict[str, str]]] = []
    upgrade = migrate.upgrade

    def look(connection: object) -> None:
        folder = file_of(warehouse).parent
        seen.append((file_of(warehouse).stat().st_size, {path.name: rights(path) for path in folder.iterdir()}))
        upgrade(connection)  # type: ignore[arg-type]

    monkeypatch.setattr(migrate, "upgrade", look)
    plane_of(warehouse).create("db.a")
    assert seen == [(0, {"store.sqlite": "0600", "store.sqlite-journal": "0600"})]
    assert rights(file_of(warehouse).parent) == "0700"
    assert rights(warehouse) == "0777"  # the tables' folder is not the store's


def test_side_files_of_another_journal_mode_are_private(warehouse: Path, open_umask: None) -> None:
    plane_of(warehouse).create("db.a")
    with sqlite3.connect(file_of(warehouse)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        plane_of(warehouse).create("db.b")
        other.execute("SELECT * FROM colocate_tokens").fetchall()
        found = {path.name: rights(path) for path in file_of(warehouse).parent.iterdir()}
    assert found == dict.fromkeys(("store.sqlite", "store.sqlite-wal", "store.sqlite-shm"), "0600")


def test_the_file_behind_a_link_is_private(warehouse: Path, open_umask: None) -> None:
    plane_of(warehouse).create("db.a")
    shutil.move(file_of(warehouse), warehouse / "elsewhere")
    file_of(warehouse).symlink_to(warehouse / "elsewhere")
    (warehouse / "elsewhere").chmod(0o666)
    assert plane_of(warehouse).members() == {"db.a": "db.g"}
    assert rights(warehouse / "elsewhere") == "0600"


def test_a_store_that_others_could_use_is_tightened_and_says_so(
    warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plane_of(warehouse).create("db.a")
    assert capsys.readouterr().err == ""
    file, folder = file_of(warehouse), file_of(warehouse).parent
    file.chmod(0o644)
    folder.chmod(0o755)
    plane = plane_of(warehouse)
    for _ in range(2):
        assert plane.members() == {"db.a": "db.g"}
    assert (rights(file), rights(folder)) == ("0600", "0700")
    told = f"Other users of this machine could use the store of groups. Only its owner can now: {folder} and {file}.\n"
    assert capsys.readouterr().err == told
    assert plane.store.exposed() == ""


def test_what_cannot_be_tightened_is_told_and_found_by_the_doctor(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plane = plane_of(warehouse)
    plane.create("db.a")
    file_of(warehouse).chmod(0o640)
    monkeypatch.setattr(os, "chmod", lambda *_: None)  # as file systems do that have no rights
    for _ in range(2):
        codes = [one.code for one in plane.service.doctor(Request())]
        assert codes == ["STORE_EXPOSED"]
    assert capsys.readouterr().err == (
        "Other users of this machine can use the store of groups, and this user can't change it: "
        f"{file_of(warehouse)} (0640).\n"
    )


def test_a_folder_that_a_user_chose_keeps_its_rights(warehouse: Path) -> None:
    warehouse.mkdir()
    plane = Plane(open_store(f"sqlite:///{warehouse}/store.sqlite"))
    for mode, exposed in ((0o755, ""), (0o1777, ""), (0o777, f"{warehouse} (0777)")):
        warehouse.chmod(mode)
        plane.create("db.a")
        plane.drop("db.a", purge=True)
        assert (rights(warehouse / "store.sqlite"), plane.store.exposed()) == ("0600", exposed)
        assert stat.S_IMODE(warehouse.stat().st_mode) == mode


@as_root
@pytest.mark.parametrize("was_wide", [False, True])
def test_another_user_reads_nothing_and_stops_nobody(warehouse: Path, was_wide: bool) -> None:
    """was_wide: an earlier version made the store, and this one has opened it since."""
    plane = plane_of(warehouse)
    plane.create("db.a")
    secret = plane.service.create_token("ops", AccessRole.ADMIN, Request()).secret
    file = file_of(warehouse)
    if was_wide:
        file.parent.chmod(0o755)
        file.chmod(0o666)
        assert "store.sqlite" in str(nobody(lambda: os.listdir(file.parent)))  # else this test would show nothing
        plane.members()

    def hold_a_read_lock() -> None:
        with sqlite3.connect(file) as held:
            held.execute("BEGIN")
            held.execute("SELECT * FROM colocate_tokens").fetchall()

    def make_a_token() -> None:
        open_service(f"sqlite:///{file}", CATALOG.identity).create_token("mine", AccessRole.ADMIN, Request())

    for attempt in (file.read_bytes, lambda: os.listdir(file.parent), lambda: file.rename(warehouse / "mine")):
        assert str(nobody(attempt)).startswith("PermissionError")
    assert nobody(hold_a_read_lock) == "OperationalError: unable to open database file"
    refused = str(nobody(make_a_token))
    assert refused.startswith("StoreError: Cannot reach the store")
    assert "several users share one in PostgreSQL" in refused
    plane.create("db.b")
    assert [token.name for token in plane.service.tokens()] == ["ops"]
    assert plane.service.authenticate(secret, "tokens").name == "ops"
