"""The command `colocate`, and its commands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import spark_colocate
from spark_colocate.errors import ColocateError
from spark_colocate.faces.cli import advising, changes, codes, health, jobs, listings, serving, spark, tokens, worker
from spark_colocate.faces.cli.cures import as_commands

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
    jobs.adopt,
    jobs.verify,
    jobs.repair,
    jobs.balance,
    serving.serve,
    worker.worker,
    spark.sql,
    spark.explain,
    health.doctor,
    advising.advise,
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
    """Runs a command and exits, see `codes`."""
    try:
        app(args=arguments, prog_name="colocate")
    except ColocateError as error:
        print(as_commands(f"Error: {error.headline}\n{error.cure}"), file=sys.stderr)
        sys.exit(codes.of_error(error))


if __name__ == "__main__":
    run()
