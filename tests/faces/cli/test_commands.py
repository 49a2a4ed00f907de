"""What each command shows (golden.txt), changes, and with which code it exits."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from spark_colocate.model import AccessRole
from spark_colocate.service import Request, Service
from spark_colocate.store import CatalogId, open_store

from tests.contract.plane import Plane
from tests.faces.cli.conftest import Run
from tests.faces.registries import Registry
from tests.spark.golden import assert_golden

GOLDEN = Path(__file__).parent / "golden"

SHOWN = [
    "--help",
    "groups",
    "groups --output json",
    "show db.g1",
    "show db.g1 --output json",
    "tables",
    "tables --group db.old",
    "buckets db.g1",
    "hosts",
    "config",
    "config disable_colocate_balance",
    "audit --limit 3",
    "doctor",
    "doctor --db db --output json",
    "unstable db.g1 --dry-run",
    "unstable db.g1",
    "stable db.g1 --output json",
    "config disable_colocate_balance true",
    "set-replication db.g1 1",
    "purge db.old --dry-run",
    "purge db.old --yes",
    "token create reader --dry-run",
    "token list",
    "verify --table db.orders",
    "jobs list",
    "jobs pause 10013",
    "jobs resume 10013",
    "jobs cancel 10013",
    "jobs show 10013 --output json",
    "groups",
    "audit --limit 6",
]
REFUSED = [
    "show db.nothing",
    "buckets 1.2",
    "purge db.old",
    "purge db.g1 --yes",
    "config max_balancing true",
    "config disable_colocate_balance maybe",
    "config nothing",
    "set-replication db.g1 0",
    "token create a'b",
    "token revoke nobody",
    "groups --catalog other",
    "groups --store mysql://host/db",
    "groups --store sqlite:////nowhere/store.sqlite",
    "verify",
    "verify --table db.orders --group db.g1",
    "verify --table db.nothing",
    "verify --table db.orders --mode half",
    "balance --group db.orders",
    "jobs show 7",
    "nonsense",
    "show",
    "serve --host 0.0.0.0",
    "sql nothing.sql",
]


def test_what_is_shown(run: Run) -> None:
    told = []
    for line in SHOWN:
        ran = run(*line.split())
        assert (ran.code, ran.err) == (0, ""), (line, ran)
        told.append(f"$ colocate {line}\n{ran.out}")
    assert_golden("\n".join(told), GOLDEN / "shown.txt")


def test_what_is_refused_and_with_which_code(run: Run, registry: Registry) -> None:
    before, told = registry.plane.dump(), []
    for line in REFUSED:
        ran = run(*line.split())
        assert ran.code in (1, 2, 3) and ran.out == "", (line, ran)
        told.append(f"$ colocate {line}\nexit {ran.code}\n{ran.err}")
    assert_golden("\n".join(told), GOLDEN / "refused.txt")
    assert registry.plane.dump() == before


def test_a_database_without_groups_is_not_called_healthy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Service, "doctor", lambda *_: [])
    assert run("doctor", "--db", "db").out == "Nothing is wrong.\n"
    assert run("doctor", "--db", "bd").out == "There is no group in database bd, so nothing is wrong with one.\n"


def test_changes_are_audited_with_the_user(run: Run, registry: Registry) -> None:
    run("unstable", "db.g1")
    assert registry.service.audit(1)[0].who == "ops (colocate)"
    assert not registry.service.group("db.g1").group.is_stable


def test_a_dry_run_refuses_what_the_change_would_refuse(run: Run, registry: Registry) -> None:
    before = registry.plane.dump()
    assert run("purge", "db.g1", "--dry-run").code == 1
    for line in ("unstable db.g1", "set-replication db.g1 1", "purge db.old", "config disable_colocate_balance true"):
        assert run(*line.split(), "--dry-run").out.startswith("Dry run: nothing was changed.")
    for line in ("token create a", "token create a --role ADMIN"):
        assert "Dry run" in run(*line.split(), "--dry-run").out
    assert registry.plane.dump() == before and registry.service.tokens() == []


def test_a_token_is_alone_on_stdout(run: Run, registry: Registry) -> None:
    ran = run("token", "create", "ops", "--role", "ADMIN", "--days", "1")
    secret = ran.out.removesuffix("\n")
    assert registry.service.authenticate(secret, "create_token").role is AccessRole.ADMIN
    assert "valid until 2027-01-16" in ran.err and secret not in ran.err
    assert json.loads(run("token", "list", "-o", "json").out)[0]["state"] == "valid"
    as_json = json.loads(run("token", "create", "two", "-o", "json").out)
    assert registry.service.authenticate(as_json["secret"], "groups").name == "two"
    assert run("token", "revoke", "ops").out == "Token ops is revoked.\n"
    assert run("token", "create", "two").code == 1


def test_names_are_shown_as_they_are(run: Run, registry: Registry) -> None:
    registry.plane.create("db.[red]t[/red]", "__global__g", location="x")
    assert "[red]t[/red]" in run("tables").out


def test_a_table_in_a_pipe_is_not_cut_off(run: Run, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.plane.create("db." + "t" * 200, "__global__g")
    monkeypatch.delenv("COLUMNS")
    assert "t" * 200 in run("tables").out


def test_of_several_catalogs_one_must_be_named(run: Run, registry: Registry) -> None:
    store = open_store(registry.url)
    Plane(store, catalog=CatalogId("other")).create("x.t")
    ran = run("groups")
    assert ran.code == 1 and "The store has 2 catalogs (other, warehouse), and none is named." in ran.err
    assert "x.g" in run("groups", "--catalog", "other").out


def test_the_store_is_named_by_option_environment_or_folder(
    run: Run, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "db.g1" in run("groups").out
    monkeypatch.chdir(tmp_path / "spark-warehouse")
    assert "db.g1" in run("groups").out
    monkeypatch.chdir("/")
    none = run("groups")
    assert none.code == 3 and "Cannot find a store" in none.err and "COLOCATE_STORE" in none.err
    assert "db.g1" in run("groups", "--store", registry.url).out
    monkeypatch.setenv("COLOCATE_STORE", registry.url)
    assert "db.g1" in run("groups").out


def test_a_locked_store_exits_with_3(run: Run, registry: Registry) -> None:
    monkey = sqlite3.connect(registry.url.removeprefix("sqlite:///"), isolation_level=None)
    monkey.execute("BEGIN EXCLUSIVE")
    ran = run("groups", "--store", registry.url)
    assert ran.code == 3 and "another process holds its lock" in ran.err and "Traceback" not in ran.err
    monkey.close()


def test_what_a_listing_does_not_need_is_not_loaded(registry: Registry, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom spark_colocate.faces.cli.main import run\n"
        "try: run(['groups'])\nfinally: print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "db.g1" in told
    loaded = set(json.loads(told.splitlines()[-1].replace("'", '"')))
    assert loaded & {"sqlalchemy", "typer"} == {"sqlalchemy", "typer"}
    assert not loaded & {"pyspark", "py4j", "fastapi", "uvicorn", "alembic", "sqlglot", "psycopg"}


def test_a_token_ends_for_the_server_when_it_is_revoked(run: Run, registry: Registry) -> None:
    registry.service.create_token("ops", AccessRole.READER, Request())
    run("token", "revoke", "ops")
    assert registry.service.tokens()[0].revoked_at is not None
