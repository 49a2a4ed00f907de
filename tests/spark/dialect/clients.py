"""The statements of all documents in one session: as a script for a command line, or one by one."""

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from tests.spark.dialect.reader import DOCUMENTS_GROUP, FILES, Answer, Case, cases

GROUPS = "SHOW PROC '/colocation_group'"
MARK = "@@ "


def script() -> str:
    """Each file has a database of its own. A mark stands before what a statement prints.

    A statement begins on the mark's line: to spark-sql, a line break before it is its first line.
    """
    lines = []
    for name in FILES:
        lines += [f"CREATE DATABASE {name};", f"USE {name};"]
        lines += [f'SELECT "{MARK}{name}: {case.title}" AS mark;{case.sql};' for case in _scripted(name)]
    return "\n".join([*lines, f"SELECT '{MARK}' AS mark;\n"])


def differences(out: str, err: str) -> dict[str, str]:
    """What came of the script, where it is not as expected. Errors are printed apart from rows, without marks."""
    printed = {}
    for part in out.split(MARK)[1:]:
        # JDBC gives a timestamp a fraction in any case.
        title, *lines = re.sub(r"(\d\d:\d\d:\d\d)\.0\b", r"\1", part).splitlines()
        printed[title.strip()] = tuple(tuple(line.split("\t")) for line in lines if line.strip())
    found = {}
    for name in FILES:
        for case in _scripted(name):
            rows = printed.get(f"{name}: {case.title}", (("not run",),))
            failed = case.outcome == "refused" and not rows
            found[f"{name}: {case.title}"] = case.difference(Answer(error=err) if failed else Answer(rows))
    return {title: difference for title, difference in found.items() if difference}


def _scripted(name: str) -> list[Case]:
    """A script can't know the id of a group."""
    return [case for case in cases(name) if DOCUMENTS_GROUP not in case.sql]


def differences_by(spark: SparkSession) -> dict[str, str]:
    """The same for a session. Groups that are there already, as those of a server's earlier clients, are left out."""
    others = frozenset(spark.sql(GROUPS).collect())
    found = {}
    for name in FILES:
        spark.sql(f"CREATE DATABASE {name}")
        spark.sql(f"USE {name}")
        found |= {f"{name}: {case.title}": case.difference(answer(spark, case.sql, others)) for case in cases(name)}
    return {title: difference for title, difference in found.items() if difference}


def answer(spark: SparkSession, sql: str, others: frozenset[Row] = frozenset()) -> Answer:
    """others: rows of tables that other tests left."""
    try:
        rows = [row for row in spark.sql(_with_id(spark, sql, others)).collect() if row not in others]
    except (PySparkException, Py4JJavaError) as error:
        return Answer(error=str(error))
    return Answer(tuple(tuple(str(cell) for cell in row) for row in rows))


def _with_id(spark: SparkSession, sql: str, others: frozenset[Row]) -> str:
    if DOCUMENTS_GROUP not in sql:
        return sql
    own = next(row for row in spark.sql(GROUPS).collect() if row not in others)
    return sql.replace(DOCUMENTS_GROUP, own["GroupId"])
