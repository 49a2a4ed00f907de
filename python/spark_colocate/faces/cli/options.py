"""Options that commands share, and what they open."""

from __future__ import annotations

import getpass
from enum import StrEnum
from typing import Annotated

import typer

from spark_colocate.faces.registry import STORE_VARIABLE, open_service, store_url
from spark_colocate.service import Request, Service
from spark_colocate.store.passwords import refuse_on_command_line
from spark_colocate.store.rehearsal import RehearsalStore


class Output(StrEnum):
    """How values are shown."""

    TABLE = "table"
    JSON = "json"


def _not_seen_by_ps(context: typer.Context, option: typer.CallbackParam, url: str | None) -> str | None:
    source = context.get_parameter_source(option.name or "")
    if url and source is not None and source.name == "COMMANDLINE":
        refuse_on_command_line("--store", url)
    return url


StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar=STORE_VARIABLE,
        callback=_not_seen_by_ps,
        help="URL of the store, as in spark.colocate.store. Default: the file of the warehouse in this folder.",
    ),
]
Catalog = Annotated[str | None, typer.Option("--catalog", help="The catalog, where the store has several.")]
Shown = Annotated[Output, typer.Option("--output", "-o", help="How to show it.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check it and show the outcome, but change nothing.")]
GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="db.name, __global__name, or a GroupId.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many lines.")]


def opened(store: str | None, catalog: str | None, dry_run: bool = False) -> Service:
    """The verbs on the store's catalog. With dry_run they change nothing."""
    service = open_service(store_url(store), catalog)
    if dry_run:
        service.store = RehearsalStore(service.store)
    return service


def asked() -> Request:
    """What the audit log says of who calls."""
    try:
        who = getpass.getuser()
    except (KeyError, OSError):
        who = "unknown"
    return Request(who=f"{who} (colocate)")
