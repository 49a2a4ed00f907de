"""The store's password and an application's token: where they may come from, and that nothing shows them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession
from spark_colocate.bridge.endpoint import Endpoint
from spark_colocate.bridge.process import Start, _store
from spark_colocate.errors import Code, ColocateError, StoreError
from spark_colocate.session import configure
from spark_colocate.store import open_store, passwords
from spark_colocate.store.engine import make_engine

SECRET = "hu5h"
STORE, TOKEN = "spark.colocate.store", "spark.colocate.acl.token"

WITH = [
    "postgresql://me:hu5h@host/db",
    "postgresql+psycopg://me:hu5h@host:5432/db?sslmode=require",
    " POSTGRESQL://me:hu5h@host/db",
    "postgresql://me:p/hu5h@host/db",
    "postgresql://me:hu5h%40x@host/db",
    "postgresql://me:x@hu5h@host/db",
    "postgresql://:hu5h@host/db",
    "postgresql://me@host/db?password=hu5h",
    "postgresql://host/db?user=me&password=hu5h",
    "postgresql://me@host/db?sslmode=verify-full&sslpassword=hu5h",
    "postgresql:/me:hu5h@host/db",
    "postgresql:://me:hu5h@host/db",
    "jdbc:postgresql://host/db?user=me&password=hu5h",
    "host=h user=me password=hu5h",
    "mysql://me:hu5h@host/db",
]
WITHOUT = [
    "",
    "postgresql://me@host/db",
    "postgresql://me@host:5432/db?sslmode=verify-full&passfile=/home/me/.pgpass",
    "postgresql://me:@host/db",
    "postgresql:///db?service=colocate",
    "sqlite:////w/a:b@c/password=/store.sqlite",
]


@pytest.fixture(autouse=True)
def without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (passwords.PASSWORD_VARIABLE, passwords.TOKEN_VARIABLE):
        monkeypatch.setenv(name, "")  # so that it is as before after the test, whatever that does
        monkeypatch.delenv(name)


@pytest.mark.parametrize("url", WITH)
def test_a_password_in_a_url_is_found_and_no_error_shows_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passwords.has_password(url)
    monkeypatch.setattr(psycopg, "connect", no_server)
    with pytest.raises(ColocateError) as refused:
        open_store(url, 1).catalogs()
    assert SECRET not in str(refused.value) and refused.value.__class__ is StoreError


@pytest.mark.parametrize("url", WITHOUT)
def test_a_url_without_a_password_is_none_of_those(url: str) -> None:
    assert not passwords.has_password(url)


def no_server(*_: object, **__: object) -> None:
    raise psycopg.OperationalError("no server here")


def used(url: str, monkeypatch: pytest.MonkeyPatch, file: str = "") -> list[str | None]:
    """The password of two connections."""
    seen: list[str | None] = []

    def connect(*_: object, **named: Any) -> None:
        seen.append(named.get("password"))
        if file:
            Path(file).write_text("second\n")
        no_server()

    monkeypatch.setattr(psycopg, "connect", connect)
    engine = make_engine(url, 1, file)
    assert SECRET not in repr(engine) + engine.url.render_as_string(hide_password=False)
    for _ in range(2):
        with pytest.raises(Exception, match="no server here"):
            engine.connect()
    return seen


def test_the_password_is_that_of_the_file_then_the_url_then_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "password"
    file.write_text("first \nmore\n")
    file.chmod(0o600)
    assert used("postgresql://me@h/db", monkeypatch) == [None, None]  # libpq looks into PGPASSWORD and ~/.pgpass
    monkeypatch.setenv(passwords.PASSWORD_VARIABLE, "variable")
    assert used("postgresql://me@h/db", monkeypatch) == ["variable"] * 2
    assert used(f"postgresql://me:{SECRET}@h/db", monkeypatch) == [SECRET] * 2
    assert used(f"postgresql://me@h/db?password={SECRET}", monkeypatch) == [SECRET] * 2
    assert used(f"postgresql://me:{SECRET}@h/db", monkeypatch, str(file)) == ["first", "second"]


@pytest.mark.parametrize("mode", [0o604, 0o644])
def test_a_file_that_every_user_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "secret"
    file.write_text(SECRET)
    file.chmod(mode)
    with pytest.raises(StoreError, match=rf"every user of the machine can read the file \({mode:04o}\)") as refused:
        passwords.of_file(str(file))
    assert refused.value.code is Code.SECRET_EXPOSED and SECRET not in str(refused.value)
    file.chmod(0o440)
    assert passwords.of_file(str(file)) == SECRET


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for file in (tmp_path / "none", tmp_path, binary):
        with pytest.raises(StoreError, match=f"Cannot read the file {file}"):
            passwords.of_file(str(file))


# --- What the driver's builder holds ---


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> SparkSession.Builder:
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    return SparkSession.Builder()


def test_configure_takes_secrets_out_of_the_settings(builder: SparkSession.Builder) -> None:
    builder.config(STORE, f"postgresql://me:{SECRET}@h/db?connect_timeout=3").config(TOKEN, "tkn")
    options = configure(builder, delta=False)._options
    assert options[STORE] == "postgresql://me@h/db?connect_timeout=3" and TOKEN not in options
    assert os.environ[passwords.PASSWORD_VARIABLE] == SECRET and os.environ[passwords.TOKEN_VARIABLE] == "tkn"
    assert passwords.of_application("")() == "tkn"


@pytest.mark.parametrize(("key", "value"), [(STORE, f"postgresql://me:{SECRET}@h/db"), (TOKEN, SECRET)])
def test_a_jvm_that_runs_already_gets_no_secret(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch, key: str, value: str
) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    with pytest.raises(ValueError, match=f"Cannot take the secret out of {key}") as refused:
        configure(builder.config(key, value), delta=False)
    assert SECRET not in str(refused.value) and "before the JVM starts, or name a file in" in str(refused.value)


def test_a_session_that_runs_ignores_the_store_and_keeps_its_token(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder.config(TOKEN, SECRET)
    monkeypatch.setattr("spark_colocate.session.is_running", lambda: True)
    monkeypatch.setattr("spark_colocate.session.refuse_other_drivers", lambda *_: None)
    assert configure(builder, delta=False)._options[TOKEN] == SECRET


def test_a_store_without_a_secret_is_left_as_it_is(builder: SparkSession.Builder) -> None:
    builder.config(STORE, "postgresql://me@h/db")
    assert configure(builder, delta=False)._options[STORE] == "postgresql://me@h/db"
    assert passwords.PASSWORD_VARIABLE not in os.environ


def test_the_control_plane_reads_the_files_that_the_driver_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "password"
    file.write_text(SECRET)
    file.chmod(0o600)
    given = {"port": 1, "token": "t", "pid": 1, "catalog": "c", "ephemeral": True, "store": "postgresql://me@h/db"}
    more = {"passwordFile": str(file), "tokenFile": "", "warehouse": "w", "storeTimeout": 1, "hostGrace": 1}
    start = Start.parse(json.dumps({**given, **more, "tickets": [], "intervals": {}}))
    seen: list[str] = []
    monkeypatch.setattr(psycopg, "connect", lambda *_, **named: seen.append(named["password"]) or no_server())
    with pytest.raises(StoreError):
        _store(start).exists()
    assert seen[0] == SECRET and SECRET not in repr(start)
    assert Endpoint.__dataclass_fields__["token"].default is str  # no token where nobody names one


# --- What `ps` shows ---


@pytest.mark.parametrize(
    "line",
    [
        ["groups", "--store", f"postgresql://me:{SECRET}@h/db"],
        ["sql", "-", "--conf", f"{STORE}=postgresql://me:{SECRET}@h/db"],
        ["sql", "-", "--conf", f"{TOKEN}={SECRET}"],
    ],
)
def test_the_command_line_takes_no_secret(line: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "spark_colocate.faces.cli.main", *line], input="", capture_output=True, text=True
    )
    assert ran.returncode == 1 and "every user of the machine sees it in the list of processes (ps)" in ran.stderr
    assert SECRET not in ran.stderr + ran.stdout


def test_a_url_with_a_password_may_be_in_the_environment() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "spark_colocate.faces.cli.main", "groups"],
        env={**os.environ, "COLOCATE_STORE": f"postgresql://me:{SECRET}@127.0.0.1:1/db"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 3 and "Cannot reach the store postgresql+psycopg://me@127.0.0.1:1/db" in ran.stderr
    assert SECRET not in ran.stderr
