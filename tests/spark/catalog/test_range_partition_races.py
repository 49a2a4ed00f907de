"""Sessions that change the range partitions of one table at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.ranged import held, listed, properties

ROUNDS = 3


def at_once(spark: SparkSession, *statements: str) -> list[str]:
    """Runs each statement in a session of its own; their errors, or "" for success."""
    start = Barrier(len(statements))
    database = spark.catalog.currentDatabase()

    def run(statement: str) -> str:
        session = spark.newSession()
        session.sql(f"USE {database}")
        start.wait()
        try:
            session.sql(statement).collect()
        except (PySparkException, Py4JJavaError) as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(len(statements)) as pool:
        return list(pool.map(run, statements))


def add(name: str, lower: int, upper: int) -> str:
    return f"CALL system.add_partition(table => 't', partition => '{name}', lower => '{lower}', upper => '{upper}')"


def drop(name: str) -> str:
    return f"CALL system.drop_partition(table => 't', partition => '{name}')"


def rounds(spark: SparkSession, race: Callable[[int], None]) -> None:
    spark.sql(f"CREATE TABLE t (d INT) USING delta {properties('d', [('base', '10')])}")
    spark.sql("INSERT INTO t VALUES (1)")
    for number in range(1, ROUNDS + 1):
        race(number * 100)
        names = {name for name, _, _ in listed(spark)}
        assert set(held(spark)) <= names
        assert spark.table("t").where("d = 1").count() == 1


def test_partitions_that_do_not_overlap_are_all_there(spark: SparkSession, db: str) -> None:
    def race(at: int) -> None:
        names = [f"p{at}_{n}" for n in range(3)]
        errors = at_once(spark, *(add(name, at + 10 * n, at + 10 * n + 10) for n, name in enumerate(names)))
        assert errors == ["", "", ""]
        assert set(names) <= {name for name, _, _ in listed(spark)}

    rounds(spark, race)


def test_of_partitions_that_overlap_one_is_made(spark: SparkSession, db: str) -> None:
    def race(at: int) -> None:
        first, second = at_once(spark, add(f"a{at}", at, at + 20), add(f"b{at}", at + 10, at + 30))
        assert sorted([first == "", second == ""]) == [False, True]
        assert "[RANGE_OVERLAP]" in first + second
        again = at_once(spark, add(f"c{at}", at + 40, at + 50), add(f"c{at}", at + 60, at + 70))
        assert "[RANGE_NAME_REPEATED]" in "".join(again)
        assert [name for name, _, _ in listed(spark)].count(f"c{at}") == 1

    rounds(spark, race)


def test_a_load_into_a_partition_that_is_dropped(spark: SparkSession, db: str) -> None:
    def race(at: int) -> None:
        spark.sql(add(f"p{at}", at, at + 10))
        spark.sql(add(f"q{at}", at + 10, at + 20))
        values = f"INSERT INTO t VALUES ({at}), ({at + 10})"
        loaded, dropped, added = at_once(spark, values, drop(f"p{at}"), add(f"r{at}", at + 20, at + 30))
        assert dropped == added == ""
        assert loaded == "" or "RANGE_NO_PARTITION" in loaded or "DELTA_" in loaded
        # The load is there as a whole before the drop, or not at all.
        assert spark.table("t").where(f"d = {at}").count() == 0
        assert spark.table("t").where(f"d = {at + 10}").count() == (loaded == "")

    rounds(spark, race)
