"""A CREATE TABLE AS SELECT that fails takes nothing away that another statement, or another driver, has written."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.held import held

INTERPRETED = True

CLUSTERED = "CLUSTERED BY (id) INTO 4 BUCKETS"
GROUP = "TBLPROPERTIES ('colocate_with' = 'g')"


@pytest.mark.each_value
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


@pytest.mark.parametrize("query", ["", " AS SELECT id FROM range(9)"], ids=["create", "ctas"])
def test_the_empty_log_of_a_killed_driver_blocks_no_name(spark: SparkSession, db: str, query: str) -> None:
    columns = "" if query else "(id BIGINT)"
    folder = _folder_of(spark, db, "t")
    (folder / "_delta_log" / "_staged_commits").mkdir(parents=True)
    spark.sql(f"CREATE TABLE t {columns} USING delta {CLUSTERED} {GROUP}{query}")
    assert spark.table("t").count() == (9 if query else 0)


def test_a_log_with_a_file_is_somebodys(spark: SparkSession, db: str) -> None:
    folder = _folder_of(spark, db, "t")
    (folder / "_delta_log" / "_staged_commits").mkdir(parents=True)
    (folder / "part.parquet").touch()
    with pytest.raises(Exception, match="DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"):
        spark.sql(f"CREATE TABLE t (id BIGINT) USING delta {CLUSTERED} {GROUP}")
    assert (folder / "part.parquet").exists() and (folder / "_delta_log" / "_staged_commits").exists()
    (folder / "part.parquet").unlink()
    (folder / "_delta_log" / "_staged_commits").rmdir()


def _folder_of(spark: SparkSession, db: str, table: str) -> Path:
    """Where a table of the database is kept."""
    location = spark.sql(f"DESCRIBE DATABASE {db}").where("info_name = 'Location'").first().info_value
    return Path(location.removeprefix("file:")) / table
