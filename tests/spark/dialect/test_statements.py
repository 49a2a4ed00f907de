"""The statements of Doris' documents, as they stand there, in one session with Delta."""

import re

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.dialect.reader import FILES, Case, cases

INTERPRETED = True

DOCUMENTS_GROUP = "10005.10008"

# What a statement raises whose feature is still missing.
MISSING = ("DORIS_UNSUPPORTED", "FAILED_TO_LOAD_ROUTINE", "ROUTINE_NOT_FOUND")


@pytest.mark.parametrize("name", FILES)
def test_the_statements_of_a_document_have_its_outcomes(spark: SparkSession, db: str, name: str) -> None:
    wrong = {case.title: found for case in cases(name) if (found := _difference(spark, case))}
    assert not wrong


def _difference(spark: SparkSession, case: Case) -> str:
    """What came of the statement, where it is not as expected."""
    try:
        rows = spark.sql(_with_id(spark, case.sql)).collect()
    except PySparkException as error:
        condition = error.getCondition() or ""
        expected = case.detail == condition if case.outcome == "refused" else condition in MISSING
        return "" if expected and case.outcome in ("refused", "later") else str(error)
    if case.outcome not in ("runs", "rows"):
        return "it ran"
    found = [" | ".join(str(cell) for cell in row[: len(case.rows[0])]) for row in rows] if case.rows else rows
    return "" if case.outcome == "runs" or _fit(case, found) else str(found)


def _with_id(spark: SparkSession, sql: str) -> str:
    """The document's GroupId is another one here."""
    if DOCUMENTS_GROUP not in sql:
        return sql
    return sql.replace(DOCUMENTS_GROUP, spark.sql("SHOW PROC '/colocation_group'").first()["GroupId"])


def _fit(case: Case, found: list[str]) -> bool:
    """A word in braces stands for any number: ids differ from run to run."""
    patterns = [re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(" | ".join(row))) for row in case.rows]
    return len(patterns) == len(found) and all(map(re.fullmatch, patterns, found))
