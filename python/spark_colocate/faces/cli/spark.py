"""`colocate sql` and `colocate explain`, which start a session of Spark."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spark_colocate.bridge.secrets_of_settings import STORE, TOKEN
from spark_colocate.errors import Code, RequestError
from spark_colocate.faces.cli import output
from spark_colocate.faces.cli.options import Output, Shown, StoreUrl
from spark_colocate.store.passwords import TOKEN_VARIABLE, refuse_on_command_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of the session; may be repeated."),
]
_VERDICTS = {"operator": "OPERATOR", "colocated": "COLOCATED", "code": "CODE", "text": "TEXT"}


def sql(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Statements, each ended by ;. - reads stdin.")],
    conf: Conf = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows shown of each statement.")] = 1000,
    store: StoreUrl = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Run statements of Spark and of Doris.

    One after another, until one fails."""
    from spark_colocate.faces.cli.statements import statements

    found = statements(_read(file))
    with session(conf, store) as spark:
        for number, text in enumerate(found, 1):
            with spark_errors(f"statement {number}"):
                _show(spark.sql(text), max_rows, shown)


def explain(
    query: Annotated[str, typer.Argument(metavar="SQL", help="A query. It is planned, and not run.")],
    conf: Conf = None,
    store: StoreUrl = None,
    shown: Shown = Output.TABLE,
) -> None:
    """Show what of a query is colocated, and why not.

    A line for each join, aggregate and window that touches a member of a group."""
    with session(conf, store) as spark, spark_errors("the query"):
        from spark_colocate.bridge import driver
        from spark_colocate.verdicts import parse

        found = parse(driver.verdicts_json_of(spark, query.strip().rstrip(";")))
    output.show(found, _VERDICTS, shown)


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(
            Code.REQUEST_INVALID, f"Cannot read {file}: {error}.", "Name a text file in UTF-8, or - for stdin."
        ) from error


@contextmanager
def session(conf: list[str] | None, store: str | None) -> Iterator[SparkSession]:
    """A session with the settings of spark-defaults.conf (in SPARK_CONF_DIR), and these; with Hive's tables.

    Raises RequestError where it can't be started, or its JVM ends meanwhile."""
    spark = _started(settings(conf), store)
    try:
        yield spark
    except Exception as error:
        check(spark, error)
        raise
    finally:
        with suppress(Exception) if has_ended(spark) else nullcontext():
            spark.stop()


def check(spark: SparkSession, error: Exception | None = None) -> None:
    """Raises RequestError if the session's JVM has ended. error: what came of it."""
    if has_ended(spark) and not isinstance(error, RequestError):
        raise RequestError(
            Code.SESSION_ENDED,
            "The session of this command has ended: its JVM was killed, or it was out of memory.",
            "Run the command again, with more memory if need be (--conf spark.driver.memory=4g).",
        ) from error


def settings(conf: list[str] | None) -> list[tuple[str, str]]:
    """Raises BadParameter, and RequestError for a secret."""
    found = []
    for pair in conf or ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"'{pair}' is not KEY=VALUE.", param_hint="--conf")
        _refuse_secret(key, value)
        found.append((key, value))
    return found


def has_ended(spark: SparkSession) -> bool:
    """Has the session's JVM ended?"""
    process = getattr(spark.sparkContext._gateway, "proc", None)
    return process is not None and process.poll() is not None


def _started(conf: list[tuple[str, str]], store: str | None) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from spark_colocate.session import configure

    # py4j logs with a stack that the JVM has ended; what has ended, and what to do, is our error's to say.
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    builder = SparkSession.builder.appName("colocate").enableHiveSupport()
    if store:
        builder.config(STORE, store)
    for key, value in conf:
        builder.config(key, value)
    try:
        return configure(builder).getOrCreate()
    except (PySparkException, Py4JError, OSError, ValueError, RuntimeError) as error:
        raise RequestError(
            Code.SESSION_FAILED,
            f"Cannot start a session of Spark: {_cause(error)}",
            "Correct the settings (--conf, spark-defaults.conf in SPARK_CONF_DIR) or JAVA_HOME, and run the command "
            "again.",
        ) from error


def _cause(error: Exception) -> str:
    """What the JVM says, in a line."""
    java = getattr(error, "java_exception", None)
    return str(java.toString() if java is not None else error).strip().partition("\n")[0]


def _refuse_secret(key: str, value: str) -> None:
    refuse_on_command_line("--conf", value if key == STORE else "")
    if key == TOKEN:
        raise RequestError(
            Code.SECRET_EXPOSED,
            f"Cannot take {key} in --conf: every user of the machine sees it in the list of processes (ps).",
            f"Revoke the token, and put a new one into the variable {TOKEN_VARIABLE}.",
        )


@contextmanager
def spark_errors(what: str) -> Iterator[None]:
    """What Spark says, without the JVM's stack and the unfinished plan."""
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger

    also_logged = PySparkLogger.getLogger("SQLQueryContextLogger")  # the same error once more, as JSON
    before = also_logged.level
    also_logged.setLevel(logging.CRITICAL)
    try:
        yield
    except PySparkException as error:
        text = str(error).partition("\n\nJVM stacktrace:")[0].partition(";\n")[0].strip()
        raise RequestError(
            Code.STATEMENT_FAILED, f"Spark refuses {what}: {text}", "Correct it, and run the command again."
        ) from error
    finally:
        also_logged.setLevel(before)


def _show(frame: DataFrame, max_rows: int, shown: Output) -> None:
    if not frame.columns:
        return
    found = frame.take(max_rows + 1)
    rows = [list(row) for row in found[:max_rows]]
    if shown is Output.JSON:
        print(json.dumps({"columns": frame.columns, "rows": rows, "more": len(found) > max_rows}, default=str))
        return
    # By position: a result may have two columns of one name.
    numbered = {str(at): name for at, name in enumerate(frame.columns)}
    output.show_table([_by_position(row) for row in rows], numbered)
    if len(found) > max_rows:
        print(f"Only the first {max_rows} rows are shown (--max-rows).", file=sys.stderr)


def _by_position(row: list[Any]) -> dict[str, Any]:
    return {str(at): value for at, value in enumerate(row)}
