"""`colocate token`: the tokens of the REST interface."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from spark_colocate.faces.cli import output
from spark_colocate.faces.cli.options import Catalog, DryRun, Output, Shown, StoreUrl, asked, opened
from spark_colocate.model import AccessRole
from spark_colocate.service.base.access import DEFAULT_DAYS, MAX_DAYS
from spark_colocate.views import rows

app = typer.Typer(help="Make, list and revoke tokens of REST.", no_args_is_help=True)

_TOKENS = {
    "name": "NAME",
    "role": "ROLE",
    "state": "STATE",
    "created_at": "CREATED",
    "expires_at": "EXPIRES",
    "revoked_at": "REVOKED",
}
Name = Annotated[str, typer.Argument(metavar="NAME", help="1 to 64 letters, digits, dots, - or _.")]


@app.command()
def create(
    name: Name,
    role: Annotated[AccessRole, typer.Option(help="What its bearer may do.")] = AccessRole.READER,
    days: Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="How long it is valid.")] = DEFAULT_DAYS,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
    dry_run: DryRun = False,
) -> None:
    """Make a token, and show it once."""
    service = opened(store, catalog, dry_run)
    new = service.create_token(name, role, asked(), days)
    row = asdict(rows.token_row(new.token, service.clock()))
    if dry_run or shown is Output.JSON:
        secret = {} if dry_run else {"secret": new.secret}
        output.done(f"Token {name} with role {role} can be made.", {**row, **secret}, shown, dry_run)
        return
    print(
        f"Token {name} with role {role}, valid until {row['expires_at']}. Keep it: it is shown once.", file=sys.stderr
    )
    print(new.secret)


@app.command("list")
def list_(store: StoreUrl = None, catalog: Catalog = None, shown: Shown = Output.TABLE) -> None:
    """List the tokens, also those that have ended."""
    service = opened(store, catalog)
    now = service.clock()
    output.show([rows.token_row(one, now) for one in service.tokens()], _TOKENS, shown)


@app.command()
def revoke(
    name: Name,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
    dry_run: DryRun = False,
) -> None:
    """End a token at once."""
    service = opened(store, catalog, dry_run)
    row = rows.token_row(service.revoke_token(name, asked()), service.clock())
    output.done(f"Token {name} is revoked.", asdict(row), shown, dry_run)
