"""docs/reference/sql.md names the system tables and procedures that there are, all of them."""

import re

from pyspark.sql import SparkSession

from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/reference/sql.md").read_text()


def test_every_listing_runs(spark: SparkSession) -> None:
    statements = re.findall(r"`(SELECT \* FROM system\.\w+|SHOW PROC '/colocation_group')`", PAGE)
    assert len(statements) > 4
    for statement in statements:
        spark.sql(statement).collect()


def test_the_procedures_are_those_that_the_catalog_lists(spark: SparkSession) -> None:
    listed = {row["procedure_name"] for row in spark.sql("SHOW PROCEDURES IN system").collect()}
    assert set(re.findall(r"`CALL system\.(\w+)\(", PAGE)) == listed
