"""A CREATE TABLE AS SELECT that fails takes nothing away that another statement, or another driver, has written."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.held import held

CLUSTERED = "CLUSTERED BY (id) INTO 4 BUCKETS"
GROUP = "TBLPROPERTIES ('colocate_with' = 'g')"


@pytest.mark.parametrize("format", ["delta", "parquet"])
@pytest.mark.parametrize("there", [True, False], ids=["there", "new"])
def test_files_that_come_to_the_same_place(
    spark: SparkSession, db: str, tmp_path: Path, format: str, there: bool
) -> None:
    place = tmp_path / "place"
    if there:
        place.mkdir()
    create = f"CREATE TABLE t USING {format} {CLUSTERED} {GROUP} LOCATION '{place}' AS SELECT id"
    query = "1 / (held(id) - 5) AS v FROM range(9)"
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        _while_others_write(spark, f"{create}, {query}", place)
    assert (place / "others.parquet").exists()


def _while_others_write(spark: SparkSession, statement: str, place: Path) -> None:
    with held(spark, statement, at=5, folder=place.parent):
        place.mkdir(exist_ok=True)
        (place / "others.parquet").touch()
