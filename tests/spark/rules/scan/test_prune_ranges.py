"""Conditions on range columns choose the range partitions that are read, and never leave out one with a row."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_colocate.checks.range_partitions import RangePartitions, Spec, create

from tests.spark.members import database
from tests.spark.plans import nodes
from tests.spark.ranged import IN_BUCKETS, properties
from tools.plans import kind

INTERPRETED = True

ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "America/Sao_Paulo", "Asia/Kolkata", "America/Sitka", "+05:30"]
"""St Johns sets its clocks back at 0:01, so that a day comes twice; Sitka had one day twice in 1867."""

DAY = 24 * 3600 * 1_000_000
EXTREMES = {"date": (-(2**31), 2**31 - 1), "timestamp": (-(2**63), 2**63 - 1), "timestamp_ntz": (-(2**63), 2**63 - 1)}
OPERATORS = ("=", "<=>", "<", "<=", ">", ">=")


def of_months(kind: str, first: int, years: int, columns: Sequence[str] = ("d",), hole: int = 7) -> RangePartitions:
    """A partition for each month, but for one of `hole`; the first one begins at MIN_VALUE, the last is open."""
    starts = [f"{first + n // 12}-{n % 12 + 1:02}-01" for n in range(years * 12 + 1)]
    specs = [Spec("first", (starts[0],))]
    specs += [
        Spec("m" + low[:7].replace("-", ""), (high,), (low,))
        for n, (low, high) in enumerate(pairwise(starts))
        if n % hole != hole - 1
    ]
    specs.append(Spec("last", ("MAXVALUE",), (starts[-1],)))
    made = create(columns, [kind] * len(columns), specs)
    assert isinstance(made, RangePartitions)
    return made


def search(
    spark: SparkSession,
    columns: str,
    table: RangePartitions,
    conditions: list[str],
    rows: Sequence[Sequence[int | None]],
) -> list[tuple[str, str]]:
    """For each condition the partitions that the rule chooses, and a row that they lack."""
    probe = spark._jvm.org.apache.spark.sql.colocate.testing.doris.RangeProbe  # type: ignore[union-attr]
    lines = "\n".join(",".join("null" if value is None else str(value) for value in row) for row in rows)
    found = probe.search(spark._jsparkSession, columns, table.case_expression(), conditions, lines)
    return [tuple(one.split("|", 1)) for one in found]  # type: ignore[misc]


def functions(kind: str) -> list[tuple[str, str]]:
    """Functions of d that never fall, and the type of what they give."""
    found = [
        ("d", kind), ("year(d)", "int"), ("to_date(d)", "date"), ("date_trunc('MONTH', d)", "timestamp"),
        ("date_trunc('week', d)", "timestamp"), ("date_trunc('day', d)", "timestamp"),
        ("date_trunc('YEAR', d)", "timestamp"), ("trunc(d, 'MM')", "date"), ("trunc(d, 'week')", "date"),
        ("trunc(d, 'Q')", "date"), ("trunc(d, 'year')", "date"), ("last_day(d)", "date"),
        ("date_add(d, 3)", "date"), ("date_sub(d, 400)", "date"), ("add_months(d, 1)", "date"),
        ("CAST(d AS DATE) + INTERVAL 3 DAY", "date"), ("CAST(d AS DATE) - INTERVAL 13 MONTH", "date"),
        ("date_format(d, 'yyyy-MM')", "month"), ("date_format(d, 'yyyyMMdd')", "day"),
        ("year(date_add(d, 30))", "int"), ("last_day(trunc(d, 'Q'))", "date"), ("year(last_day(d))", "int"),
    ]  # fmt: skip
    # These are not: they must choose no partition, or all.
    falling = [
        ("month(d)", "number"), ("dayofmonth(d)", "number"), ("date_trunc('HOUR', d)", "timestamp"),
        ("date_format(d, 'MM-yyyy')", "text"), ("date_format(d, 'yy')", "text"),
        ("datediff(DATE'2020-01-01', d)", "number"),
        ("hash(d)", "number"), ("trunc(d, 'none')", "date"), ("CAST(d AS STRING)", "text"),
    ]  # fmt: skip
    return found + falling


def literal(chooser: random.Random, kind: str, near: date) -> str:
    day = near + timedelta(days=chooser.choice((0, 0, chooser.randint(-400, 400))))
    first = day.replace(day=1)
    return {
        "int": str(day.year), "number": str(chooser.randint(1, 31)), "month": f"'{day:%Y-%m}'",
        "day": f"'{day:%Y%m%d}'",
        "text": f"'{day:%m-%Y}'", "date": f"DATE'{chooser.choice((day, first))}'",
        "timestamp": f"TIMESTAMP'{chooser.choice((day, first))} {chooser.choice((0, 0, 5)):02}:30:00'"
        if chooser.random() < 0.3 else f"TIMESTAMP'{first}'",
        "timestamp_ntz": f"TIMESTAMP_NTZ'{chooser.choice((day, first))}'",
    }[kind]  # fmt: skip


def condition(chooser: random.Random, kind: str, near: date) -> str:
    function, result = chooser.choice(functions(kind))
    one, other = (literal(chooser, result, near) for _ in range(2))
    operator = chooser.choice(OPERATORS)
    return chooser.choice(
        (
            f"{function} {operator} {one}",
            f"{function} {operator} {one}",
            f"{one} {operator} {function}",
            f"{function} IN ({one}, {other}, NULL)",
            f"{function} BETWEEN {one} AND {other}",
            f"({function} = {one} OR d IS NULL)",
            f"NOT ({function} {operator} {one})",
            f"({function} > {one} AND {function} < {other})",
        )
    )


def moments(chooser: random.Random, kind: str, near: date) -> list[int]:
    """Values near the bounds of months and the changes of clocks, far away, and at the limits of the type."""
    if kind == "date":
        days = [date(near.year, 1, 1) + timedelta(days=n) for n in range(-500, 1200, 3)]
        ends = [date(near.year + n // 12, n % 12 + 1, 1) + timedelta(days=off) for n in range(36) for off in (-1, 0, 1)]
        found = [(day - date(1970, 1, 1)).days for day in days + ends]
        scale = 1
    else:
        start = int(datetime(near.year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
        found = [start + n * DAY // 2 + chooser.randint(0, DAY // 4) for n in range(-200, 1600)]
        around = [near, *(date(near.year, month, 1) for month in range(1, 13))]
        for day in around:
            at = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000
            found += [
                at + minutes * 60_000_000 + off for minutes in range(-900, 900, 15) for off in (-1, 0, 60_000_000)
            ]
        scale = DAY
    low, high = EXTREMES[kind]
    found += [low, low + 1, low + 30 * scale, high, high - 1, high - 30 * scale, low + 500 * scale, high - 500 * scale]
    found += [(low // 2), (high // 2), -800_000 * scale, -1_000_000 * scale, 3_000_000 * scale]
    return found


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamp_ntz"])
def test_no_partition_with_a_row_is_left_out(spark: SparkSession, kind: str) -> None:
    chooser = random.Random(33)
    chosen = 0
    # With changes of clocks: in 2007 those of St Johns and Sao Paulo near midnight, in 1867 that of Sitka.
    for zone in ZONES if kind == "timestamp" else ZONES[:3]:
        spark.conf.set("spark.sql.session.timeZone", zone)
        near = date(1867, 10, 18) if zone == "America/Sitka" else date(2007, 11, 4)
        table = of_months(kind, near.year - 1, 3)
        conditions = [condition(chooser, kind, near) for _ in range(60)]
        rows = [(value,) for value in moments(chooser, kind, near)] + [(None,)]
        for text, (found, missed) in zip(conditions, search(spark, f"d {kind}", table, conditions, rows), strict=True):
            assert not missed, f"{text} in {zone}: {missed} is not in {found}"
            chosen += found != "all"
    assert chosen > 50


def test_several_columns_in_order(spark: SparkSession) -> None:
    chooser = random.Random(34)
    bounds = sorted({(chooser.randint(0, 9), chooser.randint(0, 9)) for _ in range(30)})
    specs = [Spec(f"p{n}", (str(a), str(b))) for n, (a, b) in enumerate(bounds)]
    table = create(("a", "b"), ("int", "bigint"), specs)
    assert isinstance(table, RangePartitions)
    rows = [(a, b) for a in (None, *range(-1, 11)) for b in (None, *range(-1, 11))]
    parts = [f"{column} {operator} {value}" for column in "ab" for operator in OPERATORS for value in (0, 4, 9)]
    parts += ["a IN (1, 7)", "b IN (3, NULL)", "a IS NULL", "b IS NULL", "a IS NOT NULL", "a = b", "NOT (a = 4)"]
    conditions = [
        f"({chooser.choice(parts)}) {chooser.choice(('AND', 'AND', 'OR'))} ({chooser.choice(parts)})"
        for _ in range(300)
    ]
    results = search(spark, "a INT, b BIGINT", table, conditions, rows)
    assert [(text, missed) for text, (_, missed) in zip(conditions, results, strict=True) if missed] == []
    ((found, _),) = search(spark, "a INT, b BIGINT", table, ["a = 4 AND b < 5 AND b >= 5 - 1"], rows)
    assert found == next(spec.name for spec, upper in zip(specs, bounds, strict=True) if upper > (4, 4))


EXACT = {
    "year(d) = 2007": [f"m2007{m:02}" for m in range(1, 13)],
    "year(d) IN (2006, 2008) AND d < '2007-06-01'": [f"m2006{m:02}" for m in range(1, 13)],
    "date_trunc('MONTH', d) = '2007-03-01'": ["m200703"],
    "trunc(d, 'MM') = '2007-03-01'": ["m200703"],
    "to_date(d) = '2007-03-31'": ["m200703"],
    "CAST(d AS DATE) BETWEEN '2007-03-31' AND '2007-05-01'": ["m200703", "m200704", "m200705"],
    "date_add(d, 3) IN ('2008-12-03', '2008-12-09') AND year(d) < 2009": ["m200811", "m200812"],
    "d + INTERVAL 1 MONTH = '2007-03-15'": ["m200702"],
    "date_format(d, 'yyyy-MM') = '2007-03'": ["first", "last", "m200703"],
    "d IS NULL": ["first"],
    "d < '2006-02-01'": ["first", "m200601"],
    "d > '2008-12-30'": ["last", "m200812"],
    "month(d) = 3": None,
    "year(d) > 0 OR k = 1": None,
}


@pytest.mark.parametrize("kind", ["date", "timestamp_ntz"])
def test_no_other_partition_is_read(spark: SparkSession, kind: str) -> None:
    table = of_months(kind, 2006, 3, hole=1000)
    texts = [
        text
        for text in EXACT
        if kind == "date" or ("INTERVAL" not in text and "MONTH" not in text and "yyyy" not in text)
    ]
    found = search(spark, f"d {kind}, k INT", table, texts, [])
    assert {text: names for text, (names, _) in zip(texts, found, strict=True)} == {
        text: ",".join(EXACT[text] or ["all"]) for text in texts
    }


@pytest.fixture(scope="module")
def monthly(spark: SparkSession) -> Iterator[str]:
    yield from database(spark, "monthly_ranges", _make_monthly)


def _make_monthly(spark: SparkSession) -> None:
    """Eight years of months: m with buckets, p without."""
    starts = [f"{2015 + n // 12}-{n % 12 + 1:02}-01" for n in range(97)]
    partitions = [("m" + low[:4] + low[5:7], high) for low, high in pairwise(starts)]
    days = "SELECT /*+ COALESCE(1) */ explode(sequence(DATE'2015-01-01', DATE'2022-12-31')) AS d"
    for name, buckets in (("m", IN_BUCKETS), ("p", "")):
        spark.sql(f"CREATE TABLE {name} (d DATE, k INT) USING delta {buckets} {properties('d', partitions)}")
    spark.sql(f"INSERT INTO p SELECT d, dayofyear(d) FROM ({days})")
    spark.sql(f"INSERT INTO m SELECT d, dayofyear(d) FROM ({days})")


@pytest.mark.parametrize("table", ["m", "p"])
def test_a_query_by_a_function_reads_the_files_of_its_ranges(monthly: str, spark: SparkSession, table: str) -> None:
    spark.sql(f"USE {monthly}")
    each = 4 if table == "m" else 1
    for text, months in {
        "year(d) = 2019": 12,
        "date_trunc('MONTH', d) = '2019-03-01'": 1,
        "trunc(d, 'QUARTER') = '2019-04-01'": 3,
        "d + INTERVAL 1 DAY = '2019-03-01'": 1,
        "year(d) = 2019 AND month(d) = 5": 12,
        "d > '2019-11-30' AND k > 300 AND year(d) <= 2019": 1,
    }.items():
        found = spark.sql(f"SELECT count(*), sum(k) FROM {table} WHERE {text}")
        scans = [node for node in nodes(found) if kind(node) in ("FileSourceScanExec", "ColocatedScanExec")]
        assert [int(scan.metrics().apply("numFiles").value()) for scan in scans] == [months * each], text
        spark.conf.set("spark.colocate.rules.excluded", "PruneRanges")
        expected = spark.sql(f"SELECT count(*), sum(k) FROM {table} WHERE {text}").collect()
        spark.conf.unset("spark.colocate.rules.excluded")
        assert found.collect() == expected


def test_a_query_sees_partitions_that_came_after_its_analysis(spark: SparkSession, db: str) -> None:
    spark.sql(f"CREATE TABLE t (d INT, k INT) USING delta {properties('d', [('a', '10'), ('b', '20')])}")
    spark.sql("INSERT INTO t VALUES (5, 1), (15, 1)")
    queries = [spark.sql(f"SELECT d FROM t WHERE {text}") for text in ("d = 25", "d IN (15, 25)", "d >= 12")]
    assert [query.count() for query in queries] == [0, 1, 1]
    spark.sql("CALL system.add_partition(table => 't', partition => 'c', upper => '30')")
    spark.sql("INSERT INTO t VALUES (25, 1)")
    assert [query.count() for query in queries] == [1, 2, 2]


class OtherDriver:
    """Takes the newest commits of the Delta table `t` out of its folder, and gives them back during a query."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        location = str(spark.sql("DESCRIBE DETAIL t").first()["location"])
        self.log = Path(location.removeprefix("file:")) / "_delta_log"
        self.known = set(self.log.iterdir())

    def rows(self, condition: str) -> list[tuple[int, int]]:
        """Of a query that is analyzed before these commits, and planned after them."""
        later = sorted(set(self.log.iterdir()) - self.known)
        for file in later:
            file.rename(self.log.parent / file.name)
        self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
        query = self.spark.sql(f"SELECT d, k FROM t WHERE {condition}")
        for file in later:
            (self.log.parent / file.name).rename(file)
        return sorted((row["d"], row["k"]) for row in query.collect())


@pytest.fixture(params=["", IN_BUCKETS], ids=["no-buckets", "buckets"])
def other_driver(spark: SparkSession, db: str, request: pytest.FixtureRequest) -> OtherDriver:
    ranges = properties("d", [("a", "10"), ("b", "20"), ("c", "30")])
    spark.sql(f"CREATE TABLE t (d INT, k INT) USING delta {request.param} {ranges}")
    spark.sql("INSERT INTO t VALUES (5, 1), (15, 1)")
    return OtherDriver(spark)


def test_partitions_that_another_driver_adds_during_planning(spark: SparkSession, other_driver: OtherDriver) -> None:
    spark.sql("CALL system.add_partition(table => 't', partition => 'new', upper => '40')")
    spark.sql("INSERT INTO t VALUES (35, 1)")
    for condition, days in {
        "d = 35": [35], "d = 36": [],
        "d IN (15, 35)": [15, 35], "d >= 12": [15, 35], "d < 6": [5], "d = 35 AND k = 1": [35],
    }.items():  # fmt: skip
        assert other_driver.rows(condition) == [(day, 1) for day in days], condition


def test_a_partition_that_another_driver_makes_anew_with_other_bounds(
    spark: SparkSession, other_driver: OtherDriver
) -> None:
    for name in ("b", "a"):
        spark.sql(f"CALL system.drop_partition(table => 't', partition => '{name}')")
    for name, upper in (("b", "10"), ("a", "20")):
        spark.sql(f"CALL system.add_partition(table => 't', partition => '{name}', upper => '{upper}')")
    spark.sql("INSERT INTO t VALUES (5, 2), (15, 2)")
    for condition, days in {"d = 5": [5], "d = 15": [15], "d < 10 AND k > 0": [5], "d IN (15, 16)": [15]}.items():
        assert other_driver.rows(condition) == [(day, 2) for day in days], condition


def test_without_delta_s_file_skipping_no_partition_is_chosen(spark: SparkSession, other_driver: OtherDriver) -> None:
    """Delta then decides when the query runs which version it reads."""
    spark.sql("CALL system.add_partition(table => 't', partition => 'new', upper => '40')")
    spark.sql("INSERT INTO t VALUES (35, 1)")
    spark.conf.set("spark.databricks.delta.stats.skipping", "false")
    try:
        assert other_driver.rows("d >= 12") == [(15, 1), (35, 1)]
    finally:
        spark.conf.unset("spark.databricks.delta.stats.skipping")
