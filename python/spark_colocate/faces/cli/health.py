"""`colocate doctor`: what is wrong or wasteful."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from spark_colocate.catalogues.findings import Finding, Severity
from spark_colocate.faces.cli import codes, output
from spark_colocate.faces.cli.cures import as_commands
from spark_colocate.faces.cli.options import Catalog, Output, Shown, StoreUrl, asked, opened
from spark_colocate.faces.cli.spark import Conf, session, spark_errors
from spark_colocate.service import Service
from spark_colocate.support.quoting import text


class FailOn(StrEnum):
    """The least severity of a finding that makes the command fail."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"
    NEVER = "never"

    @property
    def severities(self) -> list[Severity]:
        worst_first = list(Severity)
        return [] if self is FailOn.NEVER else worst_first[: worst_first.index(Severity(self.value)) + 1]


def doctor(
    db: Annotated[str, typer.Option(help="Only the groups and tables of this database, and global groups.")] = "",
    tables: Annotated[
        bool, typer.Option("--tables", help="Look at the tables and their files too, in a session of Spark.")
    ] = False,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit with 4 if there is a finding as bad as this, or worse.")
    ] = FailOn.ERROR,
    conf: Conf = None,
    store: StoreUrl = None,
    catalog: Catalog = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Show what is wrong or wasteful, and what fixes it.

    Looks at the store of groups alone, unless --tables is given."""
    service = None if tables else opened(store, catalog)
    found = service.doctor(asked(), db) if service else _in_session(db, conf, store)
    if shown is Output.JSON:
        output.show(found, {}, shown)
    else:
        print("\n\n".join(map(_lines, found)) or _fine(service, db))
    if any(one.severity in fail_on.severities for one in found):
        raise typer.Exit(codes.FOUND)


def _fine(service: Service | None, db: str) -> str:
    """The store knows databases by their groups alone, so a name that is misspelled has none."""
    if service and db and not any(one.group.name.db == db for one in service.groups()):
        return f"There is no group in database {db}, so nothing is wrong with one."
    return "Nothing is wrong."


def _in_session(db: str, conf: list[str] | None, store: str | None) -> list[Finding]:
    with session(conf, store) as spark, spark_errors("to look at the tables"):
        rows = spark.sql(f"CALL system.doctor(db => {text(db)})").collect()
    return [Finding(Severity(row.severity), row.code, row.object, row.finding, row.cure) for row in rows]


def _lines(one: Finding) -> str:
    """The cure stands alone in its line, so that it can be copied."""
    return f"{one.severity.upper()} {one.code}: {one.object}\n  {one.finding}:\n  {as_commands(one.cure)}"
