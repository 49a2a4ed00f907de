"""Commands that change groups and configurations."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.cli import output
from spark_colocate.faces.cli.options import Catalog, DryRun, GroupName, Output, Shown, StoreUrl, asked, opened
from spark_colocate.service.base.config import checked
from spark_colocate.views import rows

_CONFIG = {"key": "KEY", "value": "VALUE", "comment": "COMMENT"}


def stable(
    group: GroupName,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
    dry_run: DryRun = False,
) -> None:
    """Mark a group as stable: no shuffles."""
    _mark(group, True, store, catalog, shown, dry_run)


def unstable(
    group: GroupName,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
    dry_run: DryRun = False,
) -> None:
    """Mark a group as unstable: queries shuffle."""
    _mark(group, False, store, catalog, shown, dry_run)


def _mark(group: str, flag: bool, store: str | None, catalog: str | None, shown: Output, dry_run: bool) -> None:
    name = str(opened(store, catalog, dry_run).set_group_stable(group, flag, "", asked()))
    message = f"Group {name} is marked as {'stable' if flag else 'unstable'}."
    output.done(message, {"group_name": name, "stable": flag}, shown, dry_run)


def set_replication(
    group: GroupName,
    number: Annotated[int, typer.Argument(min=1, max=1000, help="Hosts of each bucket.")],
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
    dry_run: DryRun = False,
) -> None:
    """Set a group's number of hosts per bucket."""
    name = str(opened(store, catalog, dry_run).set_replication(group, number, "", asked()).group)
    follow = f"CALL system.set_replication(group => '{name}', n => {number})"
    message = f"Group {name} has replication number {number}. To set its tables' property too, run in Spark: {follow}"
    output.done(message, {"group_name": name, "replication": number, "in_spark": follow}, shown, dry_run)


def purge(
    group: GroupName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
    dry_run: DryRun = False,
) -> None:
    """Delete a group whose tables were dropped."""
    service = opened(store, catalog, dry_run)
    name = str(service.group(group).group.name)
    if not (yes or dry_run):
        _confirm(name)
    service.purge_group(name, "", asked())
    output.done(f"Group {name} is deleted.", {"group_name": name}, shown, dry_run)


def _confirm(group: str) -> None:
    if not sys.stdin.isatty():
        headline = f"Cannot delete group {group} without confirmation: there is no terminal to ask on."
        raise RequestError(Code.REQUEST_INVALID, headline, "Add --yes.")
    typer.confirm(f"Delete group {group}?", abort=True)


def config(
    key: Annotated[str | None, typer.Argument(help="Its name.")] = None,
    value: Annotated[str | None, typer.Argument(help="true or false: sets it.")] = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
    dry_run: DryRun = False,
) -> None:
    """Show the configurations, or set one."""
    service = opened(store, catalog, dry_run)
    if key is not None and value is not None:
        entry = rows.config_row(service.set_config(key, value, asked()))
        output.done(f"{entry.key} is {entry.value}.", asdict(entry), shown, dry_run)
        return
    wanted = checked(key, "true")[0] if key is not None else None
    listed = [rows.config_row(one) for one in service.config() if wanted in (None, one.key)]
    output.show(listed, _CONFIG, shown)
