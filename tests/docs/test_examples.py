"""Every SQL and Python block of docs runs, in a database of its own (README's: test_readme)."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.docs.markdown import PAGES, ROOT, Block, blocks, names

DOCS = [page for page in PAGES if page.parent != ROOT]
WITH_CODE = [page for page in DOCS if any(block.language in ("sql", "python") for block in blocks(page))]


@pytest.mark.parametrize("page", WITH_CODE, ids=names(WITH_CODE))
def test_the_examples_of_a_page_run(spark: SparkSession, db: str, page: Path) -> None:
    namespace: dict[str, object] = {"spark": spark}
    for block in blocks(page):
        if block.language == "sql":
            run_sql(spark, block)
        elif block.language == "python":
            exec(compile(block.text, str(page), "exec"), namespace)


def run_sql(spark: SparkSession, block: Block) -> None:
    if block.info.startswith("fails:"):
        (statement,) = block.statements
        with pytest.raises(PySparkException, match=block.info.removeprefix("fails:").strip()):
            spark.sql(statement)
        return
    for statement in block.statements:
        spark.sql(statement).collect()
