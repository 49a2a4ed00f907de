"""The statements of Doris' documents, as they stand there, in one session with Delta."""

import pytest
from pyspark.sql import SparkSession

from tests.spark.dialect.clients import GROUPS, answer
from tests.spark.dialect.reader import FILES, cases

INTERPRETED = True


@pytest.mark.parametrize("name", FILES)
def test_the_statements_of_a_document_have_its_outcomes(spark: SparkSession, db: str, name: str) -> None:
    # These list the tables of all databases.
    others = frozenset(row for listing in (GROUPS, "SHOW DATA") for row in spark.sql(listing).collect())
    found = {case.title: case.difference(answer(spark, case.sql, others)) for case in cases(name)}
    assert {title: difference for title, difference in found.items() if difference} == {}
