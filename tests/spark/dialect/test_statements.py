"""The statements of Doris' documents, as they stand there, in one session with Delta."""

import re

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from tests.spark.dialect.reader import FILES, Case, cases

INTERPRETED = True

# They list the tables of all databases.
LISTINGS = ("SHOW PROC '/colocation_group'", "SHOW DATA")

DOCUMENTS_GROUP = "10005.10008"


@pytest.mark.parametrize("name", FILES)
def test_the_statements_of_a_document_have_its_outcomes(spark: SparkSession, db: str, name: str) -> None:
    others = {row for listing in LISTINGS for row in spark.sql(listing).collect()}
    wrong = {case.title: found for case in cases(name) if (found := _difference(spark, case, others))}
    assert not wrong


def _difference(spark: SparkSession, case: Case, others: set[Row]) -> str:
    """What came of the statement, where it is not as expected. others: rows of tables that other tests left."""
    try:
        rows = [row for row in spark.sql(_with_id(spark, case.sql, others)).collect() if row not in others]
    except PySparkException as error:
        condition = error.getCondition() or ""
        return "" if case.outcome == "refused" and case.detail == condition else str(error)
    if case.outcome not in ("runs", "rows"):
        return "it ran"
    found = [" | ".join(str(cell) for cell in row[: len(case.rows[0])]) for row in rows] if case.rows else rows
    return "" if case.outcome == "runs" or _fit(case, found) else str(found)


def _with_id(spark: SparkSession, sql: str, others: set[Row]) -> str:
    """The document's GroupId is another one here."""
    if DOCUMENTS_GROUP not in sql:
        return sql
    own = next(row for row in spark.sql(LISTINGS[0]).collect() if row not in others)
    return sql.replace(DOCUMENTS_GROUP, own["GroupId"])


def _fit(case: Case, found: list[str]) -> bool:
    """A word in braces stands for any number: ids differ from run to run."""
    patterns = [re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(" | ".join(row))) for row in case.rows]
    return len(patterns) == len(found) and all(map(re.fullmatch, patterns, found))
