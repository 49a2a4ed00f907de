"""The command `colocate`: its commands, and its exit codes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import spark_colocate
from spark_colocate.errors import ColocateError, StoreError
from spark_colocate.faces.cli import changes, health, jobs, listings, serving, spark, tokens, worker

REFUSED, USAGE, NO_STORE = 1, 2, 3
"""Exit codes beside 0. USAGE is Typer's own."""

app = typer.Typer(
    name="colocate",
    help="Colocation groups of Spark tables: what there is, and what an operator can do with it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for command in (
    listings.groups,
    listings.show,
    listings.tables,
    listings.buckets,
    listings.hosts,
    changes.config,
    listings.audit,
    changes.stable,
    changes.unstable,
    changes.purge,
    changes.set_replication,
    jobs.verify,
    jobs.repair,
    jobs.balance,
    serving.serve,
    worker.worker,
    spark.sql,
    spark.explain,
    health.doctor,
):
    app.command()(command)
app.add_typer(jobs.app, name="jobs")
app.add_typer(tokens.app, name="token")


def _version(wanted: bool) -> None:
    if wanted:
        print(spark_colocate.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version, and exit.")
    ] = False,
) -> None:
    """Colocation groups of Spark tables: what there is, and what an operator can do with it."""


def run(arguments: list[str] | None = None) -> None:
    """Runs a command and exits: 0, 1 refused, 2 wrong usage, 3 the store can't be used."""
    try:
        app(args=arguments, prog_name="colocate")
    except ColocateError as error:
        print(f"Error: {error.headline}\n{error.cure}", file=sys.stderr)
        sys.exit(NO_STORE if isinstance(error, StoreError) else REFUSED)


if __name__ == "__main__":
    run()
