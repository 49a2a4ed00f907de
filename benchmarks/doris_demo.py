"""./run demo --doris: two tables as Doris' documents write them, loaded, listed and joined."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from benchmarks import lab
from benchmarks.engines import HERE

PLAN = "Explain String"
GROUPS = "SHOW PROC '/colocation_group'"


@dataclass(frozen=True)
class Step:
    """A statement, and what is said of it."""

    title: str
    sql: str

    @property
    def is_refused(self) -> bool:
        return "refused" in self.title


def steps() -> list[Step]:
    blocks = (HERE / "queries" / "doris.sql").read_text().split("-- title: ")[1:]
    return [Step(title, sql.strip().removesuffix(";")) for title, sql in (block.split("\n", 1) for block in blocks)]


def main(memory: str, console: Console) -> int:
    with lab.session(memory, os.cpu_count() or 2) as spark:
        plans = [text for step in steps() if (text := _run(spark, step, console))]
    with_group, without = plans
    served = "colocate: true" in with_group and "EXCHANGE" not in with_group
    return 0 if served and "colocate: false" in without and "EXCHANGE" in without else 1


def _run(spark: SparkSession, step: Step, console: Console) -> str:
    """Shows the statement and what came of it. Gives the plan, if it is one."""
    sql = _with_id(spark, step.sql)
    console.print(Panel(Text(sql), title=step.title))
    if step.is_refused:
        console.print(_error(spark, sql), style="red", soft_wrap=True)
        return ""
    found = spark.sql(sql)
    rows = found.collect()
    if found.columns == [PLAN]:
        text = "\n".join(row[0] for row in rows)
        console.print(Text(text), soft_wrap=True)
        return text
    if rows and not sql.startswith("SET "):
        console.print(_table(found, rows))
    return ""


def _with_id(spark: SparkSession, sql: str) -> str:
    if "{GroupId}" not in sql:
        return sql
    [group] = spark.sql(GROUPS).collect()
    return sql.replace("{GroupId}", group["GroupId"])


def _error(spark: SparkSession, sql: str) -> str:
    """What the statement fails with; a demo in which it runs ends here."""
    try:
        spark.sql(sql).collect()
    except PySparkException as error:
        return str(error).split("\n")[0]
    except Py4JJavaError as error:  # Delta's error of a row, which PySpark has no class for
        return str(error.java_exception.getMessage())
    raise AssertionError(f"not refused: {sql}")


def _table(found: DataFrame, rows: Sequence[Row]) -> Table:
    table = Table()
    for column in found.columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*map(str, row))
    return table
